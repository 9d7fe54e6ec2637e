// The seam under the conformance suite: runs a case on whatever CUDA the suite was built against.
// The cases say CUDA and GoogleTest and cannot tell which one answers.
//
// A case must be a correct program: on the simulator it runs under several schedules, each with all
// checks on, and a violation fails it.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace adamant::properties {

/// Runs `body` as the host program of one rank on device 0. Skips the test, with the reason, where
/// no device answers. Afterwards the last error must be clear: a case takes the errors it provokes.
void on_device(std::function<void()> const& body);

/// The same for a case that breaks the rules of capture on purpose to see the error codes. On the
/// simulator it must be reported for that (graph.capture), and for nothing else.
void on_device_against_capture_rules(std::function<void()> const& body);

#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess)

/// A stream of one case.
class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&handle_, flags), cudaSuccess);
  }
  ~Stream() { EXPECT_EQ(cudaStreamDestroy(handle_), cudaSuccess); }
  Stream(Stream const&) = delete;
  Stream& operator=(Stream const&) = delete;
  operator cudaStream_t() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    EXPECT_EQ(cudaEventCreateWithFlags(&handle_, flags), cudaSuccess);
  }
  ~Event() { EXPECT_EQ(cudaEventDestroy(handle_), cudaSuccess); }
  Event(Event const&) = delete;
  Event& operator=(Event const&) = delete;
  operator cudaEvent_t() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

/// Integers in device memory, zero at first.
class DeviceInts {
 public:
  explicit DeviceInts(std::size_t count = 1) : count_(count) {
    EXPECT_EQ(cudaMalloc(&data_, bytes()), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0, bytes()), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  ~DeviceInts() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaFree(data_), cudaSuccess);
  }
  DeviceInts(DeviceInts const&) = delete;
  DeviceInts& operator=(DeviceInts const&) = delete;
  int* data() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(int); }
  /// The values once everything enqueued is done.
  std::vector<int> values() const {
    std::vector<int> result(count_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(result.data(), data_, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    return result;
  }
  int value() const { return values().front(); }

 private:
  std::size_t count_;
  int* data_ = nullptr;
};

/// Integers in page-locked host memory, zero at first.
class PinnedInts {
 public:
  explicit PinnedInts(std::size_t count = 1) : count_(count) {
    EXPECT_EQ(cudaMallocHost(&data_, bytes()), cudaSuccess);
    for (std::size_t i = 0; i < count; ++i) data_[i] = 0;
  }
  ~PinnedInts() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(data_), cudaSuccess);
  }
  PinnedInts(PinnedInts const&) = delete;
  PinnedInts& operator=(PinnedInts const&) = delete;
  int* data() const { return data_; }
  int& operator[](std::size_t i) const { return data_[i]; }
  std::size_t bytes() const { return count_ * sizeof(int); }

 private:
  std::size_t count_;
  int* data_ = nullptr;
};

/// Writes one more digit: the value tells in which order kernels ran.
[[maybe_unused]] static __global__ void append(int* value, int digit) {
  *value = *value * 10 + digit;
}
[[maybe_unused]] static __global__ void copy_one(int* to, int const* from) {
  *to = *from;
}

template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                   Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

inline cudaError_t append_to(DeviceInts const& value, int digit, cudaStream_t stream) {
  return launch(append, 1, 1, stream, value.data(), digit);
}

}  // namespace adamant::properties
