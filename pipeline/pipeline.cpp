// decode > ring > submit > encode: puts the stages together and drives their threads.
#include "pipeline/pipeline.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "kernels/errors.h"
#include "pipeline/decode_stage.h"
#include "pipeline/encode_stage.h"
#include "pipeline/frame_ring.h"
#include "pipeline/host_pool.h"
#include "pipeline/pixel_format.h"
#include "pipeline/preprocess.h"
#include "pipeline/stage_control.h"
#include "pipeline/submit_stage.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane {
namespace {

constexpr int kMaxSlots = 64;

int slot_count(const PipelineOptions& options) {
  const int slots = options.slots == 0 ? options.device->default_slots() : options.slots;
  if (slots < 1 || slots > kMaxSlots) {
    throw UsageError(fmt::format("--slots {}: out of range [1 - {}]", options.slots, kMaxSlots));
  }
  return slots;
}

FullRing full_ring(OnFull on_full, bool live) {
  switch (on_full) {
    case OnFull::kBlock:
      return FullRing::kBlock;
    case OnFull::kDropOldest:
      return FullRing::kDropOldest;
    case OnFull::kDropNewest:
      return FullRing::kDropNewest;
    case OnFull::kDefault:
      break;
  }
  return live ? FullRing::kDropOldest : FullRing::kBlock;
}

/** The first frame and how long it took to get it: it tells the format that everything else is built for. */
struct FirstFrame {
  AvFrame frame;
  Span decode;
};

FirstFrame read_first_frame(MediaInput& input, const std::string& url) {
  const TimePoint begin = Clock::now();
  AvFrame frame = input.read_frame();
  if (!frame) throw InputError(fmt::format("{}: no frame could be decoded", url));
  return {std::move(frame), {begin, Clock::now()}};
}

/** A frame as the encoder will see it, but for its content. */
AvFrame output_template(HostPool& pool, const FrameFormat& format, const AVFrame& first) {
  AvFrame frame = allocate_frame(pool, format);
  if (av_frame_copy_props(frame.get(), &first) < 0) throw std::bad_alloc();
  tag_frame(*frame, format);
  frame->sample_aspect_ratio = {format.sample_aspect.num, format.sample_aspect.den};
  return frame;
}

}  // namespace

/** Members in the order in which a frame meets them; destroyed in reverse. */
struct Pipeline::State {
  State(PipelineOptions given, PipelineHooks given_hooks);

  void start();
  void run_stage(const char* name, void (State::*body)());
  void decode();
  void submit() { submit_stage.run(); }
  void encode() { encode_stage.run(); }
  void fail(std::exception_ptr error);

  PipelineOptions options;
  PipelineHooks hooks;
  Device& device;
  ModeControl mode;
  StageControl control{mode};
  Recorder recorder;
  std::shared_ptr<HostPool> sources;
  HostPool results;
  MediaInput input;
  FirstFrame first;
  FrameFormat input_format;
  FilterChain chain;
  MediaOutput output;
  Preprocess preprocess;
  const FullRing full;
  FrameRing ring;
  DecodeStage decode_stage;
  SubmitStage submit_stage;
  EncodeStage encode_stage;

  std::mutex mutex;
  std::condition_variable ended_changed;
  int running = 0;
  std::exception_ptr first_error;  ///< of a stage behind the ring, or of the start
  std::exception_ptr input_error;  ///< what was decoded before it is encoded and kept
  std::vector<std::jthread> threads;
};

Pipeline::State::State(PipelineOptions given, PipelineHooks given_hooks)
    : options(std::move(given)),
      hooks(std::move(given_hooks)),
      device(*options.device),
      mode(options.mode, options.switch_at),
      sources(std::make_shared<HostPool>(options.device)),
      results(options.device),
      input(options.input, sources),
      first(read_first_frame(input, options.input.url)),
      input_format(Preprocess::stream_format(*first.frame)),
      chain(options.filters, input_format, device.backend()),
      output(options.output, input, *output_template(results, chain.output_format(), *first.frame)),
      preprocess(device, *sources),
      full(full_ring(options.on_full, input.is_live())),
      ring(device, chain, slot_count(options)),
      decode_stage(input, preprocess, *sources, ring, control, recorder, input_format, {full, options.frame_limit},
                   reference(*first.frame), first.decode),
      submit_stage(device, chain, ring, results, control, options.stream_delay),
      encode_stage(output, ring, control, recorder, hooks) {
  input.set_side_packet_sink(
      [this](AvPacket packet, int stream) { output.write_side_packet(std::move(packet), stream); });
  const bool asynchronous = mode.current() != Mode::kSync;
  if (!device.shares_host_memory()) {
    submit_stage.warm_up(*preprocess.run(reference(*first.frame), input_format, asynchronous), mode.current());
  }
  if (full == FullRing::kDropOldest) ring.set_in_flight_limit(std::max(1, ring.size() - 1));
  first.frame.reset();
}

