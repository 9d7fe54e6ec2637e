// Graphs and their launches: branches are laid out once, and each launch enqueues every node again
// with the knowledge of the host that launches it.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/cuda/graph.h"
#include "sim/cuda/runtime.h"

namespace adamant::sim {

bool lives(Runtime const& runtime, Graph const& graph) {
  auto const& execs = runtime.execs;
  return graph.destroyed_by == 0 || std::any_of(execs.begin(), execs.end(), [&](auto const& exec) {
           return exec.graph == &graph && exec.destroyed_by == 0;
         });
}

}  // namespace adamant::sim

using namespace adamant::sim;

namespace {

constexpr unsigned long long known_flags =
    cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
    cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;

template <typename Object, typename Handle>
Object* object_of(Runtime& runtime, Handle handle, char const* what) {
  auto* const object = reinterpret_cast<Object*>(handle);
  if (object == nullptr || object->destroyed_by == 0) return object;
  report_destroyed(runtime, what, object->destroyed_by);
  return nullptr;
}

// ---- layout ------------------------------------------------------------------------------------

// A node continues the branch of a dependency that is still that branch's last node.
void lay_out(GraphExec& exec) {
  std::deque<GraphNode> const& nodes = exec.graph->nodes;
  std::vector<std::uint32_t> last;  // node of each branch
  exec.awaited.assign(nodes.size(), false);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    std::uint32_t branch = static_cast<std::uint32_t>(last.size());
    for (std::uint32_t const before : nodes[i].after) {
      if (last[exec.branch_of[before]] == before) branch = exec.branch_of[before];
    }
    if (branch == last.size()) last.push_back(i);
    last[branch] = i;
    exec.branch_of.push_back(branch);
    for (std::uint32_t const before : nodes[i].after) {
      if (exec.branch_of[before] != branch) exec.awaited[before] = true;
    }
  }
  exec.branches = static_cast<std::uint32_t>(last.size());
}

void make_streams(Runtime& runtime, GraphExec& exec, Stream const& launch_stream) {
  if (!exec.streams.empty()) return;
  exec.streams.push_back(nullptr);
  for (std::uint32_t i = 1; i < exec.branches; ++i) {
    Stream& stream = runtime.world.add_stream(launch_stream.device, cudaStreamNonBlocking, 0);
    stream.name = fmt::format("branch {} of the graph of {}", i, exec.graph->name);
    exec.streams.push_back(&stream);
  }
}

// ---- what a launch judges ----------------------------------------------------------------------

void report_scalar(Runtime& runtime, GraphNode const& node, HeldScalar const& scalar) {
  Setting const& setting = runtime.settings[scalar.settings.front()];
  auto const value = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  Violation violation;
  violation.law = Law::graph_scalar;
  violation.breach = Breach::stale_setting;
  violation.about = setting.name;
  violation.rank = runtime.world.host()->rank;
  violation.operation = runtime.world.host()->program_operation;
  violation.message = fmt::format(
      "{} of a graph holds {} = {} by value since its capture; by now it is {}",
      symbol_name(node.function), setting.name, value(scalar.bits), value(setting.bits));
  violation.missing = "capture again, or read the setting from device memory";
  violation.related.push_back(runtime.world.related("captured", node.call));
  runtime.world.add_violation(std::move(violation));
}

void judge_scalars(Runtime& runtime, Graph const& graph) {
  for (GraphNode const& node : graph.nodes) {
    for (HeldScalar const& scalar : node.scalars) {
      bool const current = std::any_of(
          scalar.settings.begin(), scalar.settings.end(),
          [&](std::size_t setting) { return runtime.settings[setting].bits == scalar.bits; });
      if (!current) report_scalar(runtime, node, scalar);
    }
  }
}

// ---- launch ------------------------------------------------------------------------------------

void push_event(Runtime& runtime, GraphNode const& node, Stream& stream) {
  EventObject& event = *node.event;
  if (node.kind == OperationKind::record) {
    event.captured_by = 0;
    event.recorded = &enqueue_record(runtime, stream);
  } else if (event.recorded != nullptr) {
    enqueue_wait(runtime, stream, *event.recorded);
  }
}

void push_node(Runtime& runtime, GraphNode const& node, Stream& stream) {
  if (node.event != nullptr) return push_event(runtime, node, stream);
  if (node.issue) return node.issue(stream, node);
  StreamOperation& operation = runtime.world.make(node.kind, node.name, node.bytes, node.function);
  runtime.world.stems_from(operation, node.call);
  operation.cost_ns = node.cost_ns;
  operation.path = node.path;
  operation.node = &node;
  if (node.prepare) {
    operation.body = node.prepare();
    operation.may_fault = true;  // a copy, whose ends may have gone since the capture
  } else {
    operation.body = [&node] { node.body(); };
  }
  runtime.world.push(stream, operation);
}

