// Captured work: a capture gathers operations instead of letting streams have them, a graph keeps
// them with their edges, and an executable graph enqueues them again at each launch.
//
// Simplified: a branch of a graph runs on a stream of its own, the first on the launch stream, so
// that all a launch adds to the world are operations, records and waits. Not modelled: graphs built
// or changed node by node, memory nodes, child graphs, conditional nodes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "sim/cuda/memory.h"
#include "sim/world/operation.h"
#include "sim/world/world.h"

namespace adamant::sim {

struct EventObject;
struct Runtime;

/// A word of a kernel's arguments that was a setting of the program when it was captured.
struct HeldScalar {
  std::uint32_t bits = 0;
  std::vector<std::size_t> settings;  // those that had this value, as indices of Runtime::settings
};

/// One operation as a capture found it: arguments are values from then on, memory is read and
/// written anew by each launch.
struct GraphNode {
  OperationKind kind = OperationKind::kernel;
  char const* name = "";
  void const* function = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t cost_ns = 0;
  CopyPath path = CopyPath::none;
  std::uint32_t call = 0;  // the record of the captured call
  Work body;
  /// Copies with a pageable end: prepares one launch and returns its body.
  std::function<Work()> prepare;
  /// Collectives: issues the rank's side on a stream.
  std::function<void(Stream&, GraphNode const&)> issue;
  EventObject* event = nullptr;      // of external records and waits
  std::vector<std::uint32_t> after;  // the nodes that must run before
  std::vector<Allocation*> holds;    // what its arguments point to
  std::vector<HeldScalar> scalars;
};

struct Graph {
  std::deque<GraphNode> nodes;  // every edge points to an earlier one
  std::string name;
  std::uint32_t destroyed_by = 0;  // the call's record; 0: it lives
};

/// How a graph is laid out on streams: a node follows one of its dependencies on that one's branch
/// if it can, and begins a branch otherwise. Branch 0 is the launch stream.
struct GraphExec {
  Graph const* graph = nullptr;
  std::uint32_t destroyed_by = 0;        // the call's record; 0: it lives
  std::vector<std::uint32_t> branch_of;  // by node
  std::vector<bool> awaited;             // by node: another branch waits for it
  std::uint32_t branches = 0;
  std::vector<Stream*> streams;  // by branch, made at the first launch; 0 is null
  Ticket* last_launch = nullptr;
  Stream* last_stream = nullptr;
};

/// A capture from its begin to its end.
struct Capture {
  /// A stream that takes part, and the nodes that its next one comes after.
  struct Member {
    Stream* stream = nullptr;
    std::vector<std::uint32_t> tail;
  };
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  Stream* origin = nullptr;
  Host* host = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool invalidated = false;
  std::vector<Member> members;
  std::vector<cudaGraphNode_t> shown;  // what cudaStreamGetCaptureInfo pointed to

  Member* find(Stream const& stream);
};

/// A setting of the program, as sim::note_setting announced it last.
struct Setting {
  int rank = 0;
  std::string name;
  std::uint32_t bits = 0;
  int program_operation = -1;
};

// ---- captures ----------------------------------------------------------------------------------

/// The capture in which a stream takes part, or null.
Capture* capture_of(Runtime& runtime, Stream const& stream);
/// The active capture with this id, or null.
Capture* capture_with(Runtime& runtime, std::uint64_t id);

/// Adds what a call does to the stream's branch. `call` is its record, which tells what it is.
GraphNode& add_node(Runtime& runtime, Capture& capture, Stream& stream, std::uint32_t call);
/// Can it be launched still, or anything be made of it that can?
bool lives(Runtime const& runtime, Graph const& graph);

/// Turns a made operation into a node and discards it.
void capture_operation(Runtime& runtime, Capture& capture, Stream& stream,
                       StreamOperation& operation);
/// The node that was captured last on this stream; null where it does not capture.
GraphNode* newest_node(Runtime& runtime, Stream const& stream);
/// Notes what memory and which settings the arguments of a captured kernel hold.
void hold_arguments(Runtime& runtime, GraphNode& node, void const* bytes, std::size_t size);
void hold_address(Runtime& runtime, GraphNode& node, void const* address);

/// What comes next on a stream waits for `nodes` of the capture; the stream joins it if need be.
void join_capture(Capture& capture, Stream& stream, std::vector<std::uint32_t> const& nodes);

/// The point that a stream has reached, as an event would record it, captured or not.
struct Mark {
  Ticket* ticket = nullptr;
  Capture* capture = nullptr;
  std::vector<std::uint32_t> nodes;
};
Mark mark(Runtime& runtime, Stream& stream);
void wait_for(Runtime& runtime, Stream& stream, Mark const& mark);

// ---- what captures forbid ----------------------------------------------------------------------
// Each returns cudaSuccess where the call is allowed. Otherwise the captures that forbid it are
// invalidated, which is a violation of the law graph.capture.

/// Work for a stream: 906 for the legacy stream beside a blocking stream that captures, 901 in an
/// invalidated capture.
cudaError_t judge_work(Runtime& runtime, Stream const& stream, char const* call);
/// Does a blocking stream of the device capture, so that its legacy stream cannot be used?
bool blocks_legacy(Runtime& runtime, int device);
/// Waiting for or asking a stream.
cudaError_t judge_wait(Runtime& runtime, Stream const& stream, char const* call);
/// Waiting for or asking an event.
cudaError_t judge_wait(Runtime& runtime, EventObject const& event, char const* call);
/// Waiting for a device.
cudaError_t judge_device_wait(Runtime& runtime, int device, char const* call);
/// A call that CUDA says may be unsafe during a capture.
cudaError_t judge_unsafe(Runtime& runtime, char const* call);
/// A call that cannot be captured at all.
cudaError_t judge_uncapturable(Runtime& runtime, Stream const& stream, char const* call,
                               cudaError_t error);
/// Freeing in stream order what is not of the graph, and no memory is: refused with a report, and
/// the capture goes on.
cudaError_t judge_foreign_free(Runtime& runtime, Stream const& stream);
/// Invalidates the capture, with a report, and returns `error`.
cudaError_t invalidate(Runtime& runtime, Capture& capture, char const* call, cudaError_t error,
                       std::string const& why);

}  // namespace adamant::sim
