// Launch:  blocks over elements; for copies times one row of blocks a source. Addresses of sources
//          travel in the argument struct, so a launch takes at most `sources_max` of them.
// Traffic: a copy reads and writes 8 bytes an element of the destination; a sum of n sources reads
//          4 n and writes 4. The loop-back is for correctness: it makes no use of links.
#include <algorithm>

#include "real/comm/peer_kernels.h"
#include "real/cuda/launch.h"

namespace adamant::real {

namespace {

constexpr std::size_t sources_max = 64;

struct PeerArguments {
  float const* sources[sources_max] = {};
  int source_count = 0;
  float* destination = nullptr;
  std::int64_t count = 0;
  bool accumulate = false;
};

__global__ void peer_copy_kernel(__grid_constant__ PeerArguments const a) {
  float const* const source = a.sources[blockIdx.y];
  float* const destination = a.destination + static_cast<std::int64_t>(blockIdx.y) * a.count;
  for_each_in_grid(a.count, [&](std::int64_t i) { destination[i] = source[i]; });
}

__global__ void peer_sum_kernel(__grid_constant__ PeerArguments const a) {
  for_each_in_grid(a.count, [&](std::int64_t i) {
    float sum = a.accumulate ? a.destination[i] + a.sources[0][i] : a.sources[0][i];
    for (int s = 1; s < a.source_count; ++s) sum = sum + a.sources[s][i];
    a.destination[i] = sum;
  });
}

PeerArguments batch_of(std::span<float const* const> sources, float* destination,
                       std::int64_t count) {
  PeerArguments arguments;
  std::copy(sources.begin(), sources.end(), arguments.sources);
  arguments.source_count = static_cast<int>(sources.size());
  arguments.destination = destination;
  arguments.count = count;
  return arguments;
}

}  // namespace

void launch_peer_copy(std::span<float const* const> sources, float* destination, std::int64_t count,
                      Stream const& stream) {
  for (std::size_t first = 0; first < sources.size(); first += sources_max) {
    auto const batch = sources.subspan(first, std::min(sources_max, sources.size() - first));
    float* const part = destination + static_cast<std::int64_t>(first) * count;
    launch(peer_copy_kernel, dim3(blocks_for(count), static_cast<unsigned>(batch.size())), stream,
           batch_of(batch, part, count));
  }
}

void launch_peer_sum(std::span<float const* const> sources, float* destination, std::int64_t count,
                     Stream const& stream) {
  for (std::size_t first = 0; first < sources.size(); first += sources_max) {
    auto const batch = sources.subspan(first, std::min(sources_max, sources.size() - first));
    PeerArguments arguments = batch_of(batch, destination, count);
    arguments.accumulate = first > 0;
    launch(peer_sum_kernel, dim3(blocks_for(count)), stream, arguments);
  }
}

}  // namespace adamant::real
