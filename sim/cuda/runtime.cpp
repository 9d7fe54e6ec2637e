#include "sim/cuda/runtime.h"

#include <algorithm>
#include <cstring>

#include "sim/cuda/foreign_calls.h"

namespace adamant::sim {

constinit Runtime* current_runtime = nullptr;
constinit thread_local bool runs_world = false;

namespace {

// Such a thread may not even look at the runtime, which the world's own changes. One of the crew
// may: while it works the world waits for it.
bool is_foreign() {
  return !runs_world && !Crew::is_here();
}

}  // namespace

cudaError_t refusal(char const* call) {
  if (is_foreign()) return refuse_foreign_call(call);
  if (current_runtime == nullptr) return cudaErrorNoDevice;
  if (current_runtime->world.ended()) return cudaErrorUnknown;
  if (current_runtime->world.host() == nullptr) return cudaErrorNotPermitted;
  return cudaSuccess;
}

void note_given(void const* address, std::uint64_t bytes) {
  if (current_runtime == nullptr || current_runtime->world.host() == nullptr) return;
  current_runtime->watch.range(address, bytes, AccessKind::write);
}

Stream& legacy_stream(Runtime& runtime, int device) {
  DeviceState& state = runtime.devices[static_cast<std::size_t>(device)];
  if (state.legacy_stream == nullptr) {
    Stream& stream = runtime.world.add_stream(device, cudaStreamDefault, 0);
    stream.is_legacy_default = true;
    stream.name = "default";
    state.legacy_stream = &stream;
  }
  return *state.legacy_stream;
}

namespace {

Stream& per_thread_stream(Runtime& runtime) {
  HostState& host = runtime.host();
  if (host.per_thread_stream == nullptr) {
    host.per_thread_stream = &runtime.world.add_stream(host.device, cudaStreamDefault, 0);
    host.per_thread_stream->name = "per-thread default";
  }
  return *host.per_thread_stream;
}

}  // namespace

void report_destroyed(Runtime& runtime, char const* what, std::uint32_t destroyed_by,
                      std::string const& name) {
  Violation violation;
  violation.law = Law::access_lifetime;
  violation.breach = Breach::destroyed_handle;
  violation.about = what;
  violation.rank = runtime.world.host()->rank;
  violation.operation = runtime.world.host()->program_operation;
  violation.message =
      std::string("a destroyed ") + what + " is used" + (name.empty() ? "" : ": `" + name + "`");
  violation.related.push_back(runtime.world.related("destroyed", destroyed_by));
  runtime.world.add_violation(std::move(violation));
}

namespace {

bool is_blocking(Stream const& stream) {
  return !stream.is_legacy_default && (stream.flags & cudaStreamNonBlocking) == 0;
}

}  // namespace

// Work in the legacy default stream waits for all earlier work of the device's blocking streams,
// and their later work waits for it.
void order_against_legacy(Runtime& runtime, Stream& stream) {
  Stream* const legacy = runtime.devices[static_cast<std::size_t>(stream.device)].legacy_stream;
  if (legacy == nullptr || (!stream.is_legacy_default && !is_blocking(stream))) return;
  if (!stream.is_legacy_default) {
    if (legacy->enqueued == stream.knows_of_legacy) return;
    Ticket& ticket = enqueue_record(runtime, *legacy);
    stream.knows_of_legacy = legacy->enqueued;
    enqueue_wait(runtime, stream, ticket);
    return;
  }
  for (Stream& other : runtime.world.streams()) {
    if (other.device != stream.device || !is_blocking(other)) continue;
    if (other.enqueued == other.known_to_legacy) continue;
    Ticket& ticket = enqueue_record(runtime, other);
    other.known_to_legacy = other.enqueued;
    enqueue_wait(runtime, stream, ticket);
  }
}

Stream* stream_of(Runtime& runtime, cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return &legacy_stream(runtime, runtime.host().device);
  }
  if (handle == cudaStreamPerThread) return &per_thread_stream(runtime);
  auto* const stream = reinterpret_cast<Stream*>(handle);
  if (stream->destroyed_by == 0) return stream;
  report_destroyed(runtime, "stream", stream->destroyed_by, stream->name);
  return nullptr;
}

EventObject* event_of(Runtime& runtime, cudaEvent_t handle) {
  auto* const event = reinterpret_cast<EventObject*>(handle);
  if (event == nullptr || event->destroyed_by == 0) return event;
  report_destroyed(runtime, "event", event->destroyed_by);
  return nullptr;
}

Ticket& enqueue_record(Runtime& runtime, Stream& stream) {
  Ticket& ticket = runtime.world.add_ticket();
  StreamOperation& operation = runtime.world.make(OperationKind::record, "cudaEventRecord");
  operation.ticket = &ticket;
  runtime.world.push(stream, operation);
  return ticket;
}