// The launch stream and all branches: ordered after what is before the launch, each node after its
// dependencies, and the launch stream after everything.
void push_nodes(Runtime& runtime, GraphExec& exec, Stream& launch_stream) {
  auto const stream_at = [&](std::uint32_t branch) -> Stream& {
    return branch == 0 ? launch_stream : *exec.streams[branch];
  };
  if (exec.branches > 1) {
    Ticket& begun = enqueue_record(runtime, launch_stream);
    for (std::uint32_t b = 1; b < exec.branches; ++b) {
      enqueue_wait(runtime, stream_at(b), begun);
    }
  }
  std::deque<GraphNode> const& nodes = exec.graph->nodes;
  std::vector<Ticket*> done(nodes.size(), nullptr);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    Stream& stream = stream_at(exec.branch_of[i]);
    for (std::uint32_t const before : nodes[i].after) {
      if (exec.branch_of[before] != exec.branch_of[i]) enqueue_wait(runtime, stream, *done[before]);
    }
    push_node(runtime, nodes[i], stream);
    if (exec.awaited[i]) done[i] = &enqueue_record(runtime, stream);
  }
  for (std::uint32_t b = 1; b < exec.branches; ++b) {
    enqueue_wait(runtime, launch_stream, enqueue_record(runtime, stream_at(b)));
  }
}

cudaError_t launch(Runtime& runtime, GraphExec& exec, Stream& stream) {
  if (cudaError_t const error = judge_work(runtime, stream, "cudaGraphLaunch");
      error != cudaSuccess) {
    return error;
  }
  if (cudaError_t const error =
          judge_uncapturable(runtime, stream, "cudaGraphLaunch", cudaErrorNotSupported);
      error != cudaSuccess) {
    return error;
  }
  judge_scalars(runtime, *exec.graph);
  make_streams(runtime, exec, stream);
  order_against_legacy(runtime, stream);
  if (exec.last_stream != nullptr && exec.last_stream != &stream) {
    enqueue_wait(runtime, stream, *exec.last_launch);
  }
  push_nodes(runtime, exec, stream);
  exec.last_launch = &enqueue_record(runtime, stream);
  exec.last_stream = &stream;
  return result_of(runtime.world.yield());
}

cudaGraphNodeType type_of(GraphNode const& node) {
  switch (node.kind) {
    case OperationKind::copy:
      return cudaGraphNodeTypeMemcpy;
    case OperationKind::fill:
      return cudaGraphNodeTypeMemset;
    case OperationKind::host_function:
      return cudaGraphNodeTypeHost;
    case OperationKind::record:
      return cudaGraphNodeTypeEventRecord;
    case OperationKind::wait:
      return cudaGraphNodeTypeWaitEvent;
    default:
      return cudaGraphNodeTypeKernel;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return call([&](Runtime& runtime) -> cudaError_t {
    auto* const graph = object_of<Graph>(runtime, handle, "graph");
    if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
    std::size_t const size = graph->nodes.size();
    if (nodes != nullptr) {
      for (std::size_t i = 0; i < *count; ++i) {
        give(nodes + i, i < size ? reinterpret_cast<cudaGraphNode_t>(&graph->nodes[i]) : nullptr);
      }
    }
    give(count, nodes == nullptr ? size : std::min(*count, size));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&](Runtime&) -> cudaError_t {
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    give(type, type_of(*reinterpret_cast<GraphNode const*>(node)));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    auto* const graph = object_of<Graph>(runtime, handle, "graph");
    if (graph == nullptr) return cudaErrorInvalidValue;
    // What was made of it keeps its nodes.
    graph->destroyed_by = record_call(runtime, OperationKind::host, "cudaGraphDestroy");
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* result, cudaGraph_t handle,
                                 unsigned long long flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    auto* const graph = object_of<Graph>(runtime, handle, "graph");
    if (graph == nullptr || result == nullptr) return cudaErrorInvalidValue;
    if ((flags & ~known_flags) != 0) return cudaErrorInvalidValue;
    cudaError_t const error = judge_unsafe(runtime, "cudaGraphInstantiate");
    if (error != cudaSuccess) return error;
    if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) return cudaErrorNotSupported;
    GraphExec& exec = runtime.execs.emplace_back();
    exec.graph = graph;
    lay_out(exec);
    give(result, reinterpret_cast<cudaGraphExec_t>(&exec));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* result, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(result, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream) {
  return call([&](Runtime& runtime) -> cudaError_t {
    auto const* const exec = object_of<GraphExec>(runtime, handle, "executable graph");
    if (exec == nullptr || stream_of(runtime, stream) == nullptr) return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  void const* const frame = __builtin_frame_address(0);
  return call([&](Runtime& runtime) -> cudaError_t {
    auto* const exec = object_of<GraphExec>(runtime, handle, "executable graph");
    if (exec == nullptr) return cudaErrorInvalidValue;
    Stream* const stream = stream_of(runtime, stream_handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    runtime.launch_frame = frame;
    return launch(runtime, *exec, *stream);
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    auto* const exec = object_of<GraphExec>(runtime, handle, "executable graph");
    if (exec == nullptr) return cudaErrorInvalidValue;
    // Launches that are enqueued still run.
    exec->destroyed_by = record_call(runtime, OperationKind::host, "cudaGraphExecDestroy");
    return cudaSuccess;
  });
}

}  // extern "C"
