// The CPU's part of a hybrid step in narrow formats, on unlucky placements, and with the factors of
// loss scale and clipping. All rows are ratios of times taken by turns in one process, medians over
// the rounds; below 1 the first of the two is faster. A roof is a loop over the same arrays that
// reads and writes the same bytes in place with next to no arithmetic: in each round the faster of
// one that asks for what comes later, as the step does, and one that does not. In cache, where
// bytes cost nothing, a step is held to the fp32 roof of the memory.
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "real/offload/cpu_adam.h"
#include "real/offload/runs.h"
#include "real/offload/thread_crew.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/placed_memory.h"
#include "scenarios/bench/suite.h"

namespace adamant::scenarios {

namespace {

using real::CpuAdamNumbers;
using real::StepScalars;
constexpr auto fp32 = NumberFormat::fp32;
constexpr auto bf16 = NumberFormat::bf16;
constexpr auto fp8 = NumberFormat::fp8;

constexpr char const* suite = "cpu_step_formats";
constexpr int rounds = 21;
constexpr std::int64_t numel = 1 << 24;
constexpr std::int64_t cached_numel = 1024;
constexpr int cached_calls = 200;

enum Place { weights, gradients, exp_avg, exp_avg_sq, parameter };

struct Combination {
  char const* name;
  std::array<NumberFormat, 4> formats;  // of weights, gradients and both moments
  bool copies;
};

constexpr Combination combinations[] = {
    {"fp32", {fp32, fp32, fp32, fp32}, false},
    {"fp32_and_bf16_copy", {fp32, fp32, fp32, fp32}, true},
    {"fp32_and_bf16_copy_bf16_gradient", {fp32, bf16, fp32, fp32}, true},
    {"remainder", {NumberFormat::remainder, bf16, fp32, fp32}, true},
    {"bf16_moments", {fp32, bf16, bf16, bf16}, true},
    {"fp8_moments", {fp32, bf16, fp8, fp8}, true},
    {"all_bf16", {bf16, bf16, bf16, bf16}, false},
};

// ---- the roof ----------------------------------------------------------------------------------

/// An array's bytes of one element, and whether they are read and written.
struct Traffic {
  std::byte* data = nullptr;
  std::int64_t element_bytes = 0;
  bool read = true;
  bool written = true;
};

[[gnu::always_inline]] inline void touch(Traffic const& traffic, std::int64_t begin,
                                         std::int64_t count, std::uint32_t zero,
                                         std::uint32_t& sum) {
  using Word [[gnu::may_alias]] = std::uint32_t;
  auto* const words = reinterpret_cast<Word*>(traffic.data + begin * traffic.element_bytes);
  std::int64_t const end = count * traffic.element_bytes / 4;
  if (!traffic.written)
    for (std::int64_t i = 0; i < end; ++i) sum += words[i];
  else if (!traffic.read)
    for (std::int64_t i = 0; i < end; ++i) words[i] = sum;
  else
    for (std::int64_t i = 0; i < end; ++i) words[i] += zero;
}

std::uint32_t volatile roof_sink;
std::uint32_t volatile roof_zero;  // keeps what is in the arrays, and the compiler from knowing so

void fetch(Traffic const& traffic, std::int64_t begin, std::int64_t count) {
  std::byte const* const from = traffic.data + begin * traffic.element_bytes;
  for (std::int64_t at = 0; at < count * traffic.element_bytes; at += 64)
    __builtin_prefetch(from + at);
}

/// All arrays go by together, some lines of each.
template <bool fetches>
void stream(std::vector<Traffic> const& all, std::int64_t begin, std::int64_t count) {
  constexpr std::int64_t block = 64;
  constexpr std::int64_t ahead = 1024;
  std::uint32_t sum = 0;
  std::uint32_t const zero = roof_zero;
  for (std::int64_t i = begin; i < begin + count; i += block)
    for (Traffic const& traffic : all) {
      if (fetches && i + ahead + block <= begin + count) fetch(traffic, i + ahead, block);
      touch(traffic, i, std::min(block, begin + count - i), zero, sum);
    }
  roof_sink = sum;
}

// ---- a step's arrays ---------------------------------------------------------------------------

class Arrays {
 public:
  Arrays(Combination const& combination, MemoryPlacement placement, std::int64_t count = numel)
      : is_(combination), count_(count), memory_(5, count * 4, placement) {
    reset();
  }

