// Stream capture: which streams take part, what each node comes after, and what its arguments hold.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "sim/cuda/graph.h"
#include "sim/cuda/region.h"
#include "sim/cuda/runtime.h"
#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

void merge(std::vector<std::uint32_t>& into, std::vector<std::uint32_t> const& nodes) {
  for (std::uint32_t const node : nodes) {
    if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
  }
}

// Settings whose bits could be part of an address or a small number say nothing where they appear.
bool is_distinctive(std::uint32_t bits) {
  return (bits & 0xF) != 0 && bits >= 0x00800000;
}

void hold_setting(Runtime& runtime, GraphNode& node, std::uint32_t bits) {
  if (!is_distinctive(bits)) return;
  HeldScalar scalar{.bits = bits, .settings = {}};
  int const rank = runtime.world.host()->rank;
  for (std::size_t i = 0; i < runtime.settings.size(); ++i) {
    Setting const& setting = runtime.settings[i];
    if (setting.rank == rank && setting.bits == bits) scalar.settings.push_back(i);
  }
  if (!scalar.settings.empty()) node.scalars.push_back(std::move(scalar));
}

}  // namespace

Capture::Member* Capture::find(Stream const& stream) {
  auto const found = std::find_if(members.begin(), members.end(),
                                  [&](Member const& member) { return member.stream == &stream; });
  return found == members.end() ? nullptr : &*found;
}

Capture* capture_of(Runtime& runtime, Stream const& stream) {
  for (auto const& capture : runtime.captures) {
    if (capture->find(stream) != nullptr) return capture.get();
  }
  return nullptr;
}

Capture* capture_with(Runtime& runtime, std::uint64_t id) {
  for (auto const& capture : runtime.captures) {
    if (capture->id == id) return capture.get();
  }
  return nullptr;
}

GraphNode& add_node(Runtime& runtime, Capture& capture, Stream& stream, std::uint32_t call) {
  OperationRecord const& record = runtime.world.record(call);
  Capture::Member& member = *capture.find(stream);
  GraphNode& node = capture.graph->nodes.emplace_back();
  node.kind = record.kind;
  node.name = record.name;
  node.function = record.function;
  node.bytes = record.bytes;
  node.call = call;
  node.after =
      std::exchange(member.tail, {static_cast<std::uint32_t>(capture.graph->nodes.size() - 1)});
  return node;
}

void capture_operation(Runtime& runtime, Capture& capture, Stream& stream,
                       StreamOperation& operation) {
  GraphNode& node = add_node(runtime, capture, stream, operation.id);
  node.cost_ns = operation.cost_ns;
  node.body = std::move(operation.body);
  runtime.world.discard(operation);
}

GraphNode* newest_node(Runtime& runtime, Stream const& stream) {
  Capture* const capture = capture_of(runtime, stream);
  if (capture == nullptr || capture->invalidated) return nullptr;
  Capture::Member const& member = *capture->find(stream);
  return member.tail.size() == 1 ? &capture->graph->nodes[member.tail.front()] : nullptr;
}

void hold_address(Runtime& runtime, GraphNode& node, void const* address) {
  Allocation* held = nullptr;
  if (region_offset(address) < region_bytes) {
    held = runtime.memory.find_live(address);
  } else {
    held = runtime.memory.find_present(address);  // registered host memory
    if (held != nullptr && held->kind != AllocationKind::registered) held = nullptr;
  }
  bool const known = std::find(node.holds.begin(), node.holds.end(), held) != node.holds.end();
  if (held == nullptr || known) return;
  held->kept = true;
  node.holds.push_back(held);
}

void hold_arguments(Runtime& runtime, GraphNode& node, void const* bytes, std::size_t size) {
  auto const* const begin = static_cast<char const*>(bytes);
  for (std::size_t at = 0; at + sizeof(void*) <= size; at += sizeof(void*)) {
    void const* address = nullptr;
    std::memcpy(&address, begin + at, sizeof address);
    hold_address(runtime, node, address);
  }
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= size; at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, begin + at, sizeof word);
    hold_setting(runtime, node, word);
  }
}

void join_capture(Capture& capture, Stream& stream, std::vector<std::uint32_t> const& nodes) {
  Capture::Member* member = capture.find(stream);
  if (member == nullptr) member = &capture.members.emplace_back(Capture::Member{&stream, {}});
  merge(member->tail, nodes);
}

Mark mark(Runtime& runtime, Stream& stream) {
  if (Capture* const capture = capture_of(runtime, stream)) {
    return {.capture = capture, .nodes = capture->find(stream)->tail};
  }
  order_against_legacy(runtime, stream);
  return {.ticket = &enqueue_record(runtime, stream), .nodes = {}};
}

void wait_for(Runtime& runtime, Stream& stream, Mark const& mark) {
  if (mark.capture != nullptr) return join_capture(*mark.capture, stream, mark.nodes);
  enqueue_wait(runtime, stream, *mark.ticket);
}

}  // namespace adamant::sim

using namespace adamant::sim;

