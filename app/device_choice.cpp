#include "app/device_choice.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <string_view>

namespace framelane {

std::string device_text(const std::string& choice, const Device& device) {
  if (choice != "auto") return device.name();
  const std::string reason = cuda_unavailable_reason();
  return fmt::format("{} (auto: {})", device.name(), reason.empty() ? "the first CUDA device" : reason);
}

void warn_of_environment(const Device& device) {
  const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (device.backend() == Backend::kCuda && blocking != nullptr && std::string_view(blocking) == "1") {
    spdlog::warn("CUDA_LAUNCH_BLOCKING=1 makes every mode wait for each kernel: nothing will overlap");
  }
}

void warn_of_missing_graphs(CudaGraphs graphs, const Device& device) {
  if (graphs == CudaGraphs::kOn && !device.has_graphs()) {
    spdlog::warn("--cuda-graphs on: {} has none; going on without", device.name());
  }
}

}  // namespace framelane
