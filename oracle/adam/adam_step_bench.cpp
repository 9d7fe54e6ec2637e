// How far the oracle's step is from the memory it has to move: 4 arrays read, 3 written, against
// the bare stream of the same shape over the same arrays.
#include "oracle/adam/adam_step.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace adamant::oracle {
namespace {

struct Arrays {
  explicit Arrays(std::size_t numel) : g(numel, 0.5F), p(numel, 1.0F), m(numel), v(numel) {}
  std::vector<float> g, p, m, v;
};

void adam(benchmark::State& state) {
  Arrays arrays(static_cast<std::size_t>(state.range(0)));
  std::int64_t step = 0;
  for (auto _ : state) adam_step({}, ++step, arrays.g, arrays.p, arrays.m, arrays.v);
  state.SetBytesProcessed(state.iterations() * state.range(0) * 28);
}

void stream(benchmark::State& state) {
  Arrays arrays(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (std::size_t i = 0; i < arrays.g.size(); ++i) {
      float const sum = arrays.g[i] + arrays.p[i] + arrays.m[i] + arrays.v[i];
      arrays.p[i] = sum;
      arrays.m[i] = sum;
      arrays.v[i] = sum;
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 28);
}

BENCHMARK(adam)->Arg(1 << 12)->Arg(1 << 24)->Unit(benchmark::kMicrosecond);
BENCHMARK(stream)->Arg(1 << 12)->Arg(1 << 24)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace adamant::oracle