namespace {

bool is_legacy(cudaStream_t handle) {
  return handle == nullptr || handle == cudaStreamLegacy;
}

cudaError_t begin(Runtime& runtime, cudaStream_t handle, cudaStreamCaptureMode mode) {
  bool const known = mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed;
  if (!known) return cudaErrorInvalidValue;
  if (is_legacy(handle)) return cudaErrorStreamCaptureUnsupported;
  Stream* const stream = stream_of(runtime, handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (capture_of(runtime, *stream) != nullptr) return cudaErrorIllegalState;
  Capture& capture = *runtime.captures.emplace_back(std::make_unique<Capture>());
  capture.id = ++runtime.captures_begun;
  capture.graph = &runtime.graphs.emplace_back();
  capture.graph->name = stream->name;
  capture.origin = stream;
  capture.host = runtime.world.host();
  capture.mode = mode;
  capture.members.push_back({stream, {}});
  return cudaSuccess;
}

// All work must lead back to the origin: whatever its last nodes do not come after is left over.
bool is_joined(Capture& capture) {
  std::deque<GraphNode> const& nodes = capture.graph->nodes;
  std::vector<bool> reached(nodes.size(), false);
  for (std::uint32_t const node : capture.find(*capture.origin)->tail) reached[node] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!reached[i]) return false;
    for (std::uint32_t const before : nodes[i].after) reached[before] = true;
  }
  return true;
}

cudaError_t finish(Runtime& runtime, Capture& capture, cudaGraph_t* result) {
  cudaError_t error = capture.invalidated ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  if (error == cudaSuccess && !is_joined(capture)) {
    error = invalidate(runtime, capture, "cudaStreamEndCapture", cudaErrorStreamCaptureUnjoined,
                       "work of another stream was not joined to it");
  }
  bool const is_taken = error == cudaSuccess && result != nullptr;
  if (result != nullptr)
    give(result, is_taken ? reinterpret_cast<cudaGraph_t>(capture.graph) : nullptr);
  if (!is_taken) {  // nobody has it
    capture.graph->destroyed_by = record_call(runtime, OperationKind::host, "cudaStreamEndCapture");
  }
  std::erase_if(runtime.captures, [&](auto const& other) { return other.get() == &capture; });
  return error;
}

cudaError_t end(Runtime& runtime, cudaStream_t handle, cudaGraph_t* result) {
  if (is_legacy(handle)) return cudaErrorIllegalState;
  Stream* const stream = stream_of(runtime, handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  Capture* const capture = capture_of(runtime, *stream);
  if (capture == nullptr) return cudaErrorIllegalState;
  if (result != nullptr) give(result, nullptr);
  bool const same_thread = capture->host == runtime.world.host();
  if (!same_thread && capture->mode != cudaStreamCaptureModeRelaxed) {
    return invalidate(runtime, *capture, "cudaStreamEndCapture", cudaErrorStreamCaptureWrongThread,
                      "another thread began the capture");
  }
  if (capture->origin != stream) {
    return invalidate(runtime, *capture, "cudaStreamEndCapture", cudaErrorStreamCaptureUnmatched,
                      "the capture began on another stream");
  }
  return finish(runtime, *capture, result);
}

cudaStreamCaptureStatus status_of(Capture const* capture) {
  if (capture == nullptr) return cudaStreamCaptureStatusNone;
  return capture->invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

// Asking is harmless, except that the legacy stream has no answer beside a blocking capture.
cudaError_t find_capture(Runtime& runtime, cudaStream_t handle, Capture*& capture) {
  Stream* const stream = stream_of(runtime, handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  capture = capture_of(runtime, *stream);
  return stream->is_legacy_default && blocks_legacy(runtime, stream->device)
             ? cudaErrorStreamCaptureImplicit
             : cudaSuccess;
}

struct CaptureInfo {
  cudaStreamCaptureStatus* status = nullptr;
  unsigned long long* id = nullptr;
  cudaGraph_t* graph = nullptr;
  cudaGraphNode_t const** dependencies = nullptr;
  cudaGraphEdgeData const** edges = nullptr;
  std::size_t* count = nullptr;
};

void tell(Capture& capture, Stream const& stream, CaptureInfo const& info) {
  std::vector<std::uint32_t> const& tail = capture.find(stream)->tail;
  capture.shown.clear();
  for (std::uint32_t const node : tail) {
    capture.shown.push_back(reinterpret_cast<cudaGraphNode_t>(&capture.graph->nodes[node]));
  }
  if (info.id != nullptr) give(info.id, capture.id);
  if (info.graph != nullptr) give(info.graph, reinterpret_cast<cudaGraph_t>(capture.graph));
  if (info.dependencies != nullptr) give(info.dependencies, capture.shown.data());
  if (info.edges != nullptr) give(info.edges, nullptr);
  if (info.count != nullptr) give(info.count, tail.size());
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&](Runtime& runtime) { return begin(runtime, stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&](Runtime& runtime) { return end(runtime, stream, graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (status == nullptr) return cudaErrorInvalidValue;
    Capture* capture = nullptr;
    cudaError_t const error = find_capture(runtime, handle, capture);
    if (error == cudaSuccess) give(status, status_of(capture));
    return error;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     cudaGraphNode_t const** dependencies,
                                     cudaGraphEdgeData const** edges, std::size_t* count) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (status == nullptr) return cudaErrorInvalidValue;
    Capture* capture = nullptr;
    cudaError_t const error = find_capture(runtime, handle, capture);
    if (error != cudaSuccess) return error;
    give(status, status_of(capture));
    if (status_of(capture) != cudaStreamCaptureStatusActive) return cudaSuccess;
    tell(*capture, *stream_of(runtime, handle),
         {.status = status,
          .id = id,
          .graph = graph,
          .dependencies = dependencies,
          .edges = edges,
          .count = count});
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&](Runtime& runtime) -> cudaError_t {
    bool const known = mode != nullptr && *mode >= cudaStreamCaptureModeGlobal &&
                       *mode <= cudaStreamCaptureModeRelaxed;
    if (!known) return cudaErrorInvalidValue;
    give(mode, std::exchange(runtime.host().capture_mode, *mode));
    return cudaSuccess;
  });
}

}  // extern "C"
