// What captures forbid, and the codes that say so: rules C-1 to C-20, C-25. Every case ends its
// capture and leaves streams that work.
#include "properties/conformance/on_device.h"

namespace adamant::properties {
namespace {

void expect_error(cudaError_t actual, cudaError_t expected) {
  EXPECT_EQ(actual, expected) << cudaGetErrorName(actual);
  static_cast<void>(cudaGetLastError());
}

/// Ends a capture that was invalidated: an error, no graph, and the stream works again.
void expect_invalidated(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  expect_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  DeviceInts const value;
  EXPECT_EQ(append_to(value, 1, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

void end_and_drop(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
  ASSERT_CUDA(cudaGraphDestroy(graph));
}

/// Ends a capture that may be valid still or not: what CUDA does not say.
void end_somehow(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  static_cast<void>(cudaStreamEndCapture(stream, &graph));
  if (graph != nullptr) {
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  static_cast<void>(cudaGetLastError());
}

cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  return cudaStreamBeginCapture(stream, mode);
}

// ---- begin and end: nothing is lost by these --------------------------------------------------

TEST(CaptureErrors, TheDefaultStreamCannotCapture) {
  on_device([] {
    expect_error(begin(nullptr), cudaErrorStreamCaptureUnsupported);
    expect_error(begin(cudaStreamLegacy), cudaErrorStreamCaptureUnsupported);
  });
}

TEST(CaptureErrors, AStreamCapturesOnce) {
  on_device([] {
    Stream const stream;
    ASSERT_CUDA(begin(stream));
    expect_error(begin(stream), cudaErrorIllegalState);
    end_and_drop(stream);
  });
}

TEST(CaptureErrors, AForkedStreamCannotBeginItsOwn) {
  on_device([] {
    Stream const stream;
    Stream const fork;
    Event const event;
    ASSERT_CUDA(begin(stream));
    ASSERT_CUDA(cudaEventRecord(event, stream));
    ASSERT_CUDA(cudaStreamWaitEvent(fork, event));
    expect_error(begin(fork), cudaErrorIllegalState);
    end_and_drop(stream);
  });
}

TEST(CaptureErrors, AnUnknownModeIsInvalid) {
  on_device([] {
    Stream const stream;
    expect_error(begin(stream, static_cast<cudaStreamCaptureMode>(7)), cudaErrorInvalidValue);
  });
}

TEST(CaptureErrors, OnlyACapturingStreamCanEnd) {
  on_device([] {
    Stream const stream;
    cudaGraph_t graph = nullptr;
    expect_error(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    expect_error(cudaStreamEndCapture(nullptr, &graph), cudaErrorIllegalState);
    expect_error(cudaStreamEndCapture(stream, nullptr), cudaErrorIllegalState);
  });
}

TEST(CaptureErrors, ACaptureEndsWithoutAPlaceForItsGraph) {
  on_device([] {
    Stream const stream;
    ASSERT_CUDA(begin(stream));
    ASSERT_CUDA(cudaStreamEndCapture(stream, nullptr));
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    ASSERT_CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  });
}

TEST(CaptureErrors, NoHostFunctionIsInvalid) {
  on_device([] {
    Stream const stream;
    expect_error(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
  });
}

// ---- waiting -----------------------------------------------------------------------------------

TEST(CaptureErrors, ACapturingStreamCannotBeWaitedFor) {
  on_device_against_capture_rules([] {
    Stream const stream;
    for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                            cudaStreamCaptureModeRelaxed}) {
      ASSERT_CUDA(begin(stream, mode));
      expect_error(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
      expect_invalidated(stream);
    }
  });
}

TEST(CaptureErrors, ACapturingStreamCannotBeAsked) {
  on_device_against_capture_rules([] {
    Stream const stream;
    ASSERT_CUDA(begin(stream));
    expect_error(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
    expect_invalidated(stream);
  });
}

TEST(CaptureErrors, TheDeviceCannotBeWaitedForInAnyMode) {
  on_device_against_capture_rules([] {
    Stream const stream;
    for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed}) {
      ASSERT_CUDA(begin(stream, mode));
      expect_error(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
      expect_invalidated(stream);
    }
  });
}

TEST(CaptureErrors, AnEventOfTheCaptureCannotBeWaitedFor) {
  on_device_against_capture_rules([] {
    Stream const stream;
    Event const event;
    for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed}) {
      ASSERT_CUDA(begin(stream, mode));
      ASSERT_CUDA(cudaEventRecord(event, stream));
      expect_error(cudaEventSynchronize(event), cudaErrorCapturedEvent);
      end_somehow(stream);
    }
  });
}

TEST(CaptureErrors, AnotherStreamCannotBeWaitedForUnlessRelaxed) {
  on_device_against_capture_rules([] {
    Stream const stream;
    Stream const other;
    ASSERT_CUDA(begin(stream));
    expect_error(cudaStreamSynchronize(other), cudaErrorStreamCaptureUnsupported);
    expect_invalidated(stream);
    ASSERT_CUDA(begin(stream, cudaStreamCaptureModeRelaxed));
    ASSERT_CUDA(cudaStreamSynchronize(other));
    end_and_drop(stream);
  });
}

TEST(CaptureErrors, AnEarlierEventCannotBeWaitedForInGlobalMode) {
  on_device_against_capture_rules([] {
    Stream const stream;
    Stream const other;
    Event const event;
    ASSERT_CUDA(cudaEventRecord(event, other));
    ASSERT_CUDA(begin(stream));
    expect_error(cudaEventSynchronize(event), cudaErrorStreamCaptureUnsupported);
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream, &graph));
    static_cast<void>(cudaGetLastError());
    EXPECT_EQ(graph, nullptr);
  });
}

// ---- calls that may be unsafe ------------------------------------------------------------------

TEST(CaptureErrors, AllocationIsUnsafeUnlessRelaxed) {
  on_device_against_capture_rules([] {
    Stream const stream;
    for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
      ASSERT_CUDA(begin(stream, mode));
      void* memory = nullptr;
      expect_error(cudaMalloc(&memory, 64), cudaErrorStreamCaptureUnsupported);
      expect_invalidated(stream);
    }
    ASSERT_CUDA(begin(stream, cudaStreamCaptureModeRelaxed));
    void* memory = nullptr;
    ASSERT_CUDA(cudaMalloc(&memory, 64));
    end_and_drop(stream);
    ASSERT_CUDA(cudaFree(memory));
  });
}

/// Calls that CUDA counts as unsafe, beside allocation.
std::vector<std::function<cudaError_t()>> unsafe_calls(cudaEvent_t event, cudaGraph_t graph) {
  return {[] {
            void* memory = nullptr;
            return cudaMallocHost(&memory, 64);
          },
          [] { return cudaFree(nullptr); }, [event] { return cudaEventQuery(event); },
          [event] { return cudaEventSynchronize(event); },
          [graph] {
            cudaGraphExec_t exec = nullptr;
            return cudaGraphInstantiate(&exec, graph, 0);
          }};
}

TEST(CaptureErrors, SoAreOtherCallsOfWhichSomeDoNothing) {
  on_device_against_capture_rules([] {
    Stream const stream;
    Event const never_recorded;
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(begin(stream));
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    for (auto const& call : unsafe_calls(never_recorded, graph)) {
      for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
        ASSERT_CUDA(begin(stream, mode));
        expect_error(call(), cudaErrorStreamCaptureUnsupported);
        expect_invalidated(stream);
      }
    }
    ASSERT_CUDA(cudaGraphDestroy(graph));
  });
}

