#include "tests/plane_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>

#include <opencv2/core/utility.hpp>

#include "kernels/color/color_program.h"
#include "kernels/filter_chain.h"
#include "tests/plane_fixture_cuda.h"

namespace framelane::testing {
namespace {

#ifdef __SANITIZE_THREAD__
/** OpenCV's parallel loops run on TBB, which is not instrumented: its hand-overs would look like races. */
[[maybe_unused]] const bool kSerialLoops = (cv::setNumThreads(1), true);
#endif

constexpr std::byte kCanary{0xA5};
constexpr std::size_t kGuardBytes = 256;  // before the first plane and after each

FrameLayout guarded_layout(const FrameFormat& format, int extra_pitch_bytes) {
  FrameLayout layout = frame_layout(format);
  layout.bytes = kGuardBytes;
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    layout.offset[plane] = layout.bytes;
    layout.pitch_bytes[plane] += extra_pitch_bytes;
    const std::size_t bytes = static_cast<std::size_t>(layout.pitch_bytes[plane] * format.plane_height(plane));
    layout.bytes += (bytes + kGuardBytes - 1) / kGuardBytes * kGuardBytes + kGuardBytes;
  }
  return layout;
}

/** Calls visit(plane view, plane, y) for every row of every plane. */
template <typename Visit>
void for_each_row(const FrameView& view, const Visit& visit) {
  for (int plane = 0; plane < view.format.pixel.plane_count(); ++plane) {
    for (int y = 0; y < view.planes[plane].height; ++y) visit(view.planes[plane], plane, y);
  }
}

/** A triangle wave across the plane, another phase for each plane. */
int gradient_code(int plane, int x, int y, int max_code) {
  const int phase = (x * 5 + y * 3 + plane * 41) % 510;
  return static_cast<int>(static_cast<std::int64_t>(std::min(phase, 510 - phase)) * max_code / 255);
}

/** Scratch or state of a filter on the CPU: 256-byte aligned, with canaries behind it. */
class GuardedBytes {
 public:
  GuardedBytes(std::size_t bytes, std::byte content) : memory_(bytes + 2 * kGuardBytes, kCanary), bytes_(bytes) {
    std::fill_n(data(), bytes, content);
  }
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + ((address + kGuardBytes - 1) / kGuardBytes * kGuardBytes - address);
  }
  bool guard_intact() {
    return std::all_of(data() + bytes_, memory_.data() + memory_.size(), [](std::byte b) { return b == kCanary; });
  }

 private:
  std::vector<std::byte> memory_;
  std::size_t bytes_;
};

void run_on_cpu(const CompiledFilter& filter, const std::vector<HostFrame>& frames, std::vector<HostFrame>& outputs) {
  GuardedBytes state(filter.state_bytes(), std::byte{0});
  std::vector<GuardedBytes> scratch(frames.size(), GuardedBytes(filter.scratch_bytes(), kCanary));
  const auto arguments = [&](std::size_t n) {
    return FilterArguments{outputs[n].view(), frames[n].view(), scratch[n].data(), state.data(),
                           static_cast<std::int64_t>(n)};
  };
  const std::vector<HostFrame> before = frames;
  for (std::size_t n = frames.size(); n-- > 0;) filter.run(arguments(n), nullptr);
  if (filter.has_ordered_pass()) {
    for (std::size_t n = 0; n < frames.size(); ++n) filter.run_ordered(arguments(n), nullptr);
  }
  EXPECT_TRUE(state.guard_intact()) << "the filter wrote beyond its state";
  for (std::size_t n = 0; n < frames.size(); ++n) {
    EXPECT_TRUE(scratch[n].guard_intact()) << "the filter wrote beyond its scratch";
    EXPECT_TRUE(std::ranges::equal(frames[n].memory(), before[n].memory())) << "the filter wrote to its source";
  }
}

std::unique_ptr<CompiledFilter> compile(const FilterUse& use, const Filter& filter, const FrameFormat& input,
                                        Backend backend) {
  if (use.descriptor->kind != FilterKind::kColor) return filter.compile(input, backend);
  ColorProgram program;
  filter.append_to(program, input);
  return compile_color_program(program, input, backend);
}

}  // namespace