void enqueue_wait(Runtime& runtime, Stream& stream, Ticket& ticket) {
  StreamOperation& operation = runtime.world.make(OperationKind::wait, "cudaStreamWaitEvent");
  operation.ticket = &ticket;
  runtime.world.push(stream, operation);
}

cudaError_t enqueue(Runtime& runtime, Stream& stream, StreamOperation& operation) {
  if (runtime.captures.empty()) {
    order_against_legacy(runtime, stream);
    runtime.world.push(stream, operation);
    return result_of(runtime.world.yield());
  }
  char const* const name = runtime.world.record(operation.id).name;
  if (cudaError_t const error = judge_work(runtime, stream, name); error != cudaSuccess) {
    runtime.world.discard(operation);
    return error;
  }
  if (Capture* const capture = capture_of(runtime, stream)) {
    capture_operation(runtime, *capture, stream, operation);
  } else {
    order_against_legacy(runtime, stream);
    runtime.world.push(stream, operation);
  }
  return result_of(runtime.world.yield());
}

bool wait_for_device(Runtime& runtime, int device, char const* call) {
  // By index: other ranks may add streams while this one waits.
  for (std::size_t i = 0; i < runtime.world.streams().size(); ++i) {
    Stream& stream = runtime.world.streams()[i];
    if (stream.device != device) continue;
    if (!runtime.world.wait_for_stream(stream, call)) return false;
  }
  forget_finished_copies(runtime);
  return true;
}

std::uint32_t record_call(Runtime& runtime, OperationKind kind, char const* name,
                          std::uint64_t bytes) {
  Host const& host = *runtime.world.host();
  return runtime.world.add_record({.kind = kind,
                                   .rank = host.rank,
                                   .program_operation = host.program_operation,
                                   .agent = host.index,
                                   .name = name,
                                   .bytes = bytes});
}

Touch host_touch(Runtime& runtime, OperationKind kind, char const* name, std::uint64_t bytes) {
  Host const& host = *runtime.world.host();
  std::uint32_t const call = record_call(runtime, kind, name, bytes);
  return {{host.index, host.clock.of(host.index)}, call};
}

void forget_finished_copies(Runtime& runtime) {
  Host const& host = *runtime.world.host();
  std::vector<Allocation*> const foreign = runtime.memory.foreign();
  for (Allocation* allocation : foreign) {
    if (allocation->kind != AllocationKind::pageable || allocation->rank != host.rank) continue;
    if (allocation->pending_copies == 0 && allocation->copied.epoch.before(host.clock)) {
      runtime.memory.unregister_host(*allocation);
    }
  }
}

void raw_copy(void* to, void const* from, std::uint64_t bytes) {
  // In pieces, because the library's whole-array copy goes around the caches, which is slower here.
  // The ends of a copy do not overlap.
  constexpr std::uint64_t piece_bytes = 256 << 10;
  for (std::uint64_t at = 0; at < bytes; at += piece_bytes) {
    std::memmove(static_cast<char*>(to) + at, static_cast<char const*>(from) + at,
                 std::min(piece_bytes, bytes - at));
  }
}

}  // namespace adamant::sim

using namespace adamant::sim;

extern "C" {

cudaError_t cudaGetLastError() {
  if (is_foreign()) return refuse_foreign_call("cudaGetLastError");
  if (current_runtime == nullptr) return cudaErrorNoDevice;
  if (current_runtime->world.host() == nullptr) return cudaSuccess;
  see_last_error(*current_runtime);
  return std::exchange(current_runtime->host().last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  if (is_foreign()) return refuse_foreign_call("cudaPeekAtLastError");
  if (current_runtime == nullptr) return cudaErrorNoDevice;
  if (current_runtime->world.host() == nullptr) return cudaSuccess;
  see_last_error(*current_runtime);
  return current_runtime->host().last_error;
}

char const* cudaGetErrorName(cudaError_t error) {
#define ADAMANT_SIM_NAME(name, value, text) \
  case name:                                \
    return #name;
  switch (error) { ADAMANT_SIM_CUDA_ERRORS(ADAMANT_SIM_NAME) }
#undef ADAMANT_SIM_NAME
  return "unrecognized error code";
}

char const* cudaGetErrorString(cudaError_t error) {
#define ADAMANT_SIM_TEXT(name, value, text) \
  case name:                                \
    return text;
  switch (error) { ADAMANT_SIM_CUDA_ERRORS(ADAMANT_SIM_TEXT) }
#undef ADAMANT_SIM_TEXT
  return "unrecognized error code";
}

}  // extern "C"
