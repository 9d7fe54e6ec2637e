// Streams, and everything by which the host waits for one.

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include "sim/cuda/runtime.h"

using namespace adamant::sim;

namespace {

constexpr int least_priority = 0;
constexpr int greatest_priority = -5;

cudaError_t create(Runtime& runtime, cudaStream_t* result, unsigned flags, int priority) {
  if (result == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
    return cudaErrorInvalidValue;
  }
  int const clamped = std::min(std::max(priority, greatest_priority), least_priority);
  Stream& stream = runtime.world.add_stream(runtime.host().device, flags, clamped);
  stream.made_by_call = true;
  stream.name = fmt::format("stream {}", ++runtime.host().streams_made);
  give(result, reinterpret_cast<cudaStream_t>(&stream));
  return cudaSuccess;
}

// A query that says yes lets the host rely on the work, as a wait would.
cudaError_t query(Runtime& runtime, Stream& stream) {
  runtime.world.yield_polling("cudaStreamQuery", &stream, nullptr);
  if (stream.completed < stream.enqueued) return cudaErrorNotReady;
  bool const alive = runtime.world.wait_for_stream(stream, "cudaStreamQuery");
  forget_finished_copies(runtime);
  return result_of(alive);
}

template <typename Read>
cudaError_t read(cudaStream_t handle, void const* result, Read&& read) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Stream* const stream = stream_of(runtime, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (result == nullptr) return cudaErrorInvalidValue;
    read(*stream);
    return cudaSuccess;
  });
}

// Runs with no rank's host code on the stack: calls from inside are refused.
void run_host_function(Runtime& runtime, cudaHostFn_t function, void* data) {
  Instrumented const instrumented(runtime.watch);
  function(data);
}

// A wait in a capture only says what the stream's next node comes after; a stream outside that
// waits for a captured event takes part from then on.
cudaError_t wait_in_capture(Runtime& runtime, Stream& stream, EventObject& event, unsigned flags) {
  constexpr char const* call = "cudaStreamWaitEvent";
  if (cudaError_t const error = judge_work(runtime, stream, call); error != cudaSuccess) {
    return error;
  }
  Capture* const own = capture_of(runtime, stream);
  Capture* const other = capture_with(runtime, event.captured_by);
  if (own != nullptr && flags == cudaEventWaitExternal) {
    std::uint32_t const record = record_call(runtime, OperationKind::wait, call);
    add_node(runtime, *own, stream, record).event = &event;
    return result_of(runtime.world.yield());
  }
  if (own != nullptr && event.captured_by == 0 && event.recorded == nullptr) return cudaSuccess;
  if (own != nullptr && other == nullptr) {
    return invalidate(runtime, *own, call, cudaErrorStreamCaptureIsolation,
                      "the event was recorded outside of the capture");
  }
  if (other == nullptr) return cudaErrorCapturedEvent;
  if (own != nullptr && own != other) {
    invalidate(runtime, *other, call, cudaErrorStreamCaptureMerge, "another capture waits for it");
    return invalidate(runtime, *own, call, cudaErrorStreamCaptureMerge,
                      "the event belongs to another capture");
  }
  if (other->invalidated) return cudaErrorStreamCaptureInvalidated;
  join_capture(*other, stream, event.nodes);
  return result_of(runtime.world.yield());
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* result) {
  return cudaStreamCreateWithPriority(result, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* result, unsigned int flags) {
  return cudaStreamCreateWithPriority(result, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* result, unsigned int flags, int priority) {
  return call([&](Runtime& runtime) { return create(runtime, result, flags, priority); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Runtime&) {
    if (least != nullptr) give(least, least_priority);
    if (greatest != nullptr) give(greatest, greatest_priority);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return read(handle, priority, [&](Stream& stream) { give(priority, stream.cuda_priority); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  return read(handle, flags, [&](Stream& stream) { give(flags, stream.flags); });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return read(handle, id, [&](Stream& stream) { give(id, stream.index); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return read(handle, device, [&](Stream& stream) { give(device, stream.device); });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    bool const special =
        handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
    Stream* const stream = special ? nullptr : stream_of(runtime, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    // What is enqueued still runs.
    stream->destroyed_by = record_call(runtime, OperationKind::host, "cudaStreamDestroy");
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Stream* const stream = stream_of(runtime, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    cudaError_t const error = judge_wait(runtime, *stream, "cudaStreamSynchronize");
    if (error != cudaSuccess) return error;
    bool const alive = runtime.world.wait_for_stream(*stream, "cudaStreamSynchronize");
    forget_finished_copies(runtime);
    return result_of(alive);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Stream* const stream = stream_of(runtime, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    cudaError_t const error = judge_wait(runtime, *stream, "cudaStreamQuery");
    return error != cudaSuccess ? error : query(runtime, *stream);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned int flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Stream* const stream = stream_of(runtime, handle);
    EventObject* const event = event_of(runtime, event_handle);
    if (stream == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
    if (event->captured_by != 0 || capture_of(runtime, *stream) != nullptr) {
      return wait_in_capture(runtime, *stream, *event, flags);
    }
    if (event->recorded == nullptr) return cudaSuccess;  // never recorded: nothing to wait for
    StreamOperation& operation = runtime.world.make(OperationKind::wait, "cudaStreamWaitEvent");
    operation.ticket = event->recorded;
    return enqueue(runtime, *stream, operation);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([&](Runtime& runtime) -> cudaError_t {
    int const device = runtime.host().device;
    cudaError_t const error = judge_device_wait(runtime, device, "cudaDeviceSynchronize");
    if (error != cudaSuccess) return error;
    return result_of(wait_for_device(runtime, device, "cudaDeviceSynchronize"));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return call([&](Runtime& runtime) -> cudaError_t {
    Stream* const stream = stream_of(runtime, handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr) return cudaErrorInvalidValue;
    StreamOperation& operation =
        runtime.world.make(OperationKind::host_function, "cudaLaunchHostFunc", 0,
                           reinterpret_cast<void const*>(function));
    operation.cost_ns = 5000;
    operation.body = [&runtime, function, data] { run_host_function(runtime, function, data); };
    return enqueue(runtime, *stream, operation);
  });
}

}  // extern "C"
