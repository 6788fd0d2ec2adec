// Every filter of the registry, on the CPU and on the GPU: time a frame, bytes a second, and the ratio to a copy of
// the same bytes measured in the same run.
//
//   framelane_bench_filters --benchmark_filter='gblur.*cuda' --benchmark_repetitions=5
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernels/filter_chain.h"
#include "kernels/filter_registry.h"
#include "pipeline/device.h"

namespace framelane::bench {
namespace {

struct FrameSize {
  const char* name;
  int width;
  int height;
};
constexpr std::array kSizes{FrameSize{"720p", 1280, 720}, FrameSize{"1080p", 1920, 1080}, FrameSize{"4K", 3840, 2160}};

/** More frames than the GPU's L2 cache holds, so that each is read from memory as it would be after H2D. */
constexpr int kFrames = 12;
constexpr int kPasses = 48;  // between two events: long against the events' resolution

FrameFormat format_of(const FrameSize& size) {
  FrameFormat format;
  format.width = size.width;
  format.height = size.height;
  format.matrix = guess_matrix(size.width, size.height);
  return format;
}

/** Source and destination frames on a device. */
struct Frames {
  Frames(Device& device, const FrameFormat& src, const FrameFormat& dst) {
    const std::size_t src_bytes = frame_layout(src).bytes;
    const MemoryBlock noise = device.allocate_host(src_bytes, HostMemory::kPageable);
    for (std::size_t i = 0; i < src_bytes; ++i) noise.get()[i] = static_cast<std::byte>(i * 2654435761U >> 13);
    for (int i = 0; i < kFrames; ++i) {
      memory.push_back(device.allocate(src_bytes));
      device.copy_blocking_to_device(memory.back().get(), noise.get(), src_bytes);
      sources.push_back(view_frame(src, memory.back().get()));
      memory.push_back(device.allocate(frame_layout(dst).bytes));
      results.push_back(view_frame(dst, memory.back().get()));
    }
  }
  std::vector<MemoryBlock> memory;
  std::vector<FrameView> sources;
  std::vector<FrameView> results;
};

/** Seconds a frame of `work(frame number)`, enqueued on `stream`. */
template <typename Work>
double seconds_a_frame(Device& device, Stream& stream, const Work& work) {
  const auto begin = device.create_timed_event();
  const auto end = device.create_timed_event();
  stream.record(*begin);
  for (int i = 0; i < kPasses; ++i) work(i % kFrames);
  stream.record(*end);
  end->wait();
  return milliseconds(end->time() - begin->time()) / 1000 / kPasses;
}

/** Seconds to copy `src_bytes` in and `dst_bytes` out at the speed of a device-to-device copy. */
double copy_seconds(Device& device, Stream& stream, Frames& frames) {
  const FrameView& src = frames.sources.front();
  const std::size_t bytes = frame_layout(src.format).bytes;
  const std::size_t moved = bytes + frame_layout(frames.results.front().format).bytes;
  std::vector<MemoryBlock> copies;
  for (int i = 0; i < kFrames; ++i) copies.push_back(device.allocate(bytes));
  const PlaneView shape{nullptr, static_cast<std::ptrdiff_t>(bytes), static_cast<int>(bytes), 1};
  const double seconds = seconds_a_frame(device, stream, [&](int frame) {
    PlaneView from = shape;
    PlaneView to = shape;
    from.data = frames.sources[static_cast<std::size_t>(frame)].planes[0].data;
    to.data = copies[static_cast<std::size_t>(frame)].get();
    stream.copy_plane(to, from, bytes);
  });
  return seconds * static_cast<double>(moved) / static_cast<double>(2 * bytes);
}

void bench_filter(benchmark::State& state, const std::string& text, const FrameSize& size,
                  const std::shared_ptr<Device>& device) {
  device->use_in_this_thread();
  const FrameFormat format = format_of(size);
  FilterChain chain(parse_filter_chain(text), format, device->backend());
  const PlanStep& step = chain.plan(1).steps.front();
  Frames frames(*device, format, chain.output_format());
  const MemoryBlock scratch = device->allocate(chain.scratch_bytes() + 1);
  const MemoryBlock kept = device->allocate(chain.state_bytes().empty() ? 1 : chain.state_bytes().front());
  const auto stream = device->create_stream(StreamRole::kOnly);

  std::int64_t frame_index = 0;
  const auto pass = [&](int frame) {
    const auto number = static_cast<std::size_t>(frame);
    const FilterArguments arguments{frames.results[number], frames.sources[number], scratch.get(), kept.get(),
                                    frame_index++};
    stream->run(*step.filter, arguments);
    if (step.filter->has_ordered_pass()) stream->run_ordered(*step.filter, arguments);
  };
  seconds_a_frame(*device, *stream, pass);  // warm
  double seconds = 0;
  for (auto _ : state) {
    seconds = seconds_a_frame(*device, *stream, pass);
    state.SetIterationTime(seconds);
  }
  const double copy = copy_seconds(*device, *stream, frames);
  const double moved = static_cast<double>(frame_layout(format).bytes + frame_layout(chain.output_format()).bytes);
  state.counters["us"] = seconds * 1e6;
  state.counters["GB/s"] = moved / seconds / 1e9;
  state.counters["copies"] = seconds / copy;  // 1: as fast as copying the frame
}

void register_all(const std::shared_ptr<Device>& device, const char* name) {
  for (const FilterDescriptor* filter : all_filters()) {
    for (const std::string_view setting : filter->conformance_settings) {
      const std::string text =
          setting.empty() ? std::string(filter->name) : fmt::format("{}={}", filter->name, setting);
      for (const FrameSize& size : kSizes) {
        if (device->backend() == Backend::kCpu && size.width > 1280) continue;
        benchmark::RegisterBenchmark(fmt::format("{}/{}/{}", text, size.name, name).c_str(),
                                     [=](benchmark::State& state) { bench_filter(state, text, size, device); })
            ->UseManualTime()
            ->Iterations(5)
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

}  // namespace
}  // namespace framelane::bench

int main(int argc, char** argv) {
  using namespace framelane;
  const auto cpu = create_cpu_device();
  cpu->set_concurrent_frames(true);  // one core a frame, as in multistream mode
  bench::register_all(cpu, "cpu");
  if (cuda_unavailable_reason().empty()) bench::register_all(create_device("cuda"), "cuda");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
