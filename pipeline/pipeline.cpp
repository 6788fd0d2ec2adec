// [input > decode > ring > submit > encode > output].
#include "pipeline/pipeline.h"

#include <fmt/format.h>

#include "kernels/errors.h"
#include "pipeline/host_pool.h"
#include "pipeline/nvtx.h"

namespace framelane {
namespace {

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

FirstFrame read_first_frame(MediaInput& input, const std::string& url) {
  const TimePoint begin = Clock::now();
  const NvtxRange range(Stage::kDecode, 0);
  AvFrame frame = input.read_frame();
  if (!frame) throw InputError(fmt::format("{}: no frame could be decoded", url));
  return {std::move(frame), {begin, Clock::now()}};
}

FramePathOptions path_options(const PipelineOptions& options, bool live) {
  FramePathOptions path = options;
  path.full_ring = full_ring(options.on_full, live);
  return path;
}

}  // namespace

/** Members in the order in which a frame meets them; destroyed in reverse, once the path's threads have ended. */
struct Pipeline::State {
  State(const PipelineOptions& options, PipelineHooks hooks)
      : sources(std::make_shared<HostPool>(options.device)),
        input(options.input, sources),
        path(path_options(options, input.is_live()), input, read_first_frame(input, options.input.url), sources,
             std::move(hooks)),
        output(options.output, input, *path.output_template()) {
    input.set_side_packet_sink(
        [this](AvPacket packet, int stream) { output.write_side_packet(std::move(packet), stream); });
  }

  std::shared_ptr<HostPool> sources;
  MediaInput input;
  FramePath path;
  MediaOutput output;
};

Pipeline::Pipeline(PipelineOptions options, PipelineHooks hooks) {
  check_output_target(options.output, options.input.url);
  options.device->use_in_this_thread();
  state_ = std::make_unique<State>(options, std::move(hooks));
}

Pipeline::~Pipeline() {
  if (!state_) return;
  request_stop();
  set_paused(false);
  interrupt_input();
  state_->path.join();
}

void Pipeline::start() { state_->path.start(state_->output); }
bool Pipeline::wait_for(std::chrono::milliseconds timeout) { return state_->path.wait_for(timeout); }

void Pipeline::finish() {
  FramePath& path = state_->path;
  path.join();
  if (path.stage_error()) {
    state_->output.abort();
    std::rethrow_exception(path.stage_error());
  }
  state_->output.finish();
  if (path.source_error()) std::rethrow_exception(path.source_error());
}

void Pipeline::request_stop() { state_->path.request_stop(); }
void Pipeline::interrupt_input() { state_->input.interrupt(); }
void Pipeline::set_mode(Mode mode) { state_->path.control().mode().set(mode); }
void Pipeline::set_paused(bool paused) { state_->path.control().set_paused(paused); }
void Pipeline::step() { state_->path.control().step(); }

bool Pipeline::toggle_filter(std::size_t index) {
  const FilterChain& chain = state_->path.chain();
  if (index >= chain.uses().size() || !chain.can_toggle(index)) return false;
  state_->path.control().toggle_filter(index);
  return true;
}

PipelineStatus Pipeline::status() const {
  const FramePath& path = state_->path;
  PipelineStatus status;
  status.mode = path.mode().current();
  status.slots = path.ring().size();
  status.slots_in_use = path.ring().in_use();
  status.frames_in = path.frames_in();
  status.frames_out = path.frames_out();
  status.dropped = path.recorder().dropped();
  status.damage = state_->input.damage();
  status.output = state_->output.totals();
  status.position_s = path.position_s();
  status.filters_on = path.control().filters_on();
  status.paused = path.control().paused();
  return status;
}

const Recorder& Pipeline::recorder() const { return state_->path.recorder(); }
const FrameFormat& Pipeline::input_format() const { return state_->path.input_format(); }
const FrameFormat& Pipeline::output_format() const { return state_->path.chain().output_format(); }
const std::vector<FilterUse>& Pipeline::filters() const { return state_->path.chain().uses(); }
const MediaInput& Pipeline::input() const { return state_->input; }
std::string Pipeline::output_description() const { return state_->output.description(); }
bool Pipeline::uses_cuda_graphs() const { return state_->path.uses_cuda_graphs(); }

}  // namespace framelane
