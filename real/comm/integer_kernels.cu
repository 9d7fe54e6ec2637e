// Launch:  blocks over elements. Addresses of sources travel in the argument struct, so a launch
//          takes at most `sources_max` of them; later ones add to what is there.
// Traffic: a few words a rank; what counts is the launch.
#include "real/comm/integer_kernels.h"

#include <algorithm>

#include "real/cuda/launch.h"

namespace adamant::real {

namespace {

constexpr std::size_t sources_max = 64;

template <typename T>
struct IntegerArguments {
  void const* sources[sources_max] = {};
  T* destination = nullptr;
  std::int64_t count = 0;
  std::int32_t source_count = 0;
  std::int32_t first = 1;  // of several launches
};

/// Adds as unsigned numbers do, which may wrap.
struct Sum {
  __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
};

struct Max {
  __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a < b ? b : a; }
};

template <typename T, typename Join>
__global__ void integer_kernel(__grid_constant__ IntegerArguments<T> const a) {
  for_each_in_grid(a.count, [&](std::int64_t i) {
    T joined = static_cast<T const*>(a.sources[0])[i];
    if (a.first == 0) joined = Join{}(a.destination[i], joined);
    for (int s = 1; s < a.source_count; ++s)
      joined = Join{}(joined, static_cast<T const*>(a.sources[s])[i]);
    a.destination[i] = joined;
  });
}

template <typename T, typename Join>
void launch_join(std::span<void const* const> sources, T* destination, std::int64_t count,
                 Stream const& stream) {
  for (std::size_t first = 0; first < sources.size(); first += sources_max) {
    auto const batch = sources.subspan(first, std::min(sources_max, sources.size() - first));
    IntegerArguments<T> arguments;
    std::copy(batch.begin(), batch.end(), arguments.sources);
    arguments.source_count = static_cast<int>(batch.size());
    arguments.destination = destination;
    arguments.count = count;
    arguments.first = first == 0 ? 1 : 0;
    launch(integer_kernel<T, Join>, dim3(blocks_for(count)), stream, arguments);
  }
}

}  // namespace

void launch_integer_sum(std::span<void const* const> sources, std::int64_t* destination,
                        std::int64_t count, Stream const& stream) {
  launch_join<std::int64_t, Sum>(sources, destination, count, stream);
}

void launch_integer_max(std::span<void const* const> sources, std::int32_t* destination,
                        std::int64_t count, Stream const& stream) {
  launch_join<std::int32_t, Max>(sources, destination, count, stream);
}

}  // namespace adamant::real
