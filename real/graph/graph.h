// A captured graph and its owner. It knows nothing of what is captured.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "real/cuda/handles.h"

namespace adamant::real {

class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(Graph const&) = delete;
  Graph& operator=(Graph const&) = delete;

  /// Captures what `enqueue` enqueues on `stream` and on streams that fork from it and join it
  /// again, in place of what was captured before. Nothing is executed.
  ///
  /// Errors: CudaError, and what `enqueue` throws; then there is no graph, and no stream captures.
  void record(Stream const& stream, std::function<void()> const& enqueue);
  /// Enqueues one execution. REQUIRES: recorded.
  void launch(Stream const& stream) const;

  explicit operator bool() const { return exec_ != nullptr; }

 private:
  void drop();

  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace adamant::real
