// Two simulated ranks reverse and add their arrays: launches with <<<>>>, dynamic shared memory, a
// barrier, a collective.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <vector>

#include "sim/sim.h"

namespace {

constexpr int count = 64;

template <typename T>
__global__ void reverse(T* values) {
  extern __shared__ T copy[];
  copy[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

bool reverse_and_add(int rank, ncclUniqueId id) {
  ncclComm_t comm = nullptr;
  cudaSetDevice(rank);
  ncclCommInitRank(&comm, 2, id, rank);
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i);

  float* device = nullptr;
  cudaMalloc(&device, count * sizeof(float));
  cudaMemcpy(device, values.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  reverse<<<1, count, count * sizeof(float)>>>(device);
  ncclAllReduce(device, device, count, ncclFloat, ncclSum, comm, nullptr);
  cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost);

  bool right = true;
  for (int i = 0; i < count; ++i) right = right && values[i] == 2.0F * static_cast<float>(63 - i);
  cudaFree(device);
  ncclCommDestroy(comm);
  return right && cudaGetLastError() == cudaSuccess;
}

}  // namespace

int main() {
  ncclUniqueId id = {};
  bool right = true;
  auto const report = adamant::sim::run(2, [&](int rank) {
    adamant::sim::meet([&] { ncclGetUniqueId(&id); });
    if (!reverse_and_add(rank, id)) right = false;
  });
  std::printf("%s%s\n", adamant::sim::describe(report).c_str(), right ? "right" : "wrong");
  return right && report.ok() ? 0 : 1;
}
