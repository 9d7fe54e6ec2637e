// Events: a record binds the event to the stream's tail at the call, a wait to what the event held
// at its own call.

#include <cuda_runtime_api.h>

#include "sim/cuda/runtime.h"

using namespace adamant::sim;

namespace {

// A destroyed event's handle is not given out again while its use would be noticed: until so many
// others were destroyed after it.
constexpr std::size_t destroyed_events_kept = 16'384;

EventObject& new_event(Runtime& runtime) {
  if (runtime.destroyed_events.size() < destroyed_events_kept) return runtime.events.emplace_back();
  EventObject& event = *runtime.destroyed_events.front();
  runtime.destroyed_events.pop_front();
  event = {};
  return event;
}

// In a capture an event is the place that the stream has reached there; an external record is a
// node, by which each launch records it.
cudaError_t record_in_capture(Runtime& runtime, Capture& capture, Stream& stream,
                              EventObject& event, bool external) {
  if (external) {
    std::uint32_t const call = record_call(runtime, OperationKind::record, "cudaEventRecord");
    add_node(runtime, capture, stream, call).event = &event;
  } else {
    event.captured_by = capture.id;
    event.nodes = capture.find(stream)->tail;
  }
  return result_of(runtime.world.yield());
}

cudaError_t record(Runtime& runtime, cudaEvent_t event_handle, cudaStream_t handle, bool external) {
  Stream* const stream = stream_of(runtime, handle);
  EventObject* const event = event_of(runtime, event_handle);
  if (stream == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->device != stream->device) return cudaErrorInvalidResourceHandle;
  if (!runtime.captures.empty()) {
    cudaError_t const error = judge_work(runtime, *stream, "cudaEventRecord");
    if (error != cudaSuccess) return error;
    if (Capture* const capture = capture_of(runtime, *stream)) {
      return record_in_capture(runtime, *capture, *stream, *event, external);
    }
  }
  if (external) return cudaErrorIllegalState;  // they exist for captures only
  StreamOperation& operation = runtime.world.make(OperationKind::record, "cudaEventRecord");
  event->captured_by = 0;
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
  give(milliseconds, static_cast<float>(static_cast<double>(end_ns - begin_ns) / 1e6));
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* result, unsigned int flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    bool const interprocess = (flags & cudaEventInterprocess) != 0;
    bool const timed = (flags & cudaEventDisableTiming) == 0;
    if (result == nullptr || flags > 7 || (interprocess && timed)) return cudaErrorInvalidValue;
    EventObject& event = new_event(runtime);
    event.flags = flags;
    event.device = runtime.host().device;
    give(result, reinterpret_cast<cudaEvent_t>(&event));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* result) {
  return cudaEventCreateWithFlags(result, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&](Runtime& runtime) { return record(runtime, event, stream, false); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
    return record(runtime, event, stream, flags == cudaEventRecordExternal);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    EventObject const* const event = event_of(runtime, handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    cudaError_t const error = judge_wait(runtime, *event, "cudaEventQuery");
    if (error != cudaSuccess) return error;
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
    cudaError_t const error = judge_wait(runtime, *event, "cudaEventSynchronize");
    if (error != cudaSuccess) return error;
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
    // Recorded work still completes.
    event->destroyed_by = record_call(runtime, OperationKind::host, "cudaEventDestroy");
    runtime.destroyed_events.push_back(event);
    return cudaSuccess;
  });
}

}  // extern "C"
