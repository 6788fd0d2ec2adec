// Beside the frame's way: which device filters it.
#include "pipeline/device.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "kernels/errors.h"

namespace framelane {

#if !FRAMELANE_HAS_CUDA
std::string cuda_unavailable_reason() { return "this build has no CUDA (no CUDA compiler was found)"; }
#endif

namespace {

std::shared_ptr<Device> create_cuda_or_explain(int ordinal, const std::string& choice) {
  if (const std::string reason = cuda_unavailable_reason(); !reason.empty()) {
    throw DeviceError(fmt::format("--device {}: {}; use --device cpu", choice, reason));
  }
  if constexpr (kHasCuda) return create_cuda_device(ordinal);
  return nullptr;
}

}  // namespace

std::unique_ptr<WorkGraph> Stream::capture(const std::function<void()>& /*enqueue*/,
                                           std::unique_ptr<WorkGraph> /*previous*/) {
  throw std::logic_error("this device has no graphs");
}

void Stream::launch(WorkGraph& /*graph*/, const std::byte* /*up*/, std::byte* /*down*/) {
  throw std::logic_error("this device has no graphs");
}

void drain(Stream& stream) noexcept {
  try {
    stream.synchronize();
  } catch (...) {  // told by whoever waited for the work's event
  }
}

std::vector<DeviceDescription> list_devices() {
  std::vector<DeviceDescription> devices;
  if constexpr (kHasCuda) devices = list_cuda_devices();
  devices.push_back({"cpu", create_cpu_device()->name(), "frames are filtered by OpenCV on all cores"});
  return devices;
}

std::shared_ptr<Device> create_device(const std::string& choice) {
  if (choice == "cpu") return create_cpu_device();
  if (choice == "cuda") return create_cuda_or_explain(0, choice);
  if (choice == "auto") {
    if (!cuda_unavailable_reason().empty()) return create_cpu_device();
    return create_cuda_or_explain(0, choice);
  }
  if (choice.starts_with("cuda:")) {
    int ordinal = -1;
    const char* end = choice.data() + choice.size();
    const auto [stop, status] = std::from_chars(choice.data() + 5, end, ordinal);
    if (status == std::errc{} && stop == end && ordinal >= 0) return create_cuda_or_explain(ordinal, choice);
  }
  throw UsageError(fmt::format("unknown device '{}': use auto, cpu, cuda or cuda:N (see 'framelane devices')", choice));
}

}  // namespace framelane
