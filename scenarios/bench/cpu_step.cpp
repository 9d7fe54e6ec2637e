// The CPU's part of a hybrid step against what this machine's memory allows: the same traffic, four
// arrays read and three of them written in place, with next to no arithmetic. Step and roofs take
// turns on the same arrays in one process; a row is the median over the rounds of roof time over
// step time, 1 where the step is as fast as the memory.
#include <algorithm>
#include <bit>
#include <stdexcept>

#include "scenarios/bench/cpu_contest.h"
#include "scenarios/bench/suite.h"
#include "scenarios/bench/tensors_of_gpt2.h"

namespace adamant::scenarios {

namespace {

using real::CpuAdamArrays;
using real::Vectors;

constexpr std::int64_t flat_numel = 64LL << 20;
constexpr auto fp32 = NumberFormat::fp32;
constexpr CpuFormats all_fp32 = {"fp32", {fp32, fp32, fp32, fp32}, false};

// ---- the roofs ---------------------------------------------------------------------------------

template <bool fetches>
[[gnu::always_inline]] inline void stream(CpuAdamArrays const& a, std::int64_t count) {
  float* __restrict const w = a.weights;
  float const* __restrict const g = a.gradients;
  float* __restrict const m = a.exp_avg;
  float* __restrict const v = a.exp_avg_sq;
  constexpr std::int64_t block = 64;
  constexpr std::int64_t ahead = 512;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    if (fetches && begin + ahead + block <= count)
      for (std::int64_t i = begin + ahead; i < begin + ahead + block; i += 16) {
        __builtin_prefetch(w + i, 1);
        __builtin_prefetch(g + i, 0);
        __builtin_prefetch(m + i, 1);
        __builtin_prefetch(v + i, 1);
      }
    std::int64_t const end = std::min(begin + block, count);
    for (std::int64_t i = begin; i < end; ++i) {
      float const x = g[i];
      w[i] = w[i] + x;
      m[i] = m[i] + x;
      v[i] = v[i] + x;
    }
  }
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void stream_avx2(CpuAdamArrays const& a, std::int64_t count) {
  stream<false>(a, count);
}
[[gnu::target("avx2")]] void fetching_avx2(CpuAdamArrays const& a, std::int64_t count) {
  stream<true>(a, count);
}
[[gnu::target("avx512f")]] void stream_avx512(CpuAdamArrays const& a, std::int64_t count) {
  stream<false>(a, count);
}
[[gnu::target("avx512f")]] void fetching_avx512(CpuAdamArrays const& a, std::int64_t count) {
  stream<true>(a, count);
}
#endif
void stream_narrow(CpuAdamArrays const& a, std::int64_t count) {
  stream<false>(a, count);
}

using Roof = void (*)(CpuAdamArrays const&, std::int64_t);

std::vector<Roof> roofs() {
  std::vector<Roof> result{stream_narrow};
#ifdef __x86_64__
  if (real::widest_vectors() >= Vectors::avx2)
    result.insert(result.end(), {stream_avx2, fetching_avx2});
  if (real::widest_vectors() >= Vectors::avx512)
    result.insert(result.end(), {stream_avx512, fetching_avx512});
#endif
  return result;
}

// ---- taking turns ------------------------------------------------------------------------------

/// How many elements end with each tensor.
using Ends = std::vector<std::int64_t>;

Ends gpt2_ends() {
  Ends ends;
  for (ParameterSpec const& spec : parameters_of_gpt2())
    ends.push_back((ends.empty() ? 0 : ends.back()) + spec.numel());
  return ends;
}

class Measurement {
 public:
  Measurement(CpuArrays const& arrays, Ends const& ends, int threads)
      : arrays_{.weights = arrays.floats(CpuArray::weights),
                .gradients = arrays.floats(CpuArray::gradients),
                .exp_avg = arrays.floats(CpuArray::exp_avg),
                .exp_avg_sq = arrays.floats(CpuArray::exp_avg_sq)},
        numel_(ends.back()),
        contest_(threads, ends) {}

