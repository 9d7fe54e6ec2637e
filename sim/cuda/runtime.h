// The simulated CUDA runtime behind the cloned headers: its state, and the frame of every call.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/cuda/graph.h"
#include "sim/cuda/memory.h"
#include "sim/cuda/unseen.h"
#include "sim/watch/watch.h"
#include "sim/world/assert.h"
#include "sim/world/world.h"

namespace adamant::sim {

struct EventObject {
  std::uint32_t destroyed_by = 0;  // the call's record; 0: it lives
  unsigned flags = 0;
  int device = 0;
  Ticket* recorded = nullptr;  // null until the first record
  // Of a record inside a capture, which makes it a place in that capture: 0 is no capture.
  std::uint64_t captured_by = 0;
  std::vector<std::uint32_t> nodes;
};

/// What CUDA keeps for each host thread.
struct HostState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  Stream* per_thread_stream = nullptr;
  int streams_made = 0;
  std::vector<UnseenError> unseen;
  std::int64_t allocation_calls = 0;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
};

/// A pool of stream-ordered memory: its attributes, and what is allocated from it.
struct Pool {
  int device = 0;
  bool is_default = false;
  bool destroyed = false;
  int reuse[3] = {1, 1, 1};
  std::uint64_t release_threshold = 0;
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
};

struct DeviceState {
  Stream* legacy_stream = nullptr;
  Pool* default_pool = nullptr;
  Pool* current_pool = nullptr;  // null: the default one
};

/// Everything of one process: the world, its memory, its judge and CUDA's own state. Reset for each
/// run, so that the storage of one world serves the next.
struct Runtime {
  World world;
  Memory memory;
  Watch watch{world, memory};
  std::vector<HostState> hosts;
  std::vector<DeviceState> devices;
  std::deque<EventObject> events;
  std::deque<EventObject*> destroyed_events;  // the oldest first
  std::deque<Pool> pools;
  std::vector<std::unique_ptr<Capture>> captures;  // those that go on
  std::uint64_t captures_begun = 0;
  std::deque<Graph> graphs;
  std::deque<GraphExec> execs;
  void const* launch_frame = nullptr;  // of the call of cudaGraphLaunch that goes on
  std::vector<Setting> settings;

  HostState& host() { return hosts[static_cast<std::size_t>(world.host()->rank)]; }
};

/// The runtime of the run that goes on in this process; null outside of one.
extern constinit Runtime* current_runtime;
/// Does this thread run it? Ranks are fibers of one thread, and no other one may call anything.
extern constinit thread_local bool runs_world;

// ---- the frame of a call -----------------------------------------------------------------------

/// Why a call cannot be served at all, or cudaSuccess: no run (as where there is no device), a
/// thread that is no rank's, which is told (error.thread), inside a host function or a parallel
/// loop, or after the end of the world. `call` is its name.
cudaError_t refusal(char const* call);

/// Runs `body(runtime)` as one call of the host program: accesses of the simulator itself do not
/// count, and an error becomes the rank's last one. `name` is that of the calling function.
template <typename Body>
cudaError_t call(Body&& body, char const* name = __builtin_FUNCTION()) {
  if (cudaError_t const error = refusal(name); error != cudaSuccess) return error;
  Watch* const watched = active_watch;
  active_watch = nullptr;
  Runtime& runtime = *current_runtime;
  TracedCall const traced(runtime.world, name);
  cudaError_t const result = body(runtime);
  if (result != cudaSuccess && result != cudaErrorNotReady) runtime.host().last_error = result;
  runtime.world.mix(static_cast<std::uint64_t>(result));
  active_watch = watched;
  return result;
}

/// What a call wrote for the program: the calling host's access. Outside of a run nobody watches.
void note_given(void const* address, std::uint64_t bytes);

/// Writes a result where the program wants it, which may be pinned memory.
template <typename T>
void give(T* to, std::type_identity_t<T> const& value) {
  *to = value;
  note_given(to, sizeof(T));
}

// ---- streams and operations ---------------------------------------------------------------------

/// Reports the use of a destroyed handle, which CUDA leaves undefined.
void report_destroyed(Runtime& runtime, char const* what, std::uint32_t destroyed_by,
                      std::string const& name = "");
/// The stream behind a handle, or null (then a destroyed one has been reported).
Stream* stream_of(Runtime& runtime, cudaStream_t handle);
EventObject* event_of(Runtime& runtime, cudaEvent_t handle);
Stream& legacy_stream(Runtime& runtime, int device);
Pool& default_pool(Runtime& runtime, int device);
/// The pool from which cudaMallocAsync takes on this device.
Pool& current_pool(Runtime& runtime, int device);

/// Pushes an operation, ordered against the legacy default stream as CUDA says, or captures it;
/// then lets the scheduler choose who goes on. Errors: cudaErrorUnknown if the world ended, those
/// of judge_work().
cudaError_t enqueue(Runtime& runtime, Stream& stream, StreamOperation& operation);
/// Orders what comes next in `stream` against the legacy default stream of its device.
void order_against_legacy(Runtime& runtime, Stream& stream);
Ticket& enqueue_record(Runtime& runtime, Stream& stream);
void enqueue_wait(Runtime& runtime, Stream& stream, Ticket& ticket);
inline cudaError_t result_of(bool world_goes_on) {
  return world_goes_on ? cudaSuccess : cudaErrorUnknown;
}

/// The host waits for all work of a device; false if the world ended meanwhile.
bool wait_for_device(Runtime& runtime, int device, char const* call);

/// Adds the record of a call that the calling host makes now: reports may name its line.
std::uint32_t record_call(Runtime& runtime, OperationKind kind, char const* name,
                          std::uint64_t bytes = 0);
/// The moment of the calling host's code, under a record of its own.
Touch host_touch(Runtime& runtime, OperationKind kind, char const* name, std::uint64_t bytes);

/// Forgets pageable buffers whose copies the host has waited for.
void forget_finished_copies(Runtime& runtime);

// The simulator's own loads and stores, which no wrapper of memcpy and memset sees.
void raw_copy(void* to, void const* from, std::uint64_t bytes);

}  // namespace adamant::sim
