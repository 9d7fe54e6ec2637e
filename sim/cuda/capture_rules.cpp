// What captures forbid, to whom, and what becomes of them (cuda-semantics C-1 to C-26).
//
// A rank is a process, or a host thread of the only one (Options::one_process). Calls that CUDA
// says may be unsafe are barred from a thread that has a capture of its own which is not relaxed,
// and, unless the thread chose otherwise, from all threads of the process while any has a global
// one.

#include <fmt/format.h>

#include "sim/cuda/graph.h"
#include "sim/cuda/runtime.h"

namespace adamant::sim {
namespace {

bool is_blocking(Stream const& stream) {
  return (stream.flags & cudaStreamNonBlocking) == 0;
}

// The capture that makes the legacy stream of a device unusable, or null.
Capture* blocking_capture(Runtime& runtime, int device) {
  for (auto const& capture : runtime.captures) {
    for (Capture::Member const& member : capture->members) {
      if (member.stream->device == device && is_blocking(*member.stream)) return capture.get();
    }
  }
  return nullptr;
}

bool forbids(Capture const& capture, Host const& host, cudaStreamCaptureMode thread_mode,
             bool one_process) {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.host == &host) return capture.mode != cudaStreamCaptureModeRelaxed;
  return one_process && thread_mode == cudaStreamCaptureModeGlobal &&
         capture.mode == cudaStreamCaptureModeGlobal;
}

void report(Runtime& runtime, Capture const& capture, char const* call, cudaError_t error,
            std::string const& why, char const* then) {
  Host const& host = *runtime.world.host();
  Violation violation;
  violation.law = Law::graph_capture;
  violation.breach = Breach::not_capturable;
  violation.about = call;
  violation.rank = host.rank;
  violation.operation = host.program_operation;
  violation.message =
      fmt::format("{} while stream `{}` of rank {} captures: {} ({}); {}", call,
                  capture.origin->name, capture.host->rank, why, cudaGetErrorName(error), then);
  runtime.world.add_violation(std::move(violation));
}

}  // namespace

cudaError_t invalidate(Runtime& runtime, Capture& capture, char const* call, cudaError_t error,
                       std::string const& why) {
  if (capture.invalidated) return error;
  capture.invalidated = true;
  report(runtime, capture, call, error, why, "the capture is invalid");
  return error;
}

cudaError_t judge_work(Runtime& runtime, Stream const& stream, char const* call) {
  if (runtime.captures.empty()) return cudaSuccess;
  if (stream.is_legacy_default) {
    Capture* const capture = blocking_capture(runtime, stream.device);
    if (capture == nullptr) return cudaSuccess;
    return invalidate(runtime, *capture, call, cudaErrorStreamCaptureImplicit,
                      "the default stream would wait for a blocking stream that captures");
  }
  Capture const* const capture = capture_of(runtime, stream);
  return capture != nullptr && capture->invalidated ? cudaErrorStreamCaptureInvalidated
                                                    : cudaSuccess;
}

bool blocks_legacy(Runtime& runtime, int device) {
  return blocking_capture(runtime, device) != nullptr;
}

cudaError_t judge_wait(Runtime& runtime, Stream const& stream, char const* call) {
  if (runtime.captures.empty()) return cudaSuccess;
  if (cudaError_t const error = judge_work(runtime, stream, call); error != cudaSuccess) {
    return error;
  }
  if (Capture* const capture = capture_of(runtime, stream)) {
    return invalidate(runtime, *capture, call, cudaErrorStreamCaptureUnsupported,
                      "what is captured does not run and cannot be waited for");
  }
  return judge_unsafe(runtime, call);
}

cudaError_t judge_wait(Runtime& runtime, EventObject const& event, char const* call) {
  if (event.captured_by == 0) return judge_unsafe(runtime, call);
  Capture* const capture = capture_with(runtime, event.captured_by);
  if (capture == nullptr) return cudaErrorCapturedEvent;
  return invalidate(runtime, *capture, call, cudaErrorCapturedEvent,
                    "the event stands for a place in the capture, which nothing reaches");
}

cudaError_t judge_device_wait(Runtime& runtime, int device, char const* call) {
  for (auto const& capture : runtime.captures) {
    for (Capture::Member const& member : capture->members) {
      if (member.stream->device != device) continue;
      return invalidate(runtime, *capture, call, cudaErrorStreamCaptureUnsupported,
                        "a stream of the device captures and cannot be waited for");
    }
  }
  return cudaSuccess;
}

cudaError_t judge_unsafe(Runtime& runtime, char const* call) {
  Host const& host = *runtime.world.host();
  cudaError_t result = cudaSuccess;
  for (auto const& capture : runtime.captures) {
    bool const one_process = runtime.world.options().one_process;
    if (!forbids(*capture, host, runtime.host().capture_mode, one_process)) continue;
    result = invalidate(runtime, *capture, call, cudaErrorStreamCaptureUnsupported,
                        "the call may be unsafe, and the capture mode forbids such calls");
  }
  return result;
}

cudaError_t judge_uncapturable(Runtime& runtime, Stream const& stream, char const* call,
                               cudaError_t error) {
  Capture* const capture = capture_of(runtime, stream);
  if (capture == nullptr) return cudaSuccess;
  if (capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  return invalidate(runtime, *capture, call, error, "the call cannot be captured");
}

cudaError_t judge_foreign_free(Runtime& runtime, Stream const& stream) {
  Capture const* const capture = capture_of(runtime, stream);
  if (capture == nullptr) return cudaSuccess;
  if (capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  report(runtime, *capture, "cudaFreeAsync", cudaErrorInvalidValue,
         "the memory is not of the graph", "the capture goes on without it");
  return cudaErrorInvalidValue;
}

}  // namespace adamant::sim
