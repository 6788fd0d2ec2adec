// What a running pipeline asks of the CUDA driver, as CUPTI sees it: in steady state no allocation and no implicit
// synchronisation.
#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "pipeline/pipeline.h"
#include "tests/stamped_clip.h"

namespace framelane::testing {
namespace {

/** Counts driver calls by name while it is switched on. CUPTI is loaded at run time: it comes with the toolkit, not
 *  with the driver. */
class DriverCalls {
 public:
  DriverCalls() {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda/lib64/libcupti.so"}) {
      if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW);
    }
    if (library_ == nullptr) return;
    const auto subscribe = function<decltype(&cuptiSubscribe)>("cuptiSubscribe");
    const auto enable = function<decltype(&cuptiEnableDomain)>("cuptiEnableDomain");
    if (subscribe(&subscriber_, count, this) != CUPTI_SUCCESS) return;
    works_ = enable(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API) == CUPTI_SUCCESS;
  }
  ~DriverCalls() {
    if (subscriber_ != nullptr) function<decltype(&cuptiUnsubscribe)>("cuptiUnsubscribe")(subscriber_);
  }
  DriverCalls(const DriverCalls&) = delete;
  DriverCalls& operator=(const DriverCalls&) = delete;

  bool works() const { return works_; }
  void set_counting(bool on) { counting_ = on; }
  std::map<std::string, int> counts() {
    const std::scoped_lock lock(mutex_);
    return counts_;
  }

 private:
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  static void count(void* self, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId /*id*/, const void* call) {
    auto& calls = *static_cast<DriverCalls*>(self);
    const auto& details = *static_cast<const CUpti_CallbackData*>(call);
    if (!calls.counting_ || details.callbackSite != CUPTI_API_ENTER) return;
    const std::scoped_lock lock(calls.mutex_);
    ++calls.counts_[details.functionName];
  }

  void* library_ = nullptr;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool works_ = false;
  std::atomic<bool> counting_{false};
  std::mutex mutex_;
  std::map<std::string, int> counts_;
};

/** Calls that enqueue work, wait for one event, or only ask. "_v2", "_ptsz" and the like are cut off. */
const std::set<std::string> kAllowed{"cuLaunchKernel",
                                     "cuLaunchKernelEx",
                                     "cuMemcpyHtoDAsync",
                                     "cuMemcpyDtoHAsync",
                                     "cuMemcpyDtoDAsync",
                                     "cuMemcpyAsync",
                                     "cuMemcpy2DAsync",
                                     "cuEventRecord",
                                     "cuEventSynchronize",
                                     "cuEventElapsedTime",
                                     "cuEventQuery",
                                     "cuStreamWaitEvent",
                                     "cuCtxGetCurrent",
                                     "cuCtxSetCurrent",
                                     "cuCtxGetDevice",
                                     "cuPointerGetAttributes",
                                     "cuGraphLaunch",
                                     "cuEventRecordWithFlags",
                                     "cuGraphExecMemcpyNodeSetParams"};

/** What frames 100 to 250 of a run ask of the driver: calls by name, without "_v2", "_ptsz" and the like. */
std::map<std::string, int> steady_calls(const std::string& clip, const std::string& filters, Mode mode,
                                        CudaGraphs graphs, DriverCalls& calls) {
  PipelineOptions options;
  options.input.url = clip;
  options.output.url = "null";
  options.filters = parse_filter_chain(filters);
  options.device = create_device("cuda");
  options.mode = mode;
  options.cuda_graphs = graphs;
  PipelineHooks hooks;
  int frames = 0;
  hooks.observe = [&](const AVFrame&) {
    ++frames;
    if (frames == 100) calls.set_counting(true);
    if (frames == 250) calls.set_counting(false);
  };
  Pipeline pipeline(std::move(options), std::move(hooks));
  pipeline.start();
  EXPECT_TRUE(pipeline.wait_for(std::chrono::minutes(1)));
  pipeline.finish();
  std::map<std::string, int> by_name;
  for (const auto& [call, count] : calls.counts()) by_name[call.substr(0, call.find('_'))] += count;
  return by_name;
}

void expect_only_allowed(const std::map<std::string, int>& calls) {
  for (const auto& [name, count] : calls) EXPECT_TRUE(kAllowed.contains(name)) << count << " x " << name;
}

TEST(CudaCalls, SteadyStateNeitherAllocatesNorSynchronisesImplicitly) {
  if (!cuda_unavailable_reason().empty()) GTEST_SKIP() << cuda_unavailable_reason();
  const TemporaryFolder folder;
  make_stamped_clip(folder.file("in.mp4"), 300);
  for (const Mode mode : {Mode::kAsync, Mode::kMultistream}) {
    SCOPED_TRACE(mode_name(mode));
    DriverCalls driver;
    if (!driver.works()) GTEST_SKIP() << "no CUPTI on this machine";
    const std::map<std::string, int> calls = steady_calls(
        folder.file("in.mp4"), "gblur=sigma=2,unsharp,eq=contrast=1.1,lut3d=warm.cube,hqdn3d,tmix,scale=200:100,hflip",
        mode, CudaGraphs::kAuto, driver);
    expect_only_allowed(calls);
    int launches = 0;
    for (const auto& [name, count] : calls) launches += name.starts_with("cuLaunchKernel") ? count : 0;
    EXPECT_GT(launches, 7 * 120) << "a kernel or more a filter and frame";
  }
}

TEST(CudaCalls, GraphsAreLaunchedOnceAFrame) {
  if (!cuda_unavailable_reason().empty()) GTEST_SKIP() << cuda_unavailable_reason();
  const TemporaryFolder folder;
  make_stamped_clip(folder.file("in.mp4"), 300);
  for (const Mode mode : {Mode::kAsync, Mode::kMultistream}) {
    SCOPED_TRACE(mode_name(mode));
    DriverCalls driver;
    if (!driver.works()) GTEST_SKIP() << "no CUPTI on this machine";
    std::map<std::string, int> calls = steady_calls(
        folder.file("in.mp4"), "gblur=sigma=2,unsharp,eq=contrast=1.1,scale=200:100", mode, CudaGraphs::kOn, driver);
    expect_only_allowed(calls);
    EXPECT_NEAR(calls["cuGraphLaunch"], 150, 70);  // the submitter runs ahead of the frames that are counted
    EXPECT_EQ(calls["cuLaunchKernel"] + calls["cuLaunchKernelEx"], 0);
  }
}

}  // namespace
}  // namespace framelane::testing
