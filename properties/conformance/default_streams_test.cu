// The default streams: rules S-1 to S-4.
#include "properties/conformance/on_device.h"

namespace adamant::properties {
namespace {

TEST(LegacyStream, StandsBetweenEarlierAndLaterWorkOfABlockingStream) {
  on_device([] {
    Stream const blocking(cudaStreamDefault);
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 1, blocking));
    ASSERT_CUDA(append_to(value, 2, nullptr));
    ASSERT_CUDA(append_to(value, 3, blocking));
    EXPECT_EQ(value.value(), 123);
  });
}

TEST(LegacyStream, OrdersTwoBlockingStreams) {
  on_device([] {
    Stream const first(cudaStreamDefault);
    Stream const second(cudaStreamDefault);
    DeviceInts const value;
    DeviceInts const unrelated;
    ASSERT_CUDA(append_to(value, 1, first));
    ASSERT_CUDA(append_to(unrelated, 9, cudaStreamLegacy));
    ASSERT_CUDA(append_to(value, 2, second));
    EXPECT_EQ(value.value(), 12);
  });
}

TEST(LegacyStream, OrdersWhateverItsWaitIsFor) {
  on_device([] {
    Stream const other;
    Stream const blocking(cudaStreamDefault);
    Event const done;
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 1, other));
    ASSERT_CUDA(cudaEventRecord(done, other));
    ASSERT_CUDA(cudaStreamWaitEvent(nullptr, done));
    ASSERT_CUDA(append_to(value, 2, blocking));
    EXPECT_EQ(value.value(), 12);
  });
}

TEST(LegacyStream, AnEventRecordedInItCoversAllBlockingStreams) {
  on_device([] {
    Stream const blocking(cudaStreamDefault);
    Stream const other;
    Event const done;
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 1, blocking));
    ASSERT_CUDA(cudaEventRecord(done, nullptr));
    ASSERT_CUDA(cudaStreamWaitEvent(other, done));
    ASSERT_CUDA(append_to(value, 2, other));
    EXPECT_EQ(value.value(), 12);
  });
}

TEST(LegacyStream, LeavesNonBlockingStreamsAlone) {
  on_device([] {
    Stream const free_stream;
    DeviceInts const on_free;
    DeviceInts const on_legacy;
    ASSERT_CUDA(append_to(on_free, 1, free_stream));
    ASSERT_CUDA(append_to(on_legacy, 2, nullptr));
    ASSERT_CUDA(append_to(on_free, 3, free_stream));
    EXPECT_EQ(on_free.value(), 13);
    EXPECT_EQ(on_legacy.value(), 2);
  });
}

TEST(PerThreadStream, IsABlockingStream) {
  on_device([] {
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 1, cudaStreamPerThread));
    ASSERT_CUDA(append_to(value, 2, cudaStreamLegacy));
    ASSERT_CUDA(append_to(value, 3, cudaStreamPerThread));
    EXPECT_EQ(value.value(), 123);
  });
}

TEST(DefaultStreams, CannotBeDestroyed) {
  on_device([] {
    EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  });
}

TEST(Streams, RememberHowTheyWereMade) {
  on_device([] {
    int least = 0;
    int greatest = 0;
    ASSERT_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT_LE(greatest, least);  // a smaller number is a higher priority
    cudaStream_t stream = nullptr;
    ASSERT_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    unsigned flags = 0;
    int priority = 0;
    int device = -1;
    ASSERT_CUDA(cudaStreamGetFlags(stream, &flags));
    ASSERT_CUDA(cudaStreamGetPriority(stream, &priority));
    ASSERT_CUDA(cudaStreamGetDevice(stream, &device));
    EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
    EXPECT_EQ(priority, greatest);
    EXPECT_EQ(device, 0);
    ASSERT_CUDA(cudaStreamDestroy(stream));
  });
}

TEST(Streams, HaveNumbersOfTheirOwn) {
  on_device([] {
    Stream const first;
    Stream const second;
    unsigned long long first_number = 0;
    unsigned long long second_number = 0;
    ASSERT_CUDA(cudaStreamGetId(first, &first_number));
    ASSERT_CUDA(cudaStreamGetId(second, &second_number));
    EXPECT_NE(first_number, second_number);
  });
}

TEST(Streams, DoNotCaptureUnasked) {
  on_device([] {
    Stream const stream;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    ASSERT_CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  });
}

TEST(Streams, RefuseUnknownFlags) {
  on_device([] {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 0x40), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  });
}

}  // namespace
}  // namespace adamant::properties
