// Events: a record binds the event to the stream's tail at the call, a wait to what the event held
// at its own call.

#include <cuda_runtime_api.h>

#include "sim/cuda/runtime.h"

using namespace adamant::sim;

namespace {

cudaError_t record(Runtime& runtime, cudaEvent_t event_handle, cudaStream_t handle) {
  Stream* const stream = stream_of(runtime, handle);
  EventObject* const event = event_of(runtime, event_handle);
  if (stream == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->device != stream->device) return cudaErrorInvalidResourceHandle;
  Operation& operation = runtime.world.make(OperationKind::record, "cudaEventRecord");
  event->recorded = &runtime.world.add_ticket();
  operation.ticket = event->recorded;
  return enqueue(runtime, *stream, operation);
}

cudaError_t elapsed(Runtime& runtime, float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  EventObject const* const first = event_of(runtime, start);
  EventObject const* const last = event_of(runtime, end);
  if (first == nullptr || last == nullptr) return cudaErrorInvalidResourceHandle;
  if (milliseconds == nullptr) return cudaErrorInvalidValue;
  bool const timed = ((first->flags | last->flags) & cudaEventDisableTiming) == 0;
  bool const recorded = first->recorded != nullptr && last->recorded != nullptr;
  if (!timed || !recorded || first->device != last->device) return cudaErrorInvalidResourceHandle;
  if (!first->recorded->done || !last->recorded->done) return cudaErrorNotReady;
  auto const begin_ns = static_cast<std::int64_t>(first->recorded->time_ns);
  auto const end_ns = static_cast<std::int64_t>(last->recorded->time_ns);
  *milliseconds = static_cast<float>(static_cast<double>(end_ns - begin_ns) / 1e6);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* result, unsigned int flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    bool const interprocess = (flags & cudaEventInterprocess) != 0;
    bool const timed = (flags & cudaEventDisableTiming) == 0;
    if (result == nullptr || flags > 7 || (interprocess && timed)) return cudaErrorInvalidValue;
    EventObject& event = runtime.events.emplace_back();
    event.flags = flags;
    event.device = runtime.host().device;
    *result = reinterpret_cast<cudaEvent_t>(&event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* result) {
  return cudaEventCreateWithFlags(result, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](Runtime& runtime) { return record(runtime, event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    // External records exist for captures only.
    return flags != cudaEventRecordDefault ? cudaErrorIllegalState : record(runtime, event, stream);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    EventObject const* const event = event_of(runtime, handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    runtime.world.yield_polling("cudaEventQuery", nullptr, event->recorded);
    if (event->recorded == nullptr) return cudaSuccess;
    if (!event->recorded->done) return cudaErrorNotReady;
    bool const alive = runtime.world.wait_for_ticket(*event->recorded, "cudaEventQuery");
    forget_finished_copies(runtime);
    return result_of(alive);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    EventObject const* const event = event_of(runtime, handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->recorded == nullptr) return cudaSuccess;
    bool const alive = runtime.world.wait_for_ticket(*event->recorded, "cudaEventSynchronize");
    forget_finished_copies(runtime);
    return result_of(alive);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&](Runtime& runtime) { return elapsed(runtime, milliseconds, start, end); });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    EventObject* const event = event_of(runtime, handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    event->destroyed = true;  // recorded work still completes
    return cudaSuccess;
  });
}

}  // extern "C"
