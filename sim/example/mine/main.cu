#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>

#include "sim/sim.h"

__global__ void fill(float* to, float value) {
  to[threadIdx.x] = value;
}

void train(int rank, ncclUniqueId const& id) {
  float *device, *host;
  cudaStream_t stream;
  ncclComm_t comm;
  cudaSetDevice(rank);
  cudaStreamCreate(&stream);
  ncclCommInitRank(&comm, 2, id, rank);
  cudaMalloc(&device, 64 * sizeof(float));
  cudaMallocHost(&host, 64 * sizeof(float));
  host[0] = 0.0F;
  fill<<<1, 64, 0, stream>>>(device, rank + 1.0F);
  ncclAllReduce(device, device, 64, ncclFloat, ncclSum, comm, stream);
  cudaMemcpyAsync(host, device, 64 * sizeof(float), cudaMemcpyDeviceToHost, stream);
  float const sum = host[0];  // a wait is missing before this line
  cudaStreamSynchronize(stream);
  if (sum == host[0]) std::printf("rank %d: the sum is %g\n", rank, sum);
  ncclCommDestroy(comm);
  cudaStreamDestroy(stream);
  cudaFreeHost(host);
  cudaFree(device);
}

int main() {
  ncclUniqueId id;
  auto const report = adamant::sim::explore(
      /*ranks=*/2,
      [&](int rank) {
        if (rank == 0) ncclGetUniqueId(&id);
        adamant::sim::barrier();  // in the place of MPI_Bcast
        train(rank, id);
      },
      /*schedules=*/100);
  std::printf("%s", adamant::sim::describe(report).c_str());
  return report.ok() ? 0 : 1;
}
