// Words that the simulated test programs share: named streams and buffers of 16 floats, and kernels
// of one thread that read or write all of one.
//
// For instrumented code only; it does not know what is tested.
#pragma once

#include <cuda_runtime.h>

#include "sim/sim.h"

namespace adamant::sim {
namespace {

constexpr int count = 16;
constexpr std::size_t bytes = count * sizeof(float);

[[maybe_unused]] __global__ void fill(float* to, int n, float value) {
  for (int i = 0; i < n; ++i) to[i] = value;
}

[[maybe_unused]] __global__ void sum(float* to, float const* from, int n) {
  float total = 0;
  for (int i = 0; i < n; ++i) total += from[i];
  *to = total;
}

[[maybe_unused]] cudaStream_t new_stream(char const* name, unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, flags);
  name_stream(stream, name);
  return stream;
}

[[maybe_unused]] cudaEvent_t new_event() {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  return event;
}

[[maybe_unused]] float* on_device(char const* name) {
  float* buffer = nullptr;
  cudaMalloc(&buffer, bytes);
  name_buffer(buffer, name);
  return buffer;
}

[[maybe_unused]] float* pinned(char const* name) {
  float* buffer = nullptr;
  cudaMallocHost(&buffer, bytes);
  name_buffer(buffer, name);
  for (int i = 0; i < count; ++i) buffer[i] = static_cast<float>(i);
  return buffer;
}

[[maybe_unused]] void order(cudaStream_t before, cudaStream_t after) {
  cudaEvent_t const event = new_event();
  cudaEventRecord(event, before);
  cudaStreamWaitEvent(after, event, 0);
  cudaEventDestroy(event);
}

/// What `enqueue` gives `stream`, as a graph.
template <typename Enqueue>
[[maybe_unused]] cudaGraphExec_t captured(cudaStream_t stream, Enqueue enqueue) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  enqueue();
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  return exec;
}

/// A wrong program may go on to use what it should have waited for; what is enqueued ends anyway.
[[maybe_unused]] void finish() {
  cudaDeviceSynchronize();
}

}  // namespace
}  // namespace adamant::sim
