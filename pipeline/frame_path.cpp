// source > [decode > ring > submit > encode] > sink: puts the stages together and drives their threads.
#include "pipeline/frame_path.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "kernels/errors.h"
#include "pipeline/pixel_format.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace framelane {
namespace {

constexpr int kMaxSlots = 64;

int slot_count(const FramePathOptions& options) {
  const int slots = options.slots == 0 ? options.device->default_slots() : options.slots;
  if (slots < 1 || slots > kMaxSlots) {
    throw UsageError(fmt::format("--slots {}: out of range [1 - {}]", options.slots, kMaxSlots));
  }
  return slots;
}

}  // namespace

FramePath::FramePath(FramePathOptions options, FrameSource& source, FirstFrame first, std::shared_ptr<HostPool> sources,
                     PipelineHooks hooks)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      device_(*options_.device),
      source_(source),
      sources_(std::move(sources)),
      results_(options_.device),
      mode_(options_.mode, options_.switch_at),
      first_(reference(*first.frame)),
      input_format_(Preprocess::stream_format(*first_)),
      chain_(options_.filters, input_format_, device_.backend()),
      preprocess_(device_, *sources_),
      ring_(device_, chain_, slot_count(options_)),
      decode_stage_(source_, preprocess_, *sources_, ring_, control_, recorder_, input_format_,
                    {options_.full_ring, options_.frame_limit, options_.work.preprocess}, std::move(first)),
      submit_stage_(device_, chain_, ring_, results_, control_,
                    {options_.cuda_graphs, options_.sync_memory, options_.work.kernels, options_.stream_delay}),
      encode_stage_(ring_, control_, recorder_, hooks_) {
  if (!device_.shares_host_memory()) {
    const Mode mode = mode_.current();
    submit_stage_.warm_up(*preprocess_.run(reference(*first_), input_format_, mode != Mode::kSync), mode);
  }
  if (options_.full_ring == FullRing::kDropOldest) ring_.set_in_flight_limit(std::max(1, ring_.size() - 1));
}

FramePath::~FramePath() {
  request_stop();
  control_.set_paused(false);
  source_.interrupt();
  threads_.clear();
}

AvFrame FramePath::output_template() { return allocate_result(results_, chain_.output_format(), *first_); }

void FramePath::start(FrameSink& sink) {
  first_.reset();
  running_ = 3;
  try {
    threads_.emplace_back([this] { run_stage("decoder", [this] { decode(); }); });
    threads_.emplace_back([this] { run_stage("submitter", [this] { submit_stage_.run(); }); });
    threads_.emplace_back([this, &sink] { run_stage("encoder", [this, &sink] { encode_stage_.run(sink); }); });
  } catch (...) {  // no more threads allowed: those that run wait for the one that does not
    fail(std::current_exception());
    threads_.clear();
    running_ = 0;
    throw;
  }
}

/** An error in one stage stops all of them; the first one is kept. */
void FramePath::run_stage(const char* name, const std::function<void()>& body) {
  pthread_setname_np(pthread_self(), name);
  try {
    device_.use_in_this_thread();
    body();
  } catch (...) {
    fail(std::current_exception());
  }
  {
    const std::scoped_lock lock(mutex_);
    --running_;
  }
  ended_changed_.notify_all();
}

/** What was decoded before the source broke still comes out. */
void FramePath::decode() {
  try {
    decode_stage_.run();
  } catch (...) {
    source_error_ = std::current_exception();
    ring_.close_decoded();
  }
}

void FramePath::fail(std::exception_ptr error) {
  {
    const std::scoped_lock lock(mutex_);
    if (!stage_error_) stage_error_ = std::move(error);
  }
  control_.request_stop();
  ring_.abort();
  source_.interrupt();
}

bool FramePath::wait_for(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return ended_changed_.wait_for(lock, timeout, [&] { return running_ == 0; });
}

void FramePath::join() { threads_.clear(); }

}  // namespace framelane
