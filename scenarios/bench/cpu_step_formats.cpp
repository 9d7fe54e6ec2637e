// The CPU's part of a hybrid step in narrow formats, on unlucky placements, and with the factors of
// loss scale and clipping. All rows are ratios of times taken by turns in one process, medians over
// the rounds; below 1 the first of the two is faster. A roof is a loop over the same arrays that
// reads and writes the same bytes in place with next to no arithmetic: in each round the faster of
// one that asks for what comes later, as the step does, and one that does not. In cache, where
// bytes cost nothing, a step is held to the fp32 roof of the memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "scenarios/bench/cpu_contest.h"
#include "scenarios/bench/suite.h"

namespace adamant::scenarios {

namespace {

using real::StepScalars;
using Loop = CpuContest::Loop;
constexpr auto fp32 = NumberFormat::fp32;
constexpr auto bf16 = NumberFormat::bf16;
constexpr auto fp8 = NumberFormat::fp8;

constexpr std::int64_t numel = 1 << 24;
constexpr std::int64_t cached_numel = 1024;
constexpr int cached_calls = 200;

constexpr CpuFormats combinations[] = {
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

std::vector<Traffic> traffic_of(CpuArrays const& arrays) {
  std::vector<Traffic> all;
  for (CpuArray const array :
       {CpuArray::weights, CpuArray::gradients, CpuArray::exp_avg, CpuArray::exp_avg_sq})
    all.push_back({arrays.data(array), arrays.bytes(array), true, array != CpuArray::gradients});
  bool const joins = arrays.format(CpuArray::weights) == NumberFormat::remainder;
  CpuArray const copy = CpuArray::parameter;
  if (arrays.copies()) all.push_back({arrays.data(copy), arrays.bytes(copy), joins, true});
  return all;
}

std::vector<Loop> roofs_of(CpuArrays const& arrays) {
  auto const all = traffic_of(arrays);
  return {[all](std::int64_t begin, std::int64_t count) { stream<false>(all, begin, count); },
          [all](std::int64_t begin, std::int64_t count) { stream<true>(all, begin, count); }};
}

// ---- taking turns ------------------------------------------------------------------------------

using Times = std::vector<std::vector<double>>;

/// Time of the first over that of the fastest of the others in the same round, the median.
double first_over_others(Times const& times) {
  std::vector<double> fastest = times[1];
  for (std::size_t c = 2; c < times.size(); ++c)
    std::ranges::transform(fastest, times[c], fastest.begin(), std::ranges::min);
  return median(ratios_of(times[0], fastest));
}

double first_over_others(CpuContest& contest, Loop first, std::vector<Loop> others) {
  others.insert(others.begin(), std::move(first));
  return first_over_others(contest.by_turns(others));
}

StepScalars const scalars = real::step_scalars({}, 3, true);

Loop step_of(CpuArrays const& arrays, float inverse = 1, float coefficient = 1) {
  return [&arrays, inverse, coefficient](std::int64_t begin, std::int64_t count) {
    real::CpuAdamNumbers run = arrays.from(begin);
    run.inverse = inverse;
    run.coefficient = coefficient;
    real::cpu_adam(scalars, run, count);
  };
}

std::string with_threads(std::string const& name, int threads) {
  return name + "_" + std::to_string(threads) + "_threads";
}

// ---- what is measured --------------------------------------------------------------------------

CpuArrays arrays_of(CpuFormats const& formats,
                    MemoryPlacement placement = MemoryPlacement::staggered) {
  return {formats, placement, numel};
}

void measure_formats(int threads, SuiteRows& rows) {
  CpuContest contest(threads, {numel});
  for (CpuFormats const& is : combinations) {
    CpuArrays const arrays = arrays_of(is);
    double const ratio = first_over_others(contest, step_of(arrays), roofs_of(arrays));
    std::string const name = with_threads(std::string(is.name) + "_over_bytes", threads);
    if (name == "all_bf16_over_bytes_1_threads")
      rows.add_main(ratio, "x");
    else
      rows.add(name, ratio, "x");
  }
}

/// Seconds an element of a step that stays in the cache, over those of the fp32 roof.
void measure_in_cache(SuiteRows& rows) {
  CpuContest contest(1, {numel});
  CpuArrays const whole = arrays_of(combinations[0]);
  auto const roofs = roofs_of(whole);
  for (CpuFormats const& is : combinations) {
    CpuArrays arrays(is, MemoryPlacement::staggered, cached_numel);
    auto const cached = [&] {
      arrays.reset();
      return seconds_of([&] {
        for (int i = 0; i < cached_calls; ++i)
          real::cpu_adam(scalars, arrays.from(0), cached_numel);
      });
    };
    auto const times = by_turns(contest_rounds, {cached, [&] { return contest.seconds(roofs[0]); },
                                                 [&] { return contest.seconds(roofs[1]); }});
    constexpr double elements = double{numel} / (cached_calls * cached_numel);
    rows.add(std::string(is.name) + "_in_cache_over_fp32_roof", first_over_others(times) * elements,
             "x");
  }
}

void measure_placements(int threads, SuiteRows& rows) {
  CpuContest contest(threads, {numel});
  CpuArrays const lucky = arrays_of(combinations[0]);
  CpuArrays const adjoining = arrays_of(combinations[0], MemoryPlacement::back_to_back);
  CpuArrays const small = arrays_of(combinations[0], MemoryPlacement::small_pages);
  auto const add = [&](char const* name, CpuArrays const& first, std::vector<Loop> const& others) {
    rows.add(with_threads(name, threads), first_over_others(contest, step_of(first), others), "x");
  };
  add("back_to_back_over_roof", adjoining, roofs_of(adjoining));
  add("small_pages_over_roof", small, roofs_of(small));
  add("back_to_back_over_staggered", adjoining, {step_of(lucky)});
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
void measure_one_pass(int threads, SuiteRows& rows) {
  CpuContest contest(threads, {numel});
  CpuArrays const fused = arrays_of(combinations[1]);
  CpuArrays const separate = arrays_of(combinations[0]);
  PlacedMemory const copy(1, numel * 2, MemoryPlacement::staggered);
  float* const g = separate.floats(CpuArray::gradients);
  float const* const w = separate.floats(CpuArray::weights);
  auto* const p = reinterpret_cast<__nv_bfloat16*>(copy.array(0));
  constexpr float factor = 0.999999F;

  auto const one = step_of(fused, factor, factor);
  rows.add(with_threads("one_pass_over_roof", threads),
           first_over_others(contest, one, roofs_of(fused)), "x");

  auto const pass = [&](Loop const& loop) { return contest.seconds(loop); };
  auto const sum = [](float const* values) {
    return [values](std::int64_t begin, std::int64_t count) { square_sum(values + begin, count); };
  };
  auto const scale = [&](std::int64_t begin, std::int64_t count) {
    multiply(g + begin, factor, count);
  };
  auto const cast = [&](std::int64_t begin, std::int64_t count) {
    for (std::int64_t i = begin; i < begin + count; ++i) p[i] = real::stored<__nv_bfloat16>(w[i]);
  };
  auto const times = by_turns(
      contest_rounds, {[&] {
                         return pass(scale) + pass(sum(g)) + pass(scale) + pass(step_of(separate)) +
                                pass(cast);
                       },
                       [&] { return pass(sum(fused.floats(CpuArray::gradients))) + pass(one); }});
  rows.add(with_threads("five_passes_over_norm_and_one", threads), first_over_others(times), "x");
}

}  // namespace

void measure_cpu_formats(BenchOptions const&, SuiteRows& rows) {
  PinnedToFirst const pinned;
  measure_in_cache(rows);
  for (int threads = 1; threads <= 2; ++threads) {
    measure_formats(threads, rows);
    measure_placements(threads, rows);
    measure_one_pass(threads, rows);
  }
}

}  // namespace adamant::scenarios
