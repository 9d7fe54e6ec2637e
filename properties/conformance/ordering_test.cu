// What orders work and what the host may rely on: rules O-1, O-2, O-4, O-6 of CUDA's asynchronous
// execution.
#include "properties/conformance/on_device.h"

namespace adamant::properties {
namespace {

TEST(Ordering, WorkOfOneStreamRunsInIssueOrder) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    for (int digit = 1; digit <= 5; ++digit) ASSERT_CUDA(append_to(value, digit, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(value.value(), 12345);
  });
}

TEST(Ordering, CopiesAndFillsTakeTheirTurnAmongKernels) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    DeviceInts const other;
    ASSERT_CUDA(append_to(value, 7, stream));
    ASSERT_CUDA(cudaMemcpyAsync(other.data(), value.data(), value.bytes(), cudaMemcpyDeviceToDevice,
                                stream));
    ASSERT_CUDA(cudaMemsetAsync(value.data(), 0, value.bytes(), stream));
    ASSERT_CUDA(append_to(value, 1, stream));
    ASSERT_CUDA(append_to(other, 2, stream));
    EXPECT_EQ(value.value(), 1);
    EXPECT_EQ(other.value(), 72);
  });
}

TEST(Ordering, AnEventEdgeOrdersTwoStreams) {
  on_device([] {
    Stream const first;
    Stream const second;
    Event const done;
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 1, first));
    ASSERT_CUDA(cudaEventRecord(done, first));
    ASSERT_CUDA(cudaStreamWaitEvent(second, done));
    ASSERT_CUDA(append_to(value, 2, second));
    EXPECT_EQ(value.value(), 12);
  });
}

TEST(Ordering, EventEdgesAreTransitive) {
  on_device([] {
    Stream const a;
    Stream const b;
    Stream const c;
    Event const ab;
    Event const bc;
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 1, a));
    ASSERT_CUDA(cudaEventRecord(ab, a));
    ASSERT_CUDA(cudaStreamWaitEvent(b, ab));
    ASSERT_CUDA(cudaEventRecord(bc, b));
    ASSERT_CUDA(cudaStreamWaitEvent(c, bc));
    ASSERT_CUDA(append_to(value, 3, c));
    EXPECT_EQ(value.value(), 13);
  });
}

TEST(Ordering, ASynchronisedStreamsResultsAreVisibleToTheHost) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    PinnedInts const result;
    ASSERT_CUDA(append_to(value, 4, stream));
    ASSERT_CUDA(cudaMemcpyAsync(result.data(), value.data(), value.bytes(), cudaMemcpyDeviceToHost,
                                stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(result[0], 4);
  });
}

TEST(Ordering, AQueryThatSucceedsMakesResultsVisible) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    PinnedInts const result;
    ASSERT_CUDA(append_to(value, 4, stream));
    ASSERT_CUDA(cudaMemcpyAsync(result.data(), value.data(), value.bytes(), cudaMemcpyDeviceToHost,
                                stream));
    cudaError_t state = cudaErrorNotReady;
    while (state == cudaErrorNotReady) state = cudaStreamQuery(stream);
    ASSERT_CUDA(state);
    EXPECT_EQ(result[0], 4);
    static_cast<void>(cudaGetLastError());  // may hold cudaErrorNotReady
  });
}

struct Heard {
  int const* source = nullptr;
  int value = 0;
};
void listen(void* data) {
  auto* const heard = static_cast<Heard*>(data);
  heard->value = *heard->source;
}

TEST(Ordering, AHostFunctionSeesTheWorkBeforeIt) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    PinnedInts const result;
    Heard heard;
    heard.source = result.data();
    ASSERT_CUDA(append_to(value, 6, stream));
    ASSERT_CUDA(cudaMemcpyAsync(result.data(), value.data(), value.bytes(), cudaMemcpyDeviceToHost,
                                stream));
    ASSERT_CUDA(cudaLaunchHostFunc(stream, listen, &heard));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(heard.value, 6);
  });
}

void write_nine(void* data) {
  *static_cast<int*>(data) = 9;
}

TEST(Ordering, WorkAfterAHostFunctionSeesItsWrites) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    PinnedInts const source;
    ASSERT_CUDA(cudaLaunchHostFunc(stream, write_nine, source.data()));
    ASSERT_CUDA(cudaMemcpyAsync(value.data(), source.data(), value.bytes(), cudaMemcpyHostToDevice,
                                stream));
    EXPECT_EQ(value.value(), 9);
  });
}

TEST(Ordering, KernelArgumentsAreCopiedAtTheLaunch) {
  on_device([] {
    Stream const stream;
    DeviceInts const value;
    int digit = 3;
    {
      cudaLaunchConfig_t config = {};
      config.gridDim = 1;
      config.blockDim = 1;
      config.stream = stream;
      ASSERT_CUDA(cudaLaunchKernelEx(&config, append, value.data(), digit));
      config.gridDim = 0;  // the configuration may change, too
    }
    digit = 8;
    EXPECT_EQ(value.value(), 3);
    EXPECT_EQ(digit, 8);
  });
}

TEST(Ordering, WorkOfADestroyedStreamStillRuns) {
  on_device([] {
    DeviceInts const value;
    {
      Stream const stream;
      ASSERT_CUDA(append_to(value, 1, stream));
      ASSERT_CUDA(append_to(value, 2, stream));
    }
    EXPECT_EQ(value.value(), 12);
  });
}

TEST(Ordering, AWaitOutlivesItsEvent) {
  on_device([] {
    Stream const first;
    Stream const second;
    DeviceInts const value;
    ASSERT_CUDA(append_to(value, 1, first));
    {
      Event const done;
      ASSERT_CUDA(cudaEventRecord(done, first));
      ASSERT_CUDA(cudaStreamWaitEvent(second, done));
    }
    ASSERT_CUDA(append_to(value, 2, second));
    EXPECT_EQ(value.value(), 12);
  });
}

}  // namespace
}  // namespace adamant::properties