  void reset() {
    for (std::int64_t i = 0; i < count_; ++i) {
      put(weights, is_.formats[weights], i, 1.0F);
      put(gradients, is_.formats[gradients], i, 1e-3F * static_cast<float>(i % 7 - 3));
      put(exp_avg, is_.formats[exp_avg], i, 0.0F);
      put(exp_avg_sq, is_.formats[exp_avg_sq], i, 0.0F);
      if (is_.copies) put(parameter, bf16, i, 1.0F);
    }
  }
  CpuAdamNumbers from(std::int64_t begin) const {
    auto const at = [&](Place place) {
      NumberFormat const format = format_of(place);
      return real::Numbers{memory_.array(place) + begin * bytes(format), format};
    };
    return {.weights = at(weights),
            .gradients = at(gradients),
            .exp_avg = at(exp_avg),
            .exp_avg_sq = at(exp_avg_sq),
            .parameter = at(parameter),
            .copies = is_.copies};
  }
  std::vector<Traffic> traffic() const {
    std::vector<Traffic> all;
    for (Place const place : {weights, gradients, exp_avg, exp_avg_sq})
      all.push_back({memory_.array(place), bytes(format_of(place)), true, place != gradients});
    bool const joins = is_.formats[weights] == NumberFormat::remainder;
    if (is_.copies) all.push_back({memory_.array(parameter), 2, joins, true});
    return all;
  }
  std::byte* array(Place place) const { return memory_.array(place); }
  std::int64_t count() const { return count_; }

 private:
  static std::int64_t bytes(NumberFormat format) {
    return static_cast<std::int64_t>(bytes_of(format));
  }
  NumberFormat format_of(Place place) const {
    return place == parameter ? bf16 : is_.formats[place];
  }
  void put(Place place, NumberFormat format, std::int64_t i, float value) {
    std::byte* const at = memory_.array(place) + i * bytes(format);
    real::with_type_of(format,
                       [&]<typename T>(T*) { *reinterpret_cast<T*>(at) = real::stored<T>(value); });
  }

  Combination is_;
  std::int64_t count_;
  PlacedMemory memory_;
};

// ---- taking turns ------------------------------------------------------------------------------

/// Runs loops over [begin, begin + count) on its threads and takes the time.
class Contest {
 public:
  using Loop = std::function<void(std::int64_t begin, std::int64_t count)>;

  explicit Contest(int threads) : crew_(threads, pin_to) {}

  double seconds(std::int64_t count, Loop const& loop) {
    pause_between_contenders();
    return seconds_of([&] {
      crew_.parallel_for(crew_.count(), [&](int chunk) {
        auto const range = real::chunk_of(count, chunk, crew_.count());
        loop(range.begin, range.end - range.begin);
      });
    });
  }
  /// Time of the first over that of the fastest of the others.
  double ratio(std::int64_t count, Loop const& first, std::vector<Loop> const& others) {
    std::vector<double> ratios;
    for (int round = -1; round < rounds; ++round) {
      double const time = seconds(count, first);
      double const over = fastest_of(count, others);
      if (round >= 0) ratios.push_back(time / over);
    }
    return quantile(ratios, 0.5);
  }
  double fastest_of(std::int64_t count, std::vector<Loop> const& loops) {
    double fastest = seconds(count, loops.front());
    for (std::size_t i = 1; i < loops.size(); ++i)
      fastest = std::min(fastest, seconds(count, loops[i]));
    return fastest;
  }

