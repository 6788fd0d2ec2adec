// NPP on the same frames as bench_filters, for comparison. Stand-alone, since NPP is no dependency of framelane:
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -o npp_baseline tests/bench/npp_baseline.cu -lnppif -lnppig -lnppidei -lnppc
#include <cuda_runtime.h>
#include <npp.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

constexpr int kFrames = 12;  // more than the L2 cache holds
constexpr int kPasses = 48;

struct Plane {
  Npp8u* data = nullptr;
  int pitch = 0;
  int width;
  int height;
};

Plane make_plane(int width, int height) {
  Plane plane{nullptr, (width + 511) / 512 * 512, width, height};
  cudaMalloc(reinterpret_cast<void**>(&plane.data), static_cast<size_t>(plane.pitch) * height);
  cudaMemset(plane.data, 77, static_cast<size_t>(plane.pitch) * height);
  return plane;
}

double median_us(const std::function<void(int)>& pass) {
  cudaEvent_t begin;
  cudaEvent_t end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<double> times;
  for (int run = 0; run < 6; ++run) {
    cudaEventRecord(begin);
    for (int i = 0; i < kPasses; ++i) pass(i % kFrames);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (run > 0) times.push_back(ms * 1000 / kPasses);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/** Luma and two chroma planes of a 4:2:0 frame. */
struct Frame {
  explicit Frame(int width, int height)
      : planes{make_plane(width, height), make_plane(width / 2, height / 2), make_plane(width / 2, height / 2)} {}
  std::vector<Plane> planes;
};

void report(const char* name, const char* size, double us) { std::printf("npp %-14s %-6s %9.2f us\n", name, size, us); }

void run(const char* size, int width, int height, NppStreamContext context) {
  std::vector<Frame> src;
  std::vector<Frame> dst;
  for (int i = 0; i < kFrames; ++i) {
    src.emplace_back(width, height);
    dst.emplace_back(width, height);
  }
  const auto each_plane = [&](const std::function<void(const Plane&, const Plane&)>& work) {
    return median_us([&](int frame) {
      for (int plane = 0; plane < 3; ++plane) work(src[frame].planes[plane], dst[frame].planes[plane]);
    });
  };
  const auto gauss = [&](NppiMaskSize mask) {
    return each_plane([&](const Plane& from, const Plane& to) {
      const NppiSize whole{from.width, from.height};
      nppiFilterGaussBorder_8u_C1R_Ctx(from.data, from.pitch, whole, {0, 0}, to.data, to.pitch, whole, mask,
                                       NPP_BORDER_REPLICATE, context);
    });
  };
  report("gauss5x5", size, gauss(NPP_MASK_SIZE_5_X_5));
  report("gauss15x15", size, gauss(NPP_MASK_SIZE_15_X_15));
  report("mirror", size, each_plane([&](const Plane& from, const Plane& to) {
           nppiMirror_8u_C1R_Ctx(from.data, from.pitch, to.data, to.pitch, {from.width, from.height}, NPP_VERTICAL_AXIS,
                                 context);
         }));
  report("resize-half", size, each_plane([&](const Plane& from, const Plane& to) {
           const NppiSize from_size{from.width, from.height};
           const NppiSize to_size{from.width / 2, from.height / 2};
           nppiResize_8u_C1R_Ctx(from.data, from.pitch, from_size, {0, 0, from.width, from.height}, to.data, to.pitch,
                                 to_size, {0, 0, to_size.width, to_size.height}, NPPI_INTER_CUBIC, context);
         }));
  report("copy", size, each_plane([&](const Plane& from, const Plane& to) {
           cudaMemcpy2DAsync(to.data, to.pitch, from.data, from.pitch, from.width, from.height,
                             cudaMemcpyDeviceToDevice);
         }));
}

}  // namespace

int main() {
  NppStreamContext context{};
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  context.hStream = nullptr;
  context.nCudaDeviceId = 0;
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  run("1080p", 1920, 1080, context);
  run("4K", 3840, 2160, context);
  std::printf("last error: %s\n", cudaGetErrorString(cudaGetLastError()));
  return 0;
}