TEST(CaptureErrors, CallsThatAreSafeInEveryMode) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    Event const never_recorded;
    for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                            cudaStreamCaptureModeRelaxed}) {
      ASSERT_CUDA(begin(stream, mode));
      int const one = 1;
      EXPECT_EQ(cudaMemcpy(value.data(), &one, sizeof one, cudaMemcpyHostToDevice), cudaSuccess);
      EXPECT_EQ(cudaMemset(value.data(), 0, value.bytes()), cudaSuccess);
      EXPECT_EQ(cudaStreamWaitEvent(stream, never_recorded), cudaSuccess);
      std::size_t free_bytes = 0;
      std::size_t total_bytes = 0;
      EXPECT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
      cudaPointerAttributes attributes = {};
      EXPECT_EQ(cudaPointerGetAttributes(&attributes, value.data()), cudaSuccess);
      {
        Stream const made_meanwhile;
        Event const made_too;
      }
      end_and_drop(stream);
    }
  });
}

TEST(CaptureErrors, AThreadCanRelaxItself) {
  on_device([] {
    Stream const stream;
    ASSERT_CUDA(begin(stream));
    auto mode = cudaStreamCaptureModeRelaxed;
    ASSERT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
    void* memory = nullptr;
    ASSERT_CUDA(cudaMalloc(&memory, 64));
    ASSERT_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
    end_and_drop(stream);
    ASSERT_CUDA(cudaFree(memory));
  });
}

TEST(CaptureErrors, ALaunchThatCannotBeInvalidatesTheCapture) {
  on_device_against_capture_rules([] {
    Stream const stream;
    DeviceInts const value;
    for (dim3 const block : {dim3(0), dim3(2048), dim3(1, 1, 65)}) {
      ASSERT_CUDA(begin(stream));
      expect_error(launch(append, 1, block, stream, value.data(), 1), cudaErrorInvalidValue);
      expect_invalidated(stream);
    }
  });
}

// ---- the default stream ------------------------------------------------------------------------

TEST(CaptureErrors, TheDefaultStreamIsUnusableBesideABlockingCapture) {
  on_device_against_capture_rules([] {
    Stream const stream(cudaStreamDefault);
    DeviceInts const value;
    ASSERT_CUDA(begin(stream, cudaStreamCaptureModeRelaxed));
    expect_error(append_to(value, 1, nullptr), cudaErrorStreamCaptureImplicit);
    expect_invalidated(stream);
    ASSERT_CUDA(begin(stream, cudaStreamCaptureModeRelaxed));
    expect_error(cudaMemset(value.data(), 0, value.bytes()), cudaErrorStreamCaptureImplicit);
    expect_invalidated(stream);
  });
}

