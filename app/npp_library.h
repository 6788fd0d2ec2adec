// The part of NPP's interface that npp.cpp calls, declared by hand from the documentation of NPP 12 and 13: a toolkit
// need not be there to build. Only in a build with CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct CUstream_st;

namespace framelane::npp {

struct Size {
  int width;
  int height;
};
struct Point {
  int x;
  int y;
};
struct Rectangle {
  int x;
  int y;
  int width;
  int height;
};

/** NppStreamContext: where a call runs, and what NPP would else ask the runtime for on each call. */
struct StreamContext {
  CUstream_st* stream = nullptr;
  int device = 0;
  int multiprocessors = 0;
  int max_threads_per_multiprocessor = 0;
  int max_threads_per_block = 0;
  std::size_t shared_memory_per_block = 0;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  unsigned stream_flags = 0;
  int reserved = 0;
};

using Status = int;  ///< below 0: an error; above: a warning

enum class Axis : int { kHorizontal = 0, kVertical = 1 };
enum class Border : int { kReplicate = 2 };
enum class MaskSize : int { k3x3 = 200 };
enum class Norm : int { kL2 = 2 };
enum class Interpolation : int { kLinear = 2, kCubic = 4, kSuper = 8, kLanczos = 16 };

// Steps are bytes a row. Pointers are to device memory.
using Copy = Status(const std::uint8_t* src, int src_step, std::uint8_t* dst, int dst_step, Size, StreamContext);
using Not = Copy;
using Transpose = Copy;  ///< the size is the source's
using Mirror = Status(const std::uint8_t* src, int src_step, std::uint8_t* dst, int dst_step, Size, Axis,
                      StreamContext);
using Resize = Status(const std::uint8_t* src, int src_step, Size src_size, Rectangle src_part, std::uint8_t* dst,
                      int dst_step, Size dst_size, Rectangle dst_part, Interpolation, StreamContext);
using FilterGaussAdvancedBorder = Status(const std::uint8_t* src, int src_step, Size src_size, Point src_offset,
                                         std::uint8_t* dst, int dst_step, Size, int taps, const float* weights, Border,
                                         StreamContext);
using FilterUnsharpBorder = Status(const std::uint8_t* src, int src_step, Point src_offset, std::uint8_t* dst,
                                   int dst_step, Size, float radius, float sigma, float weight, float threshold, Border,
                                   std::uint8_t* buffer, StreamContext);
using FilterUnsharpGetBufferSize = Status(float radius, float sigma, int* bytes);
/** Results that are not wanted are null. */
using GradientVectorSobelBorder = Status(const std::uint8_t* src, int src_step, Size src_size, Point src_offset,
                                         std::int16_t* dst_x, int dst_x_step, std::int16_t* dst_y, int dst_y_step,
                                         std::int16_t* magnitude, int magnitude_step, float* angle, int angle_step,
                                         Size, MaskSize, Norm, Border, StreamContext);

/** The address of a function of NPP's image libraries; null where there is no NPP on this machine (looked for where the
 *  loader looks, and in /usr/local/cuda) or it has no such function. The libraries stay loaded.
 *  Thread: any. */
void* find_symbol(const std::string& name);

template <typename Function>
Function* find(const std::string& name) {
  return reinterpret_cast<Function*>(find_symbol(name));
}

/** The current CUDA device, and no stream yet. Throws DeviceError. */
StreamContext current_device_context();

}  // namespace framelane::npp
