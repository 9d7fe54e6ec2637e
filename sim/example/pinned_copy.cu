// A host that trusts a pinned buffer too early: it enqueues a copy into the buffer and reads the
// last element without waiting. On a GPU this mostly works, which is what makes it expensive.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>

#include "sim/sim.h"

namespace {

constexpr int count = 256;

__global__ void square(float* values) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = static_cast<float>(i) * static_cast<float>(i);
}

/// What one rank does; it is ordinary CUDA.
void program(bool waits) {
  float* on_device = nullptr;
  float* on_host = nullptr;
  cudaStream_t stream = nullptr;
  cudaMalloc(&on_device, count * sizeof(float));
  cudaMallocHost(&on_host, count * sizeof(float));
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  adamant::sim::name_buffer(on_host, "squares");
  adamant::sim::name_stream(stream, "copies");

  square<<<count / 128, 128, 0, stream>>>(on_device);
  cudaMemcpyAsync(on_host, on_device, count * sizeof(float), cudaMemcpyDeviceToHost, stream);
  if (waits) cudaStreamSynchronize(stream);
  float const last = on_host[count - 1];
  std::printf("the last square is %s\n", last == 255.0F * 255.0F ? "right" : "wrong");

  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFree(on_device);
  cudaFreeHost(on_host);
}

}  // namespace

int main() {
  for (bool const waits : {true, false}) {
    std::printf("%s\n", waits ? "with its wait:" : "without its wait:");
    auto const report = adamant::sim::run(1, [&](int) { program(waits); });
    std::printf("%s\n", adamant::sim::describe(report).c_str());
    if (report.ok() != waits) return 1;
  }
  return 0;
}