TEST(CaptureErrors, AskingTheDefaultStreamBesideABlockingCaptureDoesNoHarm) {
  on_device([] {
    Stream const stream(cudaStreamDefault);
    ASSERT_CUDA(begin(stream, cudaStreamCaptureModeRelaxed));
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    expect_error(cudaStreamIsCapturing(nullptr, &status), cudaErrorStreamCaptureImplicit);
    end_and_drop(stream);
  });
}

TEST(CaptureErrors, TheDefaultStreamIsUsableBesideANonBlockingCapture) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    ASSERT_CUDA(begin(stream, cudaStreamCaptureModeRelaxed));
    ASSERT_CUDA(append_to(value, 3, nullptr));
    end_and_drop(stream);
    EXPECT_EQ(value.value(), 3);
  });
}

// ---- events and other streams ------------------------------------------------------------------

TEST(CaptureErrors, ACaptureCannotWaitForWorkOutside) {
  on_device_against_capture_rules([] {
    Stream const stream;
    Stream const other;
    Event const event;
    ASSERT_CUDA(cudaEventRecord(event, other));
    ASSERT_CUDA(begin(stream));
    expect_error(cudaStreamWaitEvent(stream, event), cudaErrorStreamCaptureIsolation);
    expect_invalidated(stream);
  });
}

TEST(CaptureErrors, TwoCapturesCannotMerge) {
  on_device_against_capture_rules([] {
    Stream const first;
    Stream const second;
    Event const event;
    ASSERT_CUDA(begin(first));
    ASSERT_CUDA(begin(second));
    ASSERT_CUDA(cudaEventRecord(event, first));
    expect_error(cudaStreamWaitEvent(second, event), cudaErrorStreamCaptureMerge);
    for (cudaStream_t const stream :
         {static_cast<cudaStream_t>(first), static_cast<cudaStream_t>(second)}) {
      end_somehow(stream);
    }
  });
}

TEST(CaptureErrors, ForkedWorkMustBeJoined) {
  on_device_against_capture_rules([] {
    Stream const stream;
    Stream const fork;
    Event const event;
    DeviceInts const value;
    ASSERT_CUDA(begin(stream));
    ASSERT_CUDA(cudaEventRecord(event, stream));
    ASSERT_CUDA(cudaStreamWaitEvent(fork, event));
    ASSERT_CUDA(append_to(value, 1, fork));
    cudaGraph_t graph = nullptr;
    expect_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
    EXPECT_EQ(graph, nullptr);
  });
}

TEST(CaptureErrors, WorkAfterTheJoinIsNotJoined) {
  on_device_against_capture_rules([] {
    Stream const stream;
    Stream const fork;
    Event const event;
    DeviceInts const value;
    ASSERT_CUDA(begin(stream));
    ASSERT_CUDA(cudaEventRecord(event, stream));
    ASSERT_CUDA(cudaStreamWaitEvent(fork, event));
    ASSERT_CUDA(append_to(value, 1, fork));
    ASSERT_CUDA(cudaEventRecord(event, fork));
    ASSERT_CUDA(cudaStreamWaitEvent(stream, event));
    ASSERT_CUDA(append_to(value, 2, fork));
    cudaGraph_t graph = nullptr;
    expect_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
    EXPECT_EQ(graph, nullptr);
  });
}

TEST(CaptureErrors, AForkedStreamCannotEndTheCapture) {
  on_device_against_capture_rules([] {
    Stream const stream;
    Stream const fork;
    Event const event;
    ASSERT_CUDA(begin(stream));
    ASSERT_CUDA(cudaEventRecord(event, stream));
    ASSERT_CUDA(cudaStreamWaitEvent(fork, event));
    cudaGraph_t graph = nullptr;
    expect_error(cudaStreamEndCapture(fork, &graph), cudaErrorStreamCaptureUnmatched);
    EXPECT_EQ(graph, nullptr);
    end_somehow(stream);
  });
}

// ---- after a violation -------------------------------------------------------------------------

TEST(CaptureErrors, AnInvalidatedCaptureTakesNothingMore) {
  on_device_against_capture_rules([] {
    Stream const stream;
    DeviceInts const value;
    ASSERT_CUDA(begin(stream));
    expect_error(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    ASSERT_CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
    expect_error(append_to(value, 1, stream), cudaErrorStreamCaptureInvalidated);
    expect_invalidated(stream);
  });
}

TEST(CaptureErrors, OnlyMemoryOfTheGraphIsFreedInIt) {
  on_device_against_capture_rules([] {
    Stream const stream;
    void* memory = nullptr;
    ASSERT_CUDA(cudaMallocAsync(&memory, 64, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    ASSERT_CUDA(begin(stream));
    expect_error(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
    end_and_drop(stream);
    ASSERT_CUDA(cudaFreeAsync(memory, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
  });
}

}  // namespace
}  // namespace adamant::properties
