#include "app/npp_library.h"

#include <dlfcn.h>

#include <array>
#include <vector>

#include "kernels/cuda/check.h"

namespace framelane::npp {
namespace {

/** libnppc comes first: the others need it, and find it by its name only once it is loaded. */
constexpr std::array kLibraries{"libnppc", "libnppif", "libnppig", "libnppidei", "libnppial"};
constexpr std::array kMajorVersions{"13", "12"};
constexpr std::array kFolders{"", "/usr/local/cuda/lib64/"};

/** Libraries of one version from one folder; empty unless all of them are there. */
std::vector<void*> load_libraries(const std::string& folder, const std::string& version) {
  std::vector<void*> handles;
  for (const char* library : kLibraries) {
    void* handle = dlopen((folder + library + ".so." + version).c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) return {};
    handles.push_back(handle);
  }
  return handles;
}

std::vector<void*> load_newest() {
  for (const char* version : kMajorVersions) {
    for (const char* folder : kFolders) {
      if (std::vector<void*> handles = load_libraries(folder, version); !handles.empty()) return handles;
    }
  }
  return {};
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  FRAMELANE_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

void* find_symbol(const std::string& name) {
  static const std::vector<void*> libraries = load_newest();
  for (void* library : libraries) {
    if (void* symbol = dlsym(library, name.c_str()); symbol != nullptr) return symbol;
  }
  return nullptr;
}

StreamContext current_device_context() {
  StreamContext context;
  FRAMELANE_CUDA(cudaGetDevice(&context.device));
  const int device = context.device;
  context.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
  context.max_threads_per_multiprocessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
  context.max_threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock, device);
  context.shared_memory_per_block = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlock, device));
  context.compute_capability_major = attribute(cudaDevAttrComputeCapabilityMajor, device);
  context.compute_capability_minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
  context.stream_flags = cudaStreamNonBlocking;  // as CudaStream makes them
  return context;
}

}  // namespace framelane::npp