  /// Roof time over step time, a value a round.
  std::vector<double> ratios() {
    check_bits();
    std::vector<CpuContest::Loop> loops;
    for (Roof const roof : roofs())
      loops.push_back([this, roof](std::int64_t begin, std::int64_t count) {
        roof(arrays_.from(begin), count);
      });
    loops.push_back(step_);
    auto const seconds = contest_.by_turns(loops);
    return ratios_of(fastest_of(std::span(seconds).first(roofs().size())), seconds.back());
  }

 private:
  /// What is timed has the bits of the plain loop.
  void check_bits() {
    std::int64_t const numel = std::min<std::int64_t>(numel_, 1 << 20);
    CpuAdamArrays const& a = arrays_;
    std::vector<float> w(a.weights, a.weights + numel);
    std::vector<float> m(a.exp_avg, a.exp_avg + numel);
    std::vector<float> v(a.exp_avg_sq, a.exp_avg_sq + numel);
    real::cpu_adam(scalars_, {w.data(), a.gradients, m.data(), v.data()}, numel, Vectors::narrow);
    contest_.seconds(step_);
    for (std::int64_t i = 0; i < numel; ++i)
      if (std::bit_cast<std::uint32_t>(w[static_cast<std::size_t>(i)]) !=
          std::bit_cast<std::uint32_t>(a.weights[i]))
        throw std::runtime_error("the measured step differs from the plain loop");
  }

  CpuAdamArrays arrays_;
  std::int64_t numel_;
  CpuContest contest_;
  real::StepScalars scalars_ = real::step_scalars({}, 3, true);
  CpuContest::Loop step_ = [this](std::int64_t begin, std::int64_t count) {
    real::cpu_adam(scalars_, arrays_.from(begin), count);
  };
};

/// Two threads over one in a loop that stays in cache: 0.5 on two processors, 1 on one that seems
/// to be two.
double arithmetic_scaling() {
  constexpr int calls = 2'000;
  constexpr std::int64_t numel = 4'096;
  auto const scalars = real::step_scalars({}, 3, true);
  auto const seconds = [&](int threads) {
    real::ThreadCrew crew(threads, pin_to);
    return seconds_of([&] {
      crew.parallel_for(threads, [&](int) {
        std::vector<float> w(numel, 1.0F), g(numel, 1e-3F), m(numel), v(numel);
        for (int i = 0; i < calls / threads; ++i)
          real::cpu_adam(scalars, {w.data(), g.data(), m.data(), v.data()}, numel);
      });
    });
  };
  seconds(2);
  return seconds(2) / seconds(1);
}

/// One thread on a flat buffer gives the main row.
void measure(CpuArrays const& arrays, Ends const& ends, std::string const& name, SuiteRows& rows) {
  for (int threads = 1; threads <= 2; ++threads) {
    auto const ratios = Measurement(arrays, ends, threads).ratios();
    std::string const label = name + "_" + std::to_string(threads) + "_threads";
    if (label == "flat_1_threads")
      rows.add_main(median(ratios), "x");
    else
      rows.add(label, median(ratios), "x");
    rows.add(label + "_lower_quartile", quantile(ratios, 0.25), "x");
    rows.add(label + "_upper_quartile", quantile(ratios, 0.75), "x");
  }
}

}  // namespace

void measure_cpu_step(BenchOptions const&, SuiteRows& rows) {
  PinnedToFirst const pinned;
  {
    CpuArrays const arrays(all_fp32, MemoryPlacement::staggered, flat_numel);
    measure(arrays, {flat_numel}, "flat", rows);
    rows.add("arrays_apart", static_cast<double>(arrays.memory().distance_bytes()), "bytes");
    rows.add("huge_pages", arrays.memory().huge() ? 1.0 : 0.0, "");
  }
  Ends const ends = gpt2_ends();
  measure(CpuArrays(all_fp32, MemoryPlacement::staggered, ends.back()), ends, "gpt2", rows);
  rows.add("two_threads_over_one_in_cache", arithmetic_scaling(), "x");
}

}  // namespace adamant::scenarios
