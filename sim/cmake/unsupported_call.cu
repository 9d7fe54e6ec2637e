// Does not compile: its calls are not modelled, and the compiler says so (unsupported_test.cmake).
#include <cuda_runtime.h>

__global__ void sum(float* data) {
  data[0] += __shfl_down_sync(0xffffffff, data[1], 1);
}

int main() {
  float* data = nullptr;
  cudaMallocManaged(&data, 64);
  sum<<<1, 32>>>(data);
}