HostFrame::HostFrame(const FrameFormat& format, int extra_pitch_bytes)
    : format_(format),
      extra_pitch_bytes_(extra_pitch_bytes),
      layout_(guarded_layout(format, extra_pitch_bytes)),
      memory_(layout_.bytes, kCanary) {
  for_each_row(view(), [&](const PlaneView& plane, int index, int y) {
    std::memset(plane.row<std::byte>(y), 0, format_.row_bytes(index));
  });
}

HostFrame::HostFrame(const FrameFormat& format, Content content, std::uint32_t seed, int extra_pitch_bytes)
    : HostFrame(format, extra_pitch_bytes) {
  std::mt19937 random(seed);  // its raw numbers are the same on every platform
  const int max_code = format.pixel.max_code();
  const int extremes[] = {0, std::min(1, max_code), max_code - 1, max_code};
  for (int plane = 0; plane < format.pixel.plane_count(); ++plane) {
    for (int y = 0; y < format.plane_height(plane); ++y) {
      for (int x = 0; x < format.plane_width(plane); ++x) {
        switch (content) {
          case Content::kRandom:
            set_sample(plane, x, y, static_cast<int>(random() & static_cast<unsigned>(max_code)));
            break;
          case Content::kExtremes:
            set_sample(plane, x, y, extremes[random() >> 30]);
            break;
          case Content::kGradient:
            set_sample(plane, x, y, gradient_code(plane, x, y, max_code));
            break;
        }
      }
    }
  }
}

FrameView HostFrame::view_at(std::byte* memory) const {
  FrameView view{format_, {}};
  for (int plane = 0; plane < format_.pixel.plane_count(); ++plane) {
    view.planes[plane] = {memory + layout_.offset[plane], layout_.pitch_bytes[plane], format_.plane_width(plane),
                          format_.plane_height(plane)};
  }
  return view;
}

// A view has no const form: whoever takes one as a source promises not to write through it.
FrameView HostFrame::view() const { return view_at(const_cast<std::byte*>(memory_.data())); }

int HostFrame::sample(int plane, int x, int y) const {
  const std::byte* row = memory_.data() + layout_.offset[plane] + y * layout_.pitch_bytes[plane];
  if (format_.pixel.bytes_per_sample() == 1) return std::to_integer<int>(row[x]);
  std::uint16_t code = 0;
  std::memcpy(&code, row + 2 * std::ptrdiff_t{x}, sizeof code);
  return code;
}

void HostFrame::set_sample(int plane, int x, int y, int code) {
  std::byte* row = memory_.data() + layout_.offset[plane] + y * layout_.pitch_bytes[plane];
  if (format_.pixel.bytes_per_sample() == 1) {
    row[x] = static_cast<std::byte>(code);
  } else {
    const auto word = static_cast<std::uint16_t>(code);
    std::memcpy(row + 2 * std::ptrdiff_t{x}, &word, sizeof word);
  }
}

std::vector<int> HostFrame::plane(int plane) const {
  std::vector<int> samples;
  samples.reserve(static_cast<std::size_t>(format_.plane_width(plane)) * format_.plane_height(plane));
  for (int y = 0; y < format_.plane_height(plane); ++y) {
    for (int x = 0; x < format_.plane_width(plane); ++x) samples.push_back(sample(plane, x, y));
  }
  return samples;
}

bool HostFrame::padding_intact() const {
  const std::byte* next = memory_.data();
  const auto canaries_until = [&](const std::byte* end) {
    const bool intact = std::all_of(next, end, [](std::byte b) { return b == kCanary; });
    next = end;
    return intact;
  };
  bool intact = true;
  for_each_row(view(), [&](const PlaneView& plane, int index, int y) {
    intact = canaries_until(plane.row<std::byte>(y)) && intact;
    next += format_.row_bytes(index);
  });
  return canaries_until(memory_.data() + memory_.size()) && intact;
}

void HostFrame::spoil() {
  for_each_row(view(), [&](const PlaneView& plane, int index, int y) {
    std::memset(plane.row<std::byte>(y), std::to_integer<int>(kCanary), format_.row_bytes(index));
  });
}

