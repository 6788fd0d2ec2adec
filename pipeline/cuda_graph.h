// Beside the frame's way: one frame's work as a CUDA graph. For the CUDA device only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "pipeline/device.h"

namespace framelane {

/** A copy between host and device as it was captured. */
struct CapturedCopy {
  void* device = nullptr;
  std::size_t bytes = 0;  ///< 0: there was none
};

/** Owns a captured graph. */
class GraphHandle {
 public:
  explicit GraphHandle(cudaGraph_t graph) : graph_(graph) {}
  ~GraphHandle() { static_cast<void>(cudaGraphDestroy(graph_)); }
  GraphHandle(const GraphHandle&) = delete;
  GraphHandle& operator=(const GraphHandle&) = delete;
  cudaGraph_t get() const { return graph_; }

  /** The node that copies between the host and `device`. Throws DeviceError where there is none. */
  cudaGraphNode_t find_copy(const void* device) const;

 private:
  cudaGraph_t graph_;
};

/** An executable graph, with the graph that it was made from: its nodes name those of the executable.
 *  Thread: one at a time. Throws DeviceError. */
class CudaGraph : public WorkGraph {
 public:
  /** Takes over `graph`. */
  CudaGraph(cudaGraph_t graph, CapturedCopy up, CapturedCopy down);
  ~CudaGraph() override { static_cast<void>(cudaGraphExecDestroy(executable_)); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  /** False where `graph` has another shape. */
  bool update(const GraphHandle& graph, CapturedCopy up, CapturedCopy down);
  /** The copies are from `up` and to `down` this time. */
  void launch(const std::byte* up, std::byte* down, cudaStream_t stream);

 private:
  GraphHandle graph_;
  cudaGraphExec_t executable_ = nullptr;
  CapturedCopy up_;
  CapturedCopy down_;
  cudaGraphNode_t up_node_;
  cudaGraphNode_t down_node_;
};

}  // namespace framelane
