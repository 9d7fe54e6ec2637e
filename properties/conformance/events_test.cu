// Events: rules E-1 to E-6.
#include "properties/conformance/on_device.h"

namespace adamant::properties {
namespace {

TEST(Events, OneThatWasNeverRecordedIsComplete) {
  on_device([] {
    Stream const stream;
    Event const event;
    EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(stream, event), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  });
}

TEST(Events, AWaitKeepsTheRecordItFound) {
  // If the wait followed the second record, the two streams would wait for each other for ever.
  on_device([] {
    Stream const first;
    Stream const second;
    Event const event;
    Event const back;
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 1, first));
    ASSERT_CUDA(cudaEventRecord(event, first));
    ASSERT_CUDA(cudaStreamWaitEvent(second, event));
    ASSERT_CUDA(append_to(value, 2, second));
    ASSERT_CUDA(cudaEventRecord(back, second));
    ASSERT_CUDA(cudaStreamWaitEvent(first, back));
    ASSERT_CUDA(append_to(value, 3, first));
    ASSERT_CUDA(cudaEventRecord(event, first));
    EXPECT_EQ(value.value(), 123);
  });
}

TEST(Events, ASecondRecordReplacesTheFirst) {
  on_device([] {
    Stream const first;
    Stream const second;
    Event const event;
    DeviceInts const value;
    ASSERT_CUDA(cudaEventRecord(event, first));
    ASSERT_CUDA(append_to(value, 1, first));
    ASSERT_CUDA(cudaEventRecord(event, first));
    ASSERT_CUDA(cudaStreamWaitEvent(second, event));
    ASSERT_CUDA(append_to(value, 2, second));
    EXPECT_EQ(value.value(), 12);
  });
}

TEST(Events, ARecordIsCompleteOnlyAfterTheWorkBeforeIt) {
  on_device([] {
    Stream const stream;
    Event const event;
    DeviceInts const value;
    PinnedInts const result;
    ASSERT_CUDA(append_to(value, 3, stream));
    ASSERT_CUDA(cudaMemcpyAsync(result.data(), value.data(), value.bytes(), cudaMemcpyDeviceToHost,
                                stream));
    ASSERT_CUDA(cudaEventRecord(event, stream));
    cudaError_t state = cudaErrorNotReady;
    while (state == cudaErrorNotReady) state = cudaEventQuery(event);
    ASSERT_CUDA(state);
    EXPECT_EQ(result[0], 3);
    static_cast<void>(cudaGetLastError());  // may hold cudaErrorNotReady
  });
}

TEST(Events, SynchronisingWaitsForTheWorkBeforeTheRecordOnly) {
  on_device([] {
    Stream const stream;
    Event const event;
    PinnedInts const before;
    PinnedInts const after;
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 3, stream));
    ASSERT_CUDA(cudaMemcpyAsync(before.data(), value.data(), value.bytes(), cudaMemcpyDeviceToHost,
                                stream));
    ASSERT_CUDA(cudaEventRecord(event, stream));
    ASSERT_CUDA(append_to(value, 4, stream));
    ASSERT_CUDA(
        cudaMemcpyAsync(after.data(), value.data(), value.bytes(), cudaMemcpyDeviceToHost, stream));
    ASSERT_CUDA(cudaEventSynchronize(event));
    EXPECT_EQ(before[0], 3);
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(after[0], 34);
  });
}

TEST(Events, TimeDoesNotRunBackwards) {
  on_device([] {
    Stream const stream;
    Event const start(cudaEventDefault);
    Event const end(cudaEventDefault);
    DeviceInts const value;
    ASSERT_CUDA(cudaEventRecord(start, stream));
    ASSERT_CUDA(append_to(value, 1, stream));
    ASSERT_CUDA(cudaEventRecord(end, stream));
    ASSERT_CUDA(cudaEventSynchronize(end));
    float milliseconds = -1;
    ASSERT_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT_GE(milliseconds, 0.0F);
  });
}

TEST(Events, NoTimeIsTakenWithoutARecordOrWithTimingDisabled) {
  on_device([] {
    Stream const stream;
    Event const timed(cudaEventDefault);
    Event const never_recorded(cudaEventDefault);
    Event const untimed(cudaEventDisableTiming);
    ASSERT_CUDA(cudaEventRecord(timed, stream));
    ASSERT_CUDA(cudaEventRecord(untimed, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, timed, never_recorded),
              cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, timed, untimed), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventElapsedTime(nullptr, timed, timed), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  });
}

TEST(Events, ForOtherProcessesTakeNoTime) {
  on_device([] {
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  });
}

TEST(Events, JoinManyStreamsIntoOne) {
  on_device([] {
    constexpr int streams = 4;
    Stream const side[streams];
    Stream const joined;
    DeviceInts const values[streams];
    DeviceInts const last;
    for (int i = 0; i < streams; ++i) {
      Event const done;
      ASSERT_CUDA(append_to(values[i], i + 1, side[i]));
      ASSERT_CUDA(cudaEventRecord(done, side[i]));
      ASSERT_CUDA(cudaStreamWaitEvent(joined, done));
    }
    ASSERT_CUDA(launch(copy_one, 1, 1, joined, last.data(), values[streams - 1].data()));
    ASSERT_CUDA(append_to(last, 9, joined));
    EXPECT_EQ(last.value(), 49);
  });
}

}  // namespace
}  // namespace adamant::properties
