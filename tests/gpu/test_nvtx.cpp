// NVTX ranges as a profiler sees them: this file is one, linked into the tests (NVTX's "static injection"). Needs the
// toolkit, but no GPU.
#define NVTX_NO_IMPL
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

#include <array>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "pipeline/pipeline.h"
#include "tests/stamped_clip.h"

namespace framelane::testing {
namespace {

/** What NVTX was told, in order, of all threads. */
struct Heard {
  std::mutex mutex;
  std::vector<std::string> domains;
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::int64_t>> frames;  ///< payloads by "thread: name"
  int open = 0;                                             ///< pushed and not popped
  std::set<int> payload_types;
};
Heard& heard() {
  static Heard heard;
  return heard;
}

template <typename Handle>
Handle handle(std::size_t index) {
  return reinterpret_cast<Handle>(index + 1);
}

nvtxDomainHandle_t create_domain(const char* name) {
  const std::scoped_lock lock(heard().mutex);
  heard().domains.emplace_back(name);
  return handle<nvtxDomainHandle_t>(heard().domains.size());
}

nvtxStringHandle_t register_name(nvtxDomainHandle_t /*domain*/, const char* name) {
  const std::scoped_lock lock(heard().mutex);
  heard().names.emplace_back(name);
  return handle<nvtxStringHandle_t>(heard().names.size() - 1);
}

int push(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* range) {
  std::array<char, 16> thread{};
  pthread_getname_np(pthread_self(), thread.data(), thread.size());
  const std::scoped_lock lock(heard().mutex);
  const std::string& name = heard().names.at(reinterpret_cast<std::size_t>(range->message.registered) - 1);
  heard().frames[fmt::format("{}: {}", thread.data(), name)].push_back(range->payload.llValue);
  heard().payload_types.insert(range->payloadType);
  return heard().open++;
}

int pop(nvtxDomainHandle_t /*domain*/) {
  const std::scoped_lock lock(heard().mutex);
  return --heard().open;
}

int initialize(NvtxGetExportTableFunc_t export_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &size) == 0) return 0;
  const auto listen = [&](int id, auto* function) { *functions[id] = reinterpret_cast<NvtxFunctionPointer>(function); };
  listen(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  listen(NVTX_CBID_CORE2_DomainRegisterStringA, register_name);
  listen(NVTX_CBID_CORE2_DomainRangePushEx, push);
  listen(NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}

constexpr int kFrames = 20;

class NvtxRanges : public ::testing::TestWithParam<Mode> {};

TEST_P(NvtxRanges, NameEveryStageOfEveryFrameOnItsThread) {
  const TemporaryFolder folder;
  make_stamped_clip(folder.file("in.mp4"), kFrames, 64, 48);
  PipelineOptions options;
  options.input.url = folder.file("in.mp4");
  options.output.url = "null";
  options.filters = parse_filter_chain("gblur");
  options.device = create_device("cpu");
  options.mode = GetParam();
  {
    const std::scoped_lock lock(heard().mutex);
    heard().frames.clear();
  }
  Pipeline pipeline(std::move(options));
  pipeline.start();
  ASSERT_TRUE(pipeline.wait_for(std::chrono::minutes(1)));
  pipeline.finish();

  std::vector<std::int64_t> all;
  for (int frame = 0; frame < kFrames; ++frame) all.push_back(frame);
  const std::scoped_lock lock(heard().mutex);
  EXPECT_THAT(heard().domains, ::testing::ElementsAre("framelane"));
  EXPECT_THAT(heard().payload_types, ::testing::ElementsAre(NVTX_PAYLOAD_TYPE_INT64));
  EXPECT_EQ(heard().open, 0);
  // Frame 0 is decoded while the pipeline is set up, and decoding once more finds the end.
  std::vector<std::int64_t> decoded(all.begin() + 1, all.end());
  decoded.push_back(kFrames);
  EXPECT_EQ(heard().frames["decoder: decode"], decoded);
  EXPECT_EQ(heard().frames["decoder: preprocess"], all);
  EXPECT_EQ(heard().frames["submitter: kernels"], all);
  EXPECT_EQ(heard().frames["encoder: encode"], all);
}

INSTANTIATE_TEST_SUITE_P(Modes, NvtxRanges, ::testing::ValuesIn(kModes),
                         [](const auto& test) { return std::string(mode_name(test.param)); });

}  // namespace
}  // namespace framelane::testing

extern "C" {
/** NVTX looks for a symbol of this name. */
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = framelane::testing::initialize;
}
