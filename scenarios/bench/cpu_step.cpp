// The CPU's part of a hybrid step against what this machine's memory allows: the same traffic, four
// arrays read and three of them written in place, with next to no arithmetic. Step and roofs take
// turns on the same arrays in one process; a row is the median over the rounds of roof time over
// step time, 1 where the step is as fast as the memory.
#include <algorithm>
#include <bit>
#include <stdexcept>

#include "real/offload/cpu_adam.h"
#include "real/offload/runs.h"
#include "real/offload/thread_crew.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/placed_memory.h"
#include "scenarios/bench/suite.h"
#include "scenarios/bench/tensors_of_gpt2.h"

namespace adamant::scenarios {

namespace {

using real::CpuAdamArrays;
using real::Vectors;

constexpr char const* suite = "cpu_step_over_roof";
constexpr int rounds = 21;
constexpr std::int64_t flat_numel = 64LL << 20;

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

// ---- the arrays --------------------------------------------------------------------------------

/// The four arrays of a step, in huge pages where the system gives them.
class Arrays {
 public:
  explicit Arrays(std::int64_t numel) : memory_(4, numel * 4, MemoryPlacement::staggered) {
    for (std::int64_t i = 0; i < numel; ++i) {
      array(0)[i] = 1.0F;
      array(1)[i] = 1e-3F * static_cast<float>(i % 7 - 3);
      array(2)[i] = array(3)[i] = 0.0F;
    }
  }

  CpuAdamArrays all() const { return {array(0), array(1), array(2), array(3)}; }
  PlacedMemory const& memory() const { return memory_; }

 private:
  float* array(int number) const { return reinterpret_cast<float*>(memory_.array(number)); }

  PlacedMemory memory_;
};

/// The tensors of a step: how many elements end with each, one after the other in all arrays.
using Tensors = std::vector<std::int64_t>;

Tensors gpt2_tensors() {
  Tensors ends;
  for (ParameterSpec const& spec : parameters_of_gpt2())
    ends.push_back((ends.empty() ? 0 : ends.back()) + spec.numel());
  return ends;
}

// ---- taking turns ------------------------------------------------------------------------------

class Measurement {
 public:
  Measurement(Arrays const& arrays, Tensors const& tensors, int threads)
      : arrays_(arrays), tensors_(tensors), crew_(threads, pin_to) {}

  /// Roof time over step time, a value a round.
  std::vector<double> ratios() {
    check_bits();
    std::vector<std::vector<double>> roof_seconds(roofs().size());
    std::vector<double> step_seconds;
    for (int round = -1; round < rounds; ++round) {
      for (std::size_t i = 0; i < roof_seconds.size(); ++i) {
        double const seconds = timed(roofs()[i]);
        if (round >= 0) roof_seconds[i].push_back(seconds);
      }
      double const seconds = timed([this](CpuAdamArrays const& a, std::int64_t count) {
        real::cpu_adam(scalars_, a, count);
      });
      if (round >= 0) step_seconds.push_back(seconds);
    }
    std::vector<double> fastest = *std::min_element(
        roof_seconds.begin(), roof_seconds.end(),
        [](auto const& a, auto const& b) { return quantile(a, 0.5) < quantile(b, 0.5); });
    for (std::size_t i = 0; i < fastest.size(); ++i) fastest[i] /= step_seconds[i];
    return fastest;
  }

 private:
  template <typename Loop>
  double timed(Loop const& loop) {
    pause_between_contenders();
    return seconds_of([&] {
      crew_.parallel_for(crew_.count(), [&](int chunk) {
        auto const range = real::chunk_of(tensors_.back(), chunk, crew_.count());
        real::for_each_run(tensors_, range,
                           [&](std::size_t tensor, std::int64_t first, std::int64_t count) {
                             std::int64_t const begins = tensor == 0 ? 0 : tensors_[tensor - 1];
                             loop(arrays_.all().from(begins + first), count);
                           });
      });
    });
  }

  /// What is timed has the bits of the plain loop.
  void check_bits() {
    std::int64_t const numel = std::min<std::int64_t>(tensors_.back(), 1 << 20);
    CpuAdamArrays const a = arrays_.all();
    std::vector<float> w(a.weights, a.weights + numel);
    std::vector<float> m(a.exp_avg, a.exp_avg + numel);
    std::vector<float> v(a.exp_avg_sq, a.exp_avg_sq + numel);
    real::cpu_adam(scalars_, {w.data(), a.gradients, m.data(), v.data()}, numel, Vectors::narrow);
    timed([this](CpuAdamArrays const& run, std::int64_t count) {
      real::cpu_adam(scalars_, run, count);
    });
    for (std::int64_t i = 0; i < numel; ++i)
      if (std::bit_cast<std::uint32_t>(w[static_cast<std::size_t>(i)]) !=
          std::bit_cast<std::uint32_t>(a.weights[i]))
        throw std::runtime_error("the measured step differs from the plain loop");
  }

  Arrays const& arrays_;
  Tensors const& tensors_;
  real::ThreadCrew crew_;
  real::StepScalars scalars_ = real::step_scalars({}, 3, true);
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

void measure(Arrays const& arrays, Tensors const& tensors, std::string const& name,
             std::vector<Row>& rows) {
  for (int threads = 1; threads <= 2; ++threads) {
    auto const ratios = Measurement(arrays, tensors, threads).ratios();
    std::string const label = name + "_" + std::to_string(threads) + "_threads";
    rows.push_back({suite, label, quantile(ratios, 0.5), "x"});
    rows.push_back({suite, label + "_lower_quartile", quantile(ratios, 0.25), "x"});
    rows.push_back({suite, label + "_upper_quartile", quantile(ratios, 0.75), "x"});
  }
}

}  // namespace

std::vector<Row> measure_cpu_step(BenchOptions const&) {
  cpu_set_t before;
  static_cast<void>(::sched_getaffinity(0, sizeof before, &before));
  pin_to(0);
  std::vector<Row> rows;
  {
    Arrays const arrays(flat_numel);
    measure(arrays, {flat_numel}, "flat", rows);
    rows.front().name = suite;  // one thread on a flat buffer: the main row
    rows.push_back(
        {suite, "arrays_apart", static_cast<double>(arrays.memory().distance_bytes()), "bytes"});
    rows.push_back({suite, "huge_pages", arrays.memory().huge() ? 1.0 : 0.0, ""});
  }
  Tensors const tensors = gpt2_tensors();
  measure(Arrays(tensors.back()), tensors, "gpt2", rows);
  rows.push_back({suite, "two_threads_over_one_in_cache", arithmetic_scaling(), "x"});
  static_cast<void>(::sched_setaffinity(0, sizeof before, &before));
  return rows;
}

}  // namespace adamant::scenarios
