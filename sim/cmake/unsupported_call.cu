// Does not compile: nothing of it is modelled, and the compiler says so (unsupported_test.cmake).
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void sum(float* data) {
  data[0] += __shfl_down_sync(0xffffffff, data[1], 1);
}

#define LAUNCH(kernel, ...)         \
  do {                              \
    kernel<<<1, 32>>>(__VA_ARGS__); \
    cudaDeviceSynchronize();        \
  } while (false)
#define NEVER_USED sum<<<1, 32>>>

int main() {
  cuInit(0);
  float* data = nullptr;
  cudaMallocManaged(&data, 64);
  sum<<<1, 32>>>(data);
  LAUNCH(sum, data);
}
