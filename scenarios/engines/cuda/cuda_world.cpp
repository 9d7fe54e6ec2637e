#include "scenarios/engines/cuda/cuda_world.h"

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

#include "scenarios/engines/quantised_shard.h"

namespace adamant::scenarios {

void CudaWorld::copy_to_host(int rank, void* to, void const* from, std::size_t bytes) const {
  cudaError_t error = cudaSetDevice(device(rank));
  if (error == cudaSuccess) error = cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("cannot look at rank ") + std::to_string(rank) + ": " +
                             cudaGetErrorName(error));
}

Shard CudaWorld::shard(int rank, int parameter, TensorKind kind) const {
  real::ShardView const view = at(rank).engine().shard(at(rank).place_of(parameter), kind);
  Shard shard = described(view);
  if (view.scale != nullptr) shard.scale = scale(rank, view.scale);
  if (view.quantised) show(quantised(rank, parameter, view), shard);
  if (view.data == nullptr) return shard;
  auto& copy = copies_[{rank, parameter, kind}];
  if (copy.empty()) copy = shown(rank, view);
  shard.bytes = copy;
  return shard;
}

std::shared_ptr<QuantisedShard const> CudaWorld::quantised(int rank, int parameter,
                                                           real::ShardView const& view) const {
  auto& known = quantised_[{rank, parameter}];
  auto const copy = [&](void* to, void const* from, std::size_t bytes) {
    copy_to_host(rank, to, from, bytes);
  };
  if (known == nullptr) known = quantised_shard(*view.quantised, view.numel, copy);
  return known;
}

float CudaWorld::scale(int rank, float const* address) const {
  auto const [known, is_new] = scales_.try_emplace({rank, address});
  if (is_new) copy_to_host(rank, &known->second, address, sizeof(float));
  return known->second;
}

std::vector<std::byte> CudaWorld::shown(int rank, real::ShardView const& view) const {
  if (view.format != NumberFormat::remainder) return copied(rank, view);
  std::vector<std::byte> const remainders = copied(rank, view);
  std::vector<std::byte> parameters(remainders.size());
  copy_to_host(rank, parameters.data(), view.upper, parameters.size());
  return joined(parameters, remainders);
}

std::vector<std::byte> CudaWorld::copied(int rank, real::ShardView const& view) const {
  std::size_t const size = bytes_of(view.format);
  std::size_t const tail_bytes = static_cast<std::size_t>(view.tail_numel) * size;
  std::vector<std::byte> copy(static_cast<std::size_t>(view.numel) * size);
  std::size_t const head_bytes = copy.size() - tail_bytes;
  if (view.on_host)
    std::memcpy(copy.data(), view.data, head_bytes);
  else
    copy_to_host(rank, copy.data(), view.data, head_bytes);
  if (tail_bytes > 0) std::memcpy(copy.data() + head_bytes, view.tail, tail_bytes);
  return copy;
}

RankScaling CudaWorld::scaling(int rank) const {
  real::ScalingView const view = at(rank).engine().scaling();
  real::ScalingState state;
  if (view.state != nullptr) copy_to_host(rank, &state, view.state, sizeof state);
  return scaling_of(view, state);
}

std::optional<std::uint64_t> CudaWorld::gathered_fingerprint(int rank, int parameter) const {
  auto const partials = at(rank).gradients().partial_fingerprints(at(rank).place_of(parameter));
  if (partials.empty()) return std::nullopt;
  std::vector<std::uint64_t> copy(partials.size());
  copy_to_host(rank, copy.data(), partials.data(), partials.size_bytes());
  return std::accumulate(copy.begin(), copy.end(), std::uint64_t{0});
}

}  // namespace adamant::scenarios
