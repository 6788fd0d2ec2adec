// ring > submit > [discard].
#include "pipeline/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/errors.h"
#include "pipeline/host_pool.h"
#include "pipeline/pixel_format.h"
#include "pipeline/preprocess.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
}

namespace framelane {

/** Every frame twice: an asynchronous copy wants pinned memory, sync mode's first version has pageable. */
struct KeptFrames::State {
  FrameFormat format;
  std::vector<AvFrame> pinned;
  std::vector<AvFrame> pageable;
};

namespace {

AvFrame copy_of(const AVFrame& frame, const FrameFormat& format, HostPool& pool) {
  AvFrame copy = allocate_frame(pool, format, frame);
  av_image_copy(copy->data, copy->linesize, const_cast<const std::uint8_t**>(frame.data), frame.linesize,
                static_cast<AVPixelFormat>(frame.format), frame.width, frame.height);
  return copy;
}

class DiscardingSink : public FrameSink {
 public:
  void encode(const AVFrame& /*frame*/) override {}
};

}  // namespace

void paint_synthetic(const FrameView& view, int number) {
  std::uint32_t noise = 12345U + static_cast<std::uint32_t>(number);
  const int max = view.format.pixel.max_code();
  for (int plane = 0; plane < view.format.pixel.plane_count(); ++plane) {
    const PlaneView& rows = view.planes[plane];
    for (int y = 0; y < rows.height; ++y) {
      for (int x = 0; x < rows.width; ++x) {
        noise = noise * 1664525U + 1013904223U;
        const int code =
            ((x + y + number) * max / (rows.width + rows.height) + static_cast<int>(noise >> 28) * max / 256) %
            (max + 1);
        if (view.format.pixel.bytes_per_sample() == 1) {
          rows.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(code);
        } else {
          rows.row<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(code);
        }
      }
    }
  }
}

/** Hands out references to kept frames, in turn, as many as asked for. */
class ReplaySource : public FrameSource {
 public:
  ReplaySource(const KeptFrames& kept, HostMemory kind, std::int64_t frames)
      : state_(kept.state_), frames_(kind == HostMemory::kPinned ? state_->pinned : state_->pageable), left_(frames) {}

  AvFrame read_frame() override {
    if (left_ == 0) return nullptr;
    --left_;
    AvFrame frame = reference(*frames_[static_cast<std::size_t>(next_) % frames_.size()]);
    frame->pts = next_++;
    return frame;
  }
  void interrupt() override {}
  std::pair<int, int> time_base() const override { return {1, 25}; }
  double frame_rate() const override { return 25; }

 private:
  const std::shared_ptr<const KeptFrames::State> state_;
  const std::vector<AvFrame>& frames_;
  std::int64_t next_ = 0;
  std::int64_t left_;
};

const FrameFormat& KeptFrames::format() const { return state_->format; }
int KeptFrames::count() const { return static_cast<int>(state_->pinned.size()); }

KeptFrames KeptFrames::synthetic(const std::shared_ptr<Device>& device, const FrameFormat& format, int count) {
  auto state = std::make_shared<State>();
  state->format = format;
  HostPool pool(device);
  for (int number = 0; number < count; ++number) {
    pool.set_kind(HostMemory::kPinned);
    AvFrame frame = allocate_frame(pool, format);
    paint_synthetic(view_frame(*frame), number);
    pool.set_kind(HostMemory::kPageable);
    state->pageable.push_back(copy_of(*frame, format, pool));
    state->pinned.push_back(std::move(frame));
  }
  KeptFrames kept;
  kept.state_ = std::move(state);
  return kept;
}

KeptFrames KeptFrames::decoded(const std::shared_ptr<Device>& device, const MediaInputOptions& options, int count) {
  auto state = std::make_shared<State>();
  const auto pool = std::make_shared<HostPool>(device);
  MediaInput input(options, pool);
  Preprocess preprocess(*device, *pool);
  HostPool copies(device);
  while (static_cast<int>(state->pinned.size()) < count) {
    AvFrame frame = input.read_frame();
    if (!frame) break;
    if (state->pinned.empty()) state->format = Preprocess::stream_format(*frame);
    frame = preprocess.run(std::move(frame), state->format, true);
    copies.set_kind(HostMemory::kPageable);
    state->pageable.push_back(copy_of(*frame, state->format, copies));
    copies.set_kind(HostMemory::kPinned);  // a copy: holding the decoder's own frames back would starve it
    state->pinned.push_back(copy_of(*frame, state->format, copies));
  }
  if (state->pinned.empty()) throw InputError(fmt::format("{}: no frame could be decoded", options.url));
  KeptFrames kept;
  kept.state_ = std::move(state);
  return kept;
}

TransportResult run_transport(const KeptFrames& kept, const TransportOptions& options,
                              const std::function<bool()>& stop) {
  options.device->use_in_this_thread();
  const bool sync = options.mode == Mode::kSync;
  const HostMemory kind = sync ? options.sync_memory : HostMemory::kPinned;
  const auto pool = std::make_shared<HostPool>(options.device);
  ReplaySource source(kept, kind, options.frames);
  DiscardingSink sink;
  const TimePoint now = Clock::now();
  FramePath path(options, source, {source.read_frame(), {now, now}}, pool, {});
  path.start(sink);
  while (!path.wait_for(std::chrono::milliseconds(50))) {
    if (stop && stop()) path.request_stop();
  }
  path.join();
  if (path.stage_error()) std::rethrow_exception(path.stage_error());
  if (path.source_error()) std::rethrow_exception(path.source_error());
  return {path.recorder().all(), path.ring().size(), path.uses_cuda_graphs()};
}

}  // namespace framelane
