// Numbers for benchmarks, drawn on the device, and a comparison there: hundreds of megabytes would
// take longer on their way than what is measured.
#include "real/cuda/launch.h"
#include "scenarios/bench/gpu/device.h"

namespace adamant::scenarios {

namespace {

/// Mixes the index until its bits look random (splitmix64's last step).
__device__ std::uint64_t bits_of(std::int64_t index, std::uint32_t seed) {
  std::uint64_t x = static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15ULL +
                    static_cast<std::uint64_t>(seed) * 0xd1342543de82ef95ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// The sum of four even numbers below 2^16, less its mean, over its standard deviation 37,837.
__device__ float normal_of(std::uint64_t bits) {
  std::uint64_t const sum =
      (bits & 0xffffU) + (bits >> 16 & 0xffffU) + (bits >> 32 & 0xffffU) + (bits >> 48);
  return (static_cast<float>(sum) - 131'070.0F) * (1.0F / 37'837.0F);
}

struct FillArguments {
  real::Numbers to;
  std::int64_t numel = 0;
  float sigma = 1;
  std::int32_t squared = 0;
  std::uint32_t seed = 0;
  std::uint32_t unused = 0;
};

__global__ void fill_kernel(__grid_constant__ FillArguments const a) {
  real::for_each_in_grid(a.numel, [&](std::int64_t i) {
    std::uint64_t const bits = bits_of(i, a.seed);
    if (a.to.format == NumberFormat::remainder) {
      static_cast<std::uint16_t*>(a.to.data)[i] = static_cast<std::uint16_t>(bits);
      return;
    }
    float const value = normal_of(bits);
    real::store_number(a.to, i, (a.squared != 0 ? value * value : value) * a.sigma);
  });
}

struct CompareArguments {
  std::byte const* a = nullptr;
  std::byte const* b = nullptr;
  std::int64_t bytes = 0;
  unsigned long long* count = nullptr;
};

__global__ void compare_kernel(__grid_constant__ CompareArguments const c) {
  real::for_each_in_grid(c.bytes, [&](std::int64_t i) {
    if (c.a[i] != c.b[i]) atomicAdd(c.count, 1ULL);
  });
}

}  // namespace

void Device::fill(real::Numbers const& to, std::int64_t numel, Draw const& draw) const {
  FillArguments const arguments = {.to = to,
                                   .numel = numel,
                                   .sigma = draw.sigma,
                                   .squared = draw.squared ? 1 : 0,
                                   .seed = draw.seed};
  real::launch(fill_kernel, dim3(real::blocks_for(numel)), stream, arguments);
}

std::int64_t Device::differences(std::byte const* a, std::byte const* b, std::size_t bytes) {
  auto* const count = put(std::vector<unsigned long long>{0});
  auto const length = static_cast<std::int64_t>(bytes);
  real::launch(compare_kernel, dim3(real::blocks_for(length)), stream,
               CompareArguments{.a = a, .b = b, .bytes = length, .count = count});
  return static_cast<std::int64_t>(get(count, 1).front());
}

}  // namespace adamant::scenarios
