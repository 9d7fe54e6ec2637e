#include "scenarios/bench/asynchronous_calls.h"

#include <cuda_runtime.h>

#include <stdexcept>

namespace {

using adamant::scenarios::AsynchronousCalls;

constexpr int elements = 8;
constexpr std::size_t bytes = elements * sizeof(float);

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
}
void check(ncclResult_t result) {
  if (result != ncclSuccess) throw std::runtime_error(ncclGetErrorString(result));
}

__global__ void accumulate(float const* input, float* output) {
  unsigned const i = threadIdx.x;
  output[i] = output[i] + input[i];
}

/// What one rank holds for the length of the program.
struct Rank {
  cudaStream_t compute = nullptr;
  cudaStream_t communication = nullptr;
  cudaStream_t copies = nullptr;
  cudaEvent_t copied = nullptr;
  cudaEvent_t computed = nullptr;
  cudaEvent_t reduced = nullptr;
  cudaEvent_t used = nullptr;
  float* on_host = nullptr;
  float* input = nullptr;
  float* partial = nullptr;
  float* sum = nullptr;
  ncclComm_t communicator = nullptr;
};

Rank open_rank(AsynchronousCalls const& calls) {
  Rank rank;
  check(cudaSetDevice(calls.rank));
  for (cudaStream_t* stream : {&rank.compute, &rank.communication, &rank.copies}) {
    check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  }
  for (cudaEvent_t* event : {&rank.copied, &rank.computed, &rank.reduced, &rank.used}) {
    check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }
  check(cudaMallocHost(reinterpret_cast<void**>(&rank.on_host), bytes));
  for (float** buffer : {&rank.input, &rank.partial, &rank.sum}) {
    check(cudaMalloc(reinterpret_cast<void**>(buffer), bytes));
    check(cudaMemsetAsync(*buffer, 0, bytes, rank.compute));
  }
  check(cudaStreamSynchronize(rank.compute));
  for (int i = 0; i < elements; ++i) rank.on_host[i] = static_cast<float>(i);
  check(ncclCommInitRank(&rank.communicator, calls.ranks, calls.id, calls.rank));
  return rank;
}

void close_rank(Rank const& rank) {
  check(cudaDeviceSynchronize());
  check(ncclCommDestroy(rank.communicator));
  for (float* buffer : {rank.input, rank.partial, rank.sum}) check(cudaFree(buffer));
  check(cudaFreeHost(rank.on_host));
  for (cudaEvent_t event : {rank.copied, rank.computed, rank.reduced, rank.used}) {
    check(cudaEventDestroy(event));
  }
  for (cudaStream_t stream : {rank.compute, rank.communication, rank.copies}) {
    check(cudaStreamDestroy(stream));
  }
}

/// `second` goes on only when all that `first` has been given is done: two asynchronous calls.
void order(cudaStream_t first, cudaEvent_t event, cudaStream_t second) {
  check(cudaEventRecord(event, first));
  check(cudaStreamWaitEvent(second, event, 0));
}

void run_round(Rank const& rank) {
  check(cudaMemcpyAsync(rank.input, rank.on_host, bytes, cudaMemcpyHostToDevice, rank.copies));
  order(rank.copies, rank.copied, rank.compute);
  accumulate<<<1, elements, 0, rank.compute>>>(rank.input, rank.partial);
  accumulate<<<1, elements, 0, rank.compute>>>(rank.input, rank.partial);
  accumulate<<<1, elements, 0, rank.compute>>>(rank.input, rank.partial);
  order(rank.compute, rank.computed, rank.communication);
  check(ncclAllReduce(rank.partial, rank.sum, elements, ncclFloat, ncclSum, rank.communicator,
                      rank.communication));
  order(rank.communication, rank.reduced, rank.compute);
  accumulate<<<1, elements, 0, rank.compute>>>(rank.sum, rank.partial);
  accumulate<<<1, elements, 0, rank.compute>>>(rank.input, rank.partial);
  order(rank.compute, rank.used, rank.copies);
}

}  // namespace

extern "C" void adamant_bench_make_id(ncclUniqueId* id) {
  check(ncclGetUniqueId(id));
}

extern "C" void adamant_bench_asynchronous_calls(AsynchronousCalls const* calls) {
  Rank const rank = open_rank(*calls);
  for (int round = 0; round < calls->rounds; ++round) run_round(rank);
  close_rank(rank);
}
