// For tests of NCCL: every rank of a run with its own communicator, stream and buffers.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace adamant::sim {

class Rank {
 public:
  int index = 0;
  int ranks = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  template <typename T>
  T* device(std::size_t count) {
    void* address = nullptr;
    EXPECT_EQ(cudaMalloc(&address, count * sizeof(T)), cudaSuccess);
    buffers_.push_back(address);
    return static_cast<T*>(address);
  }
  template <typename T>
  T* device(std::vector<T> const& values) {
    T* const address = device<T>(values.size());
    copy(address, values.data(), values.size() * sizeof(T));
    return address;
  }
  /// The values once all work on `stream` is done; empty if the world has ended.
  template <typename T>
  std::vector<T> host(T const* address, std::size_t count) {
    std::vector<T> values(count);
    return copy(values.data(), address, count * sizeof(T)) ? values : std::vector<T>{};
  }
  ~Rank() {
    for (void* buffer : buffers_) cudaFree(buffer);
  }

 private:
  bool copy(void* to, void const* from, std::size_t bytes) const {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream) == cudaSuccess &&
           cudaStreamSynchronize(stream) == cudaSuccess;
  }

  std::vector<void*> buffers_;
};

/// Runs `body` for each rank, with a communicator of all of them.
inline Report run_ranks(int ranks, std::function<void(Rank&)> const& body,
                        Options const& options = {}) {
  ncclUniqueId id;
  auto const main = [&](int index) {
    Rank rank;
    rank.index = index;
    rank.ranks = ranks;
    if (index == 0) {
      EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    }
    barrier();
    EXPECT_EQ(ncclCommInitRank(&rank.comm, ranks, id, index), ncclSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), cudaSuccess);
    body(rank);
    cudaStreamSynchronize(rank.stream);
    ncclCommDestroy(rank.comm);
    cudaStreamDestroy(rank.stream);
  };
  return run(ranks, main, options);
}

/// Does a violation of that law say so?
inline bool mentions(Report const& report, Law law, std::string const& text) {
  for (Violation const& violation : report.violations) {
    if (violation.law == law && violation.message.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace adamant::sim