std::vector<HostFrame> run_compiled(const CompiledFilter& filter, const std::vector<HostFrame>& frames,
                                    const FrameFormat& output, Backend backend) {
  std::vector<HostFrame> outputs;
  for (const HostFrame& frame : frames) outputs.emplace_back(output, frame.extra_pitch_bytes()).spoil();
  if (backend == Backend::kCpu) {
    run_on_cpu(filter, frames, outputs);
  } else if constexpr (kHasCuda) {
    run_on_cuda(filter, frames, outputs);
  }
  for (const HostFrame& frame : outputs) EXPECT_TRUE(frame.padding_intact()) << "the filter wrote outside the rows";
  return outputs;
}

std::vector<HostFrame> run_filter(const std::string& filter, const std::vector<HostFrame>& frames, Backend backend) {
  const std::vector<FilterUse> uses = parse_filter_chain(filter);
  if (uses.size() != 1) throw std::invalid_argument("run_filter() takes one filter, not '" + filter + "'");
  const FrameFormat& input = frames.at(0).format();
  const std::unique_ptr<Filter> bound = uses[0].descriptor->create(uses[0].values);
  const std::unique_ptr<CompiledFilter> compiled = compile(uses[0], *bound, input, backend);
  return run_compiled(*compiled, frames, bound->output_format(input), backend);
}

HostFrame run_filter(const std::string& filter, const HostFrame& frame, Backend backend) {
  return run_filter(filter, std::vector{frame}, backend).front();
}

const std::vector<Backend>& backends() {
  static const std::vector<Backend> found = [] {
    if constexpr (kHasCuda) {
      if (cuda_device_count() > 0) return std::vector{Backend::kCpu, Backend::kCuda};
      std::cerr << "[   NOTE   ] no usable GPU here: the CUDA kernels are not run\n";
    } else {
      std::cerr << "[   NOTE   ] built without CUDA: only the CPU filters are run\n";
    }
    return std::vector{Backend::kCpu};
  }();
  return found;
}

int max_difference(const HostFrame& a, const HostFrame& b) {
  if (describe(a.format()) != describe(b.format())) {
    ADD_FAILURE() << describe(a.format()) << " is compared with " << describe(b.format());
    return std::numeric_limits<int>::max();
  }
  int largest = 0;
  for (int plane = 0; plane < a.format().pixel.plane_count(); ++plane) {
    for (int y = 0; y < a.format().plane_height(plane); ++y) {
      for (int x = 0; x < a.format().plane_width(plane); ++x) {
        largest = std::max(largest, std::abs(a.sample(plane, x, y) - b.sample(plane, x, y)));
      }
    }
  }
  return largest;
}

std::vector<PixelFormat> all_pixel_formats() {
  std::vector<PixelFormat> formats;
  for (const int depth : {8, 9, 10, 12, 14, 16}) {
    for (const bool alpha : {false, true}) {
      const std::string suffix = depth == 8 ? "" : std::to_string(depth);
      formats.push_back({ColorModel::kGray, depth, 0, 0, alpha});
      formats.push_back({ColorModel::kGbr, depth, 0, 0, alpha});
      for (const Size shift : {Size{1, 1}, {1, 0}, {0, 0}, {0, 1}, {2, 0}, {2, 2}}) {
        formats.push_back({ColorModel::kYuv, depth, shift.width, shift.height, alpha});
      }
    }
  }
  return formats;
}

std::vector<Size> test_sizes(bool large) {
  std::vector<Size> sizes{{1, 1}, {2, 2}, {3, 5}, {16, 16}, {65, 33}};
  if (large) sizes.insert(sizes.end(), {{1919, 1081}, {4096, 2160}});
  return sizes;
}

FrameFormat make_format(PixelFormat pixel, int width, int height) {
  const ColorRange range = pixel.model == ColorModel::kYuv ? ColorRange::kLimited : ColorRange::kFull;
  return {pixel, width, height, guess_matrix(width, height), range};
}

PixelFormat pixel_format(const std::string& name) {
  std::string wanted = name.ends_with("le") ? name.substr(0, name.size() - 2) : name;
  if (wanted == "gray8") wanted = "gray";
  for (const PixelFormat& pixel : all_pixel_formats()) {
    if (describe(FrameFormat{pixel, 1, 1}) == "1x1 " + wanted) return pixel;
  }
  throw std::invalid_argument("no planar pixel format '" + name + "'");
}

}  // namespace framelane::testing
