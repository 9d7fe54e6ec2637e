#include "real/graph/graph.h"

#include <utility>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

Graph::~Graph() {
  drop();
}

void Graph::drop() {
  if (exec_ != nullptr) static_cast<void>(cudaGraphExecDestroy(std::exchange(exec_, nullptr)));
}

// Thread-local: other threads of the process may allocate meanwhile, and pollers may poll.
void Graph::record(Stream const& stream, std::function<void()> const& enqueue) {
  drop();
  ADAMANT_TRY(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    enqueue();
  } catch (...) {
    if (cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess)
      static_cast<void>(cudaGraphDestroy(graph));
    throw;
  }
  ADAMANT_TRY(cudaStreamEndCapture(stream.get(), &graph));
  cudaError_t const error = cudaGraphInstantiate(&exec_, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  ADAMANT_TRY(error);
}

void Graph::launch(Stream const& stream) const {
  ADAMANT_REAL_ASSERT(exec_ != nullptr);
  ADAMANT_TRY(cudaGraphLaunch(exec_, stream.get()));
}

}  // namespace adamant::real
