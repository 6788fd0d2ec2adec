// Beside the frame's way: one frame's work as a CUDA graph.
#include "pipeline/cuda_graph.h"

#include <vector>

#include "kernels/cuda/check.h"
#include "kernels/errors.h"

namespace framelane {

cudaGraphNode_t GraphHandle::find_copy(const void* device) const {
  std::size_t count = 0;
  FRAMELANE_CUDA(cudaGraphGetNodes(graph_, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  FRAMELANE_CUDA(cudaGraphGetNodes(graph_, nodes.data(), &count));
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    FRAMELANE_CUDA(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeMemcpy) continue;
    cudaMemcpy3DParms copy{};
    FRAMELANE_CUDA(cudaGraphMemcpyNodeGetParams(node, &copy));
    const bool within_device = copy.kind == cudaMemcpyDeviceToDevice;
    if (!within_device && (copy.dstPtr.ptr == device || copy.srcPtr.ptr == device)) return node;
  }
  throw DeviceError("CUDA: the captured graph has no node that copies the frame");
}

CudaGraph::CudaGraph(cudaGraph_t graph, CapturedCopy up, CapturedCopy down)
    : graph_(graph),
      up_(up),
      down_(down),
      up_node_(up.bytes > 0 ? graph_.find_copy(up.device) : nullptr),
      down_node_(down.bytes > 0 ? graph_.find_copy(down.device) : nullptr) {
  FRAMELANE_CUDA(cudaGraphInstantiate(&executable_, graph, 0));
}

bool CudaGraph::update(const GraphHandle& graph, CapturedCopy up, CapturedCopy down) {
  cudaGraphExecUpdateResultInfo result{};
  if (cudaGraphExecUpdate(executable_, graph.get(), &result) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  up_ = up;
  down_ = down;
  return true;
}

void CudaGraph::launch(const std::byte* up, std::byte* down, cudaStream_t stream) {
  if (up_node_ != nullptr) {
    FRAMELANE_CUDA(
        cudaGraphExecMemcpyNodeSetParams1D(executable_, up_node_, up_.device, up, up_.bytes, cudaMemcpyHostToDevice));
  }
  if (down_node_ != nullptr) {
    FRAMELANE_CUDA(cudaGraphExecMemcpyNodeSetParams1D(executable_, down_node_, down, down_.device, down_.bytes,
                                                      cudaMemcpyDeviceToHost));
  }
  FRAMELANE_CUDA(cudaGraphLaunch(executable_, stream));
}

}  // namespace framelane
