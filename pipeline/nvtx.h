// Beside the frame's way: names what a thread does for a profiler (Nsight Systems), as recorder.h does for us.
#pragma once

#include <cstdint>

#include "pipeline/recorder.h"

#if FRAMELANE_HAS_CUDA
#include <nvtx3/nvToolsExt.h>

#include <array>
#endif

namespace framelane {

/** An NVTX range of the domain "framelane" on the calling thread, from construction to the end of the scope: named as
 *  its stage ("decode", "h2d", …), the frame's number as its payload (int64). Ranges nest. Around the asynchronous
 * calls of a stage it spans their enqueuing, and a profiler that projects ranges onto the GPU shows what was enqueued.
 *
 *  Thread: any; destroyed on the thread that made it. Owns: nothing; the domain and its names live as long as the
 *  program. Never throws. Costs a few nanoseconds where no profiler is attached, and nothing in a build without CUDA.
 */
class NvtxRange {
 public:
#if FRAMELANE_HAS_CUDA
  NvtxRange(Stage stage, std::int64_t frame) noexcept : domain_(names().domain) {
    if (domain_ == nullptr) return;
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = frame;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = names().stages[static_cast<std::size_t>(stage)];
    nvtxDomainRangePushEx(domain_, &attributes);
  }
  ~NvtxRange() {
    if (domain_ != nullptr) nvtxDomainRangePop(domain_);
  }
#else
  NvtxRange(Stage /*stage*/, std::int64_t /*frame*/) noexcept {}
  ~NvtxRange() {}  // not trivial: the compiler would call a range that is never read an unused variable
#endif
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;

#if FRAMELANE_HAS_CUDA
 private:
  /** What the profiler knows the names by; null where there was no profiler when the first range began. */
  struct Names {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("framelane");
    std::array<nvtxStringHandle_t, kStageCount> stages{};

    Names() {
      for (const Stage stage : kStages) {
        stages[static_cast<std::size_t>(stage)] = nvtxDomainRegisterStringA(domain, stage_name(stage).data());
      }
    }
  };
  static const Names& names() {
    static const Names names;
    return names;
  }

  nvtxDomainHandle_t domain_;
#endif
};

}  // namespace framelane
