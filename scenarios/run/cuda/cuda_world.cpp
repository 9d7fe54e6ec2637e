#include "scenarios/run/cuda/cuda_world.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace adamant::scenarios {

void CudaWorld::copy_to_host(int rank, void* to, void const* from, std::size_t bytes) const {
  cudaError_t error = cudaSetDevice(device(rank));
  if (error == cudaSuccess) error = cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("cannot look at rank ") + std::to_string(rank) + ": " +
                             cudaGetErrorName(error));
}

Shard CudaWorld::shard(int rank, int parameter, TensorKind kind) const {
  Shard shard = shard_of(at(rank).engine(), parameter, kind);
  if (shard.bytes.empty()) return shard;
  auto& copy = copies_[{rank, parameter, kind}];
  if (copy.empty()) {
    copy.resize(shard.bytes.size());
    copy_to_host(rank, copy.data(), shard.address, shard.bytes.size());
  }
  shard.bytes = copy;
  return shard;
}

std::optional<std::uint64_t> CudaWorld::gathered_fingerprint(int rank, int parameter) const {
  auto const partials = at(rank).gradients().partial_fingerprints(parameter);
  if (partials.empty()) return std::nullopt;
  std::vector<std::uint64_t> copy(partials.size());
  copy_to_host(rank, copy.data(), partials.data(), partials.size_bytes());
  return std::accumulate(copy.begin(), copy.end(), std::uint64_t{0});
}

}  // namespace adamant::scenarios
