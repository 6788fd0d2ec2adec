#include "app/version.h"

#include <fmt/format.h>

#include <iterator>
#include <opencv2/core/utility.hpp>
#include <opencv2/core/version.hpp>

#if FRAMELANE_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/ffversion.h>
#include <libswscale/swscale.h>
}

namespace framelane {
namespace {

std::string library_version(unsigned version) {
  return fmt::format("{}.{}.{}", AV_VERSION_MAJOR(version), AV_VERSION_MINOR(version), AV_VERSION_MICRO(version));
}

#if FRAMELANE_HAS_CUDA
std::string cuda_version(int version) {
  return version == 0 ? "none" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

void add_cuda(std::vector<ComponentVersion>& versions) {
  int runtime = 0;
  int driver = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);  // 0 where there is no driver
  versions.push_back({"CUDA runtime", cuda_version(CUDART_VERSION), cuda_version(runtime)});
  versions.push_back({"CUDA driver", "", cuda_version(driver)});
}
#else
void add_cuda(std::vector<ComponentVersion>& versions) { versions.push_back({"CUDA", "", "none (this build has no CUDA)"}); }
#endif

}  // namespace

std::string program_version() { return FRAMELANE_VERSION; }

std::vector<ComponentVersion> component_versions() {
  std::vector<ComponentVersion> versions{
      {"FFmpeg", FFMPEG_VERSION, av_version_info()},
      {"libavcodec", library_version(LIBAVCODEC_VERSION_INT), library_version(avcodec_version())},
      {"libavformat", library_version(LIBAVFORMAT_VERSION_INT), library_version(avformat_version())},
      {"libavutil", library_version(LIBAVUTIL_VERSION_INT), library_version(avutil_version())},
      {"libswscale", library_version(LIBSWSCALE_VERSION_INT), library_version(swscale_version())},
      {"OpenCV", CV_VERSION, cv::getVersionString()}};
  add_cuda(versions);
  return versions;
}

std::string version_text() {
  std::string text = fmt::format("framelane {}\n", program_version());
  for (const ComponentVersion& component : component_versions()) {
    fmt::format_to(std::back_inserter(text), "{:<13} {}running {}\n", component.name,
                   component.built.empty() ? "" : fmt::format("built with {}, ", component.built), component.running);
  }
  return text;
}

}  // namespace framelane