 private:
  real::ThreadCrew crew_;
};

StepScalars const scalars = real::step_scalars({}, 3, true);

Contest::Loop step_of(Arrays const& arrays, float inverse = 1, float coefficient = 1) {
  return [&arrays, inverse, coefficient](std::int64_t begin, std::int64_t count) {
    CpuAdamNumbers run = arrays.from(begin);
    run.inverse = inverse;
    run.coefficient = coefficient;
    real::cpu_adam(scalars, run, count);
  };
}

std::vector<Contest::Loop> roofs_of(Arrays const& arrays) {
  auto const all = arrays.traffic();
  return {[all](std::int64_t begin, std::int64_t count) { stream<false>(all, begin, count); },
          [all](std::int64_t begin, std::int64_t count) { stream<true>(all, begin, count); }};
}

std::string with_threads(std::string const& name, int threads) {
  return name + "_" + std::to_string(threads) + "_threads";
}

// ---- what is measured --------------------------------------------------------------------------

void measure_formats(int threads, std::vector<Row>& rows) {
  Contest contest(threads);
  for (Combination const& is : combinations) {
    Arrays const arrays(is, MemoryPlacement::staggered);
    double const ratio = contest.ratio(numel, step_of(arrays), roofs_of(arrays));
    std::string const name = with_threads(std::string(is.name) + "_over_bytes", threads);
    bool const main_row = name == "all_bf16_over_bytes_1_threads";
    rows.push_back({suite, main_row ? suite : name, ratio, "x"});
  }
}

/// Seconds an element of a step that stays in the cache, over those of the fp32 roof.
void measure_in_cache(std::vector<Row>& rows) {
  Contest contest(1);
  Arrays const roof(combinations[0], MemoryPlacement::staggered);
  for (Combination const& is : combinations) {
    Arrays arrays(is, MemoryPlacement::staggered, cached_numel);
    std::vector<double> ratios;
    for (int round = -1; round < rounds; ++round) {
      arrays.reset();
      double const cached = seconds_of([&] {
        for (int i = 0; i < cached_calls; ++i)
          real::cpu_adam(scalars, arrays.from(0), cached_numel);
      });
      double const over = contest.fastest_of(numel, roofs_of(roof));
      if (round >= 0) ratios.push_back(cached / (cached_calls * cached_numel) / (over / numel));
    }
    rows.push_back(
        {suite, std::string(is.name) + "_in_cache_over_fp32_roof", quantile(ratios, 0.5), "x"});
  }
}

void measure_placements(int threads, std::vector<Row>& rows) {
  Contest contest(threads);
  Arrays const lucky(combinations[0], MemoryPlacement::staggered);
  Arrays const adjoining(combinations[0], MemoryPlacement::back_to_back);
  Arrays const small(combinations[0], MemoryPlacement::small_pages);
  auto const add = [&](std::string const& name, double ratio) {
    rows.push_back({suite, with_threads(name, threads), ratio, "x"});
  };
  add("back_to_back_over_roof", contest.ratio(numel, step_of(adjoining), roofs_of(adjoining)));
  add("small_pages_over_roof", contest.ratio(numel, step_of(small), roofs_of(small)));
  add("back_to_back_over_staggered", contest.ratio(numel, step_of(adjoining), {step_of(lucky)}));
}

float volatile norm_sink;

/// Sums of squares side by side: one alone would wait for itself.
void square_sum(float const* g, std::int64_t count) {
  std::array<float, 32> sums{};
  for (std::int64_t i = 0; i + 32 <= count; i += 32)
    for (std::size_t k = 0; k < 32; ++k)
      sums[k] += g[i + static_cast<std::int64_t>(k)] * g[i + static_cast<std::int64_t>(k)];
  float sum = 0;
  for (float const part : sums) sum += part;
  norm_sink = std::sqrt(sum);
}

void multiply(float* g, float factor, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) g[i] *= factor;
}

/// Unscale, norm, clip, step and bf16 copy.
void measure_one_pass(int threads, std::vector<Row>& rows) {
  Contest contest(threads);
  Arrays const fused(combinations[1], MemoryPlacement::staggered);
  Arrays const separate(combinations[0], MemoryPlacement::staggered);
  PlacedMemory const copy(1, numel * 2, MemoryPlacement::staggered);
  auto const g = reinterpret_cast<float*>(separate.array(gradients));
  auto const w = reinterpret_cast<float const*>(separate.array(weights));
  auto const p = reinterpret_cast<__nv_bfloat16*>(copy.array(0));
  constexpr float factor = 0.999999F;

  auto const one = step_of(fused, factor, factor);
  rows.push_back({suite, with_threads("one_pass_over_roof", threads),
                  contest.ratio(numel, one, roofs_of(fused)), "x"});

  std::vector<double> ratios;
  auto const pass = [&](Contest::Loop const& loop) { return contest.seconds(numel, loop); };
  auto const sum = [](float const* values) {
    return [values](std::int64_t begin, std::int64_t count) { square_sum(values + begin, count); };
  };
  auto const scale = [&](std::int64_t begin, std::int64_t count) {
    multiply(g + begin, factor, count);
  };
  auto const cast = [&](std::int64_t begin, std::int64_t count) {
    for (std::int64_t i = begin; i < begin + count; ++i) p[i] = real::stored<__nv_bfloat16>(w[i]);
  };
  for (int round = -1; round < rounds; ++round) {
    double const five =
        pass(scale) + pass(sum(g)) + pass(scale) + pass(step_of(separate)) + pass(cast);
    double const two = pass(sum(reinterpret_cast<float*>(fused.array(gradients)))) + pass(one);
    if (round >= 0) ratios.push_back(five / two);
  }
  rows.push_back(
      {suite, with_threads("five_passes_over_norm_and_one", threads), quantile(ratios, 0.5), "x"});
}

}  // namespace

std::vector<Row> measure_cpu_formats(BenchOptions const&) {
  cpu_set_t before;
  static_cast<void>(::sched_getaffinity(0, sizeof before, &before));
  pin_to(0);
  std::vector<Row> rows;
  measure_in_cache(rows);
  for (int threads = 1; threads <= 2; ++threads) {
    measure_formats(threads, rows);
    measure_placements(threads, rows);
    measure_one_pass(threads, rows);
  }
  static_cast<void>(::sched_setaffinity(0, sizeof before, &before));
  return rows;
}

}  // namespace adamant::scenarios
