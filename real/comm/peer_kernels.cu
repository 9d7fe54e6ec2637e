// Launch:  blocks over elements, 8 a thread by 16-byte accesses where arrays lie so; for copies
//          times one row of blocks a source. Addresses of sources travel in the argument struct, so
//          a launch takes at most `sources_max` of them.
// Traffic: of b bytes an element, a copy reads and writes 2 b an element of the destination; a sum
//          of n sources reads n b and writes b. The loop-back is for correctness: it makes no use
//          of links.
#include "real/comm/peer_kernels.h"

#include <algorithm>

#include "real/cuda/lanes.h"
#include "real/cuda/launch.h"

namespace adamant::real {

namespace {

constexpr std::size_t sources_max = 64;

struct PeerArguments {
  void const* sources[sources_max] = {};
  int source_count = 0;
  PeerTarget target;
  bool accumulate = false;
};

template <typename T>
__device__ __forceinline__ void copy_lanes(T const* from, int count, T* to) {
  if (count < lanes || !is_packed(from) || !is_packed(to)) {
    for (int k = 0; k < count; ++k) to[k] = from[k];
    return;
  }
  for (int k = 0; k < lanes; k += Packed<T>::count) store_packed(load_packed(from + k), to + k);
}

template <typename T>
__device__ void copy_elements(PeerArguments const& a) {
  auto const* const source = static_cast<T const*>(a.sources[blockIdx.y]);
  T* const destination = static_cast<T*>(a.target.destination) +
                         static_cast<std::int64_t>(blockIdx.y) * a.target.count;
  if (source == destination) return;  // in place
  for_each_lanes_in_grid(a.target.count, [&](Lanes const& at) {
    copy_lanes(source + at.begin, at.count, destination + at.begin);
  });
}

/// Between two additions the sum is what the format can hold, as it would be in memory.
template <typename T>
__device__ __forceinline__ void add_rounded(T const* more, int count, float* sum) {
  float numbers[lanes] = {};
  load_as(more, count, numbers);
  for (int k = 0; k < lanes; ++k) sum[k] = widened(stored<T>(sum[k] + numbers[k]));
}

template <typename T>
__device__ void sum_elements(PeerArguments const& a) {
  T* const destination = static_cast<T*>(a.target.destination);
  int const first = a.accumulate ? 0 : 1;  // to be added
  for_each_lanes_in_grid(a.target.count, [&](Lanes const& at) {
    auto const source = [&](int s) { return static_cast<T const*>(a.sources[s]) + at.begin; };
    float sum[lanes] = {};
    load_as(a.accumulate ? destination + at.begin : source(0), at.count, sum);
    for (int s = first; s < a.source_count; ++s) add_rounded(source(s), at.count, sum);
    store_as(sum, at.count, destination + at.begin);
  });
}

__global__ void peer_copy_kernel(__grid_constant__ PeerArguments const a) {
  switch (element_bytes(a.target.format)) {
    case sizeof(float):
      return copy_elements<float>(a);
    case sizeof(std::uint16_t):
      return copy_elements<std::uint16_t>(a);
    default:
      return copy_elements<std::uint8_t>(a);
  }
}

__global__ void peer_sum_kernel(__grid_constant__ PeerArguments const a) {
  with_type_of(a.target.format, [&]<typename T>(T*) { sum_elements<T>(a); });
}

PeerArguments batch_of(std::span<void const* const> sources, PeerTarget const& target) {
  PeerArguments arguments;
  std::copy(sources.begin(), sources.end(), arguments.sources);
  arguments.source_count = static_cast<int>(sources.size());
  arguments.target = target;
  return arguments;
}

}  // namespace

void launch_peer_copy(std::span<void const* const> sources, PeerTarget const& target,
                      Stream const& stream) {
  for (std::size_t first = 0; first < sources.size(); first += sources_max) {
    auto const batch = sources.subspan(first, std::min(sources_max, sources.size() - first));
    PeerTarget part = target;
    std::size_t const before = first * static_cast<std::size_t>(target.count);
    part.destination =
        static_cast<std::byte*>(target.destination) + before * bytes_of(target.format);
    launch(peer_copy_kernel, dim3(blocks_for(target.count), static_cast<unsigned>(batch.size())),
           stream, batch_of(batch, part));
  }
}

void launch_peer_sum(std::span<void const* const> sources, PeerTarget const& target,
                     Stream const& stream) {
  for (std::size_t first = 0; first < sources.size(); first += sources_max) {
    auto const batch = sources.subspan(first, std::min(sources_max, sources.size() - first));
    PeerArguments arguments = batch_of(batch, target);
    arguments.accumulate = first > 0;
    launch(peer_sum_kernel, dim3(blocks_for(target.count)), stream, arguments);
  }
}

}  // namespace adamant::real
