// What the race checker's memory of the past costs per access: whole buffers, as kernels touch
// them, and single elements out of order, its worst case.
#include "sim/watch/segments.h"

#include <benchmark/benchmark.h>

#include "sim/world/prng.h"

namespace adamant::sim {
namespace {

void ignore(Touch const&, bool, std::uint64_t, std::uint64_t) {}

void whole_buffer(benchmark::State& state) {
  auto const bytes = static_cast<std::uint64_t>(state.range(0));
  Segments segments;
  segments.reset(bytes, {});
  VectorClock clock;
  clock.advance(0);
  for (auto _ : state) {
    segments.access(0, bytes, true, {{0, 1}, 1}, clock, ignore);
    segments.access(0, bytes, false, {{0, 1}, 2}, clock, ignore);
  }
}

void scattered_elements(benchmark::State& state) {
  auto const count = static_cast<std::uint32_t>(state.range(0));
  VectorClock clock;
  clock.advance(0);
  for (auto _ : state) {
    Segments segments;
    segments.reset(std::uint64_t{count} * 8, {});
    Prng prng(1);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint64_t const at = std::uint64_t{prng.below(count)} * 8;
      segments.access(at, at + 4, true, {{0, 1}, i}, clock, ignore);
    }
  }
  state.SetItemsProcessed(state.iterations() * count);
}

BENCHMARK(whole_buffer)->Arg(32)->Arg(1 << 20);
BENCHMARK(scattered_elements)->Arg(1 << 10)->Arg(1 << 16);

}  // namespace
}  // namespace adamant::sim