void Pipeline::State::start() {
  running = 3;
  try {
    threads.emplace_back([this] { run_stage("decoder", &State::decode); });
    threads.emplace_back([this] { run_stage("submitter", &State::submit); });
    threads.emplace_back([this] { run_stage("encoder", &State::encode); });
  } catch (...) {  // no more threads allowed: those that run wait for the one that does not
    fail(std::current_exception());
    threads.clear();
    running = 0;
    throw;
  }
}

/** An error in one stage stops all of them; the first one is what finish() tells. */
void Pipeline::State::run_stage(const char* name, void (State::*body)()) {
  pthread_setname_np(pthread_self(), name);
  try {
    device.use_in_this_thread();
    (this->*body)();
  } catch (...) {
    fail(std::current_exception());
  }
  {
    const std::scoped_lock lock(mutex);
    --running;
  }
  ended_changed.notify_all();
}

/** What was decoded before the input broke still comes out. */
void Pipeline::State::decode() {
  try {
    decode_stage.run();
  } catch (...) {
    input_error = std::current_exception();
    ring.close_decoded();
  }
}

void Pipeline::State::fail(std::exception_ptr error) {
  {
    const std::scoped_lock lock(mutex);
    if (!first_error) first_error = std::move(error);
  }
  control.request_stop();
  ring.abort();
  input.interrupt();
}

Pipeline::Pipeline(PipelineOptions options, PipelineHooks hooks) {
  check_output_target(options.output, options.input.url);
  options.device->use_in_this_thread();
  state_ = std::make_unique<State>(std::move(options), std::move(hooks));
}

Pipeline::~Pipeline() {
  if (!state_) return;
  request_stop();
  state_->control.set_paused(false);
  interrupt_input();
  state_->threads.clear();
}

void Pipeline::start() { state_->start(); }

bool Pipeline::wait_for(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  return state_->ended_changed.wait_for(lock, timeout, [&] { return state_->running == 0; });
}

void Pipeline::finish() {
  state_->threads.clear();
  if (state_->first_error) {
    state_->output.abort();
    std::rethrow_exception(state_->first_error);
  }
  state_->output.finish();
  if (state_->input_error) std::rethrow_exception(state_->input_error);
}

void Pipeline::request_stop() { state_->control.request_stop(); }
void Pipeline::interrupt_input() { state_->input.interrupt(); }
void Pipeline::set_mode(Mode mode) { state_->mode.set(mode); }
void Pipeline::set_paused(bool paused) { state_->control.set_paused(paused); }
void Pipeline::step() { state_->control.step(); }

bool Pipeline::toggle_filter(std::size_t index) {
  if (index >= state_->chain.uses().size() || !state_->chain.can_toggle(index)) return false;
  state_->control.toggle_filter(index);
  return true;
}

PipelineStatus Pipeline::status() const {
  PipelineStatus status;
  status.mode = state_->mode.current();
  status.slots = state_->ring.size();
  status.slots_in_use = state_->ring.in_use();
  status.frames_in = state_->decode_stage.frames();
  status.frames_out = state_->encode_stage.frames();
  status.dropped = state_->recorder.dropped();
  status.damage = state_->input.damage();
  status.output = state_->output.totals();
  status.position_s = state_->encode_stage.position_s();
  status.filters_on = state_->control.filters_on();
  status.paused = state_->control.paused();
  return status;
}

const Recorder& Pipeline::recorder() const { return state_->recorder; }
const FrameFormat& Pipeline::input_format() const { return state_->input_format; }
const FrameFormat& Pipeline::output_format() const { return state_->chain.output_format(); }
const std::vector<FilterUse>& Pipeline::filters() const { return state_->chain.uses(); }
const MediaInput& Pipeline::input() const { return state_->input; }
std::string Pipeline::output_description() const { return state_->output.description(); }

}  // namespace framelane
