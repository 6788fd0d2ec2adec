// Frames for tests: random and extreme content in padded memory with canaries, on the host or on the GPU; and the
// ffmpeg program as an oracle.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/filter.h"
#include "kernels/frame.h"

namespace framelane::testing {

enum class Content { kRandom, kExtremes, kGradient };  ///< kExtremes: only 0, 1, max-1 and max

/** A frame in host memory of its own, with padding after every row, guard bytes around every plane, and canaries in
 *  both. Copies are deep. */
class HostFrame {
 public:
  /** All samples 0. `extra_pitch_bytes` (a multiple of 2) is added to each row beyond frame_layout()'s pitch: 2 makes
   *  rows that no vector access is aligned to. */
  explicit HostFrame(const FrameFormat& format, int extra_pitch_bytes = 0);
  HostFrame(const FrameFormat& format, Content content, std::uint32_t seed, int extra_pitch_bytes = 0);

  const FrameFormat& format() const { return format_; }
  int extra_pitch_bytes() const { return extra_pitch_bytes_; }
  /** Valid as long as this frame is neither moved from, assigned to nor destroyed. */
  FrameView view() const;
  int sample(int plane, int x, int y) const;
  void set_sample(int plane, int x, int y, int code);
  /** One plane's samples, row by row, without padding. */
  std::vector<int> plane(int plane) const;
  /** True when no byte outside the rows has been written since construction. */
  bool padding_intact() const;

  /** Fills the rows with bytes that are no legal code at 9 to 14 bits, so that a filter's missing writes show. */
  void spoil();
  /** Rows, padding and guards; view_at(p) views a copy of these bytes at `p`, in host or device memory. */
  std::span<const std::byte> memory() const { return memory_; }
  std::span<std::byte> memory() { return memory_; }
  FrameView view_at(std::byte* memory) const;

 private:
  FrameFormat format_;
  int extra_pitch_bytes_;
  FrameLayout layout_;
  std::vector<std::byte> memory_;
};

/** Runs one filter ("gblur=sigma=2") over frames on a backend and returns what comes out. On CUDA the frames are
 *  copied up and down, and the call synchronises. A temporal filter sees the frames in order with shared state, its
 *  unordered passes all before (and against the order of) the ordered ones, as the slots of a ring may run them. Fails
 *  the test where the filter writes to its source, to padding, or beyond its scratch or state. */
std::vector<HostFrame> run_filter(const std::string& filter, const std::vector<HostFrame>& frames, Backend backend);
HostFrame run_filter(const std::string& filter, const HostFrame& frame, Backend backend);

/** The same for a filter that is compiled already, for frames of the format `output`. */
std::vector<HostFrame> run_compiled(const CompiledFilter& filter, const std::vector<HostFrame>& frames,
                                    const FrameFormat& output, Backend backend);

/** The backends that this machine can run: the CPU, and CUDA where there is a GPU (said once when there is none). */
const std::vector<Backend>& backends();

/** The largest absolute difference between two frames' samples; fails the test where pixel formats or sizes differ. */
int max_difference(const HostFrame& a, const HostFrame& b);

/** Every plane format that framelane filters: gray, 4:2:0, 4:2:2, 4:4:4, 4:4:0, 4:1:1, 4:1:0 and GBR, with and without
 *  alpha, at 8, 9, 10, 12, 14 and 16 bits. */
std::vector<PixelFormat> all_pixel_formats();

/** The sizes that break kernels; `large` adds 1919x1081 and 4096x2160. */
struct Size {
  int width;
  int height;
};
std::vector<Size> test_sizes(bool large);

/** Matrix as players guess it, limited range (full for gray and GBR). */
FrameFormat make_format(PixelFormat pixel, int width, int height);
/** Planar formats by ffmpeg's name, for readable tests: "yuv420p10", "yuva444p", "gbrp16", "gray8". An "le" at the end
 *  is ignored. Throws std::invalid_argument for others. */
PixelFormat pixel_format(const std::string& name);

/** True when the ffmpeg program is there and was built with this filter. */
bool ffmpeg_has_filter(const std::string& name);

/** Runs the ffmpeg program's `-vf filter` over raw frames of one format and returns its frames, read as `output`.
 *  Throws std::runtime_error (which fails the test) when ffmpeg fails, gives frames of another size, or inserts a
 *  conversion of its own (it would be the oracle of something else). `pix_fmt` is ffmpeg's name of the input. */
std::vector<HostFrame> run_ffmpeg(const std::string& filter, const std::vector<HostFrame>& frames,
                                  const std::string& pix_fmt, const FrameFormat& output);

}  // namespace framelane::testing

/** Skips the test where its oracle is missing. */
#define FRAMELANE_REQUIRE_FFMPEG(filter)                \
  if (!::framelane::testing::ffmpeg_has_filter(filter)) \
  GTEST_SKIP() << "no ffmpeg program with the filter " << (filter) << " here: nothing to compare with"
