#include "properties/conformance/on_device.h"

namespace adamant::properties {

void on_device(std::function<void()> const& body) {
  int devices = 0;
  cudaError_t const error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
  }
  body();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

void on_device_against_capture_rules(std::function<void()> const& body) {
  on_device(body);
}

}  // namespace adamant::properties
