// The CPU's step in any formats, against a loop that takes one element after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ostream>
#include <vector>

#include "real/cuda/state_numbers.h"
#include "real/offload/cpu_adam.h"
#include "real/step/adam_element.h"
#include "real/testing/each_vectors.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;
using CpuAdamFormats = EachVectors;

/// One array of the step's, whatever its format, in memory of its own.
class Array {
 public:
  /// A quarter of the elements are any bits, the others numbers around 1; second moments are not
  /// negative.
  Array(NumberFormat format, std::int64_t numel, std::uint32_t seed, bool magnitudes = false)
      : format_(format), bytes_(static_cast<std::size_t>(numel) * bytes_of(format)) {
    std::uint32_t state = seed;
    auto const next = [&] { return state = state * 1'664'525U + 1'013'904'223U; };
    for (std::int64_t i = 0; i < numel; ++i) {
      std::uint32_t const any = next() ^ (next() >> 15);
      float const near_one = static_cast<float>(static_cast<std::int32_t>(next())) * 0x1p-30F;
      if (i % 4 == 0 || format == NumberFormat::remainder)
        put_bits(i, magnitudes ? any & 0x7f7f7f7fU : any);
      else
        put(i, magnitudes ? std::fabs(near_one) : near_one);
    }
  }

  Numbers numbers() { return {bytes_.data(), format_}; }
  Numbers from(std::int64_t element) {
    return {bytes_.data() + element * static_cast<std::int64_t>(bytes_of(format_)), format_};
  }
  float at(std::int64_t i) const {
    float value = 0;
    with_type_of(format_, [&]<typename T>(T*) { value = widened(get<T>(i)); });
    return value;
  }
  void put(std::int64_t i, float value) {
    with_type_of(format_, [&]<typename T>(T*) { set(i, stored<T>(value)); });
  }
  std::uint16_t half_word(std::int64_t i) const { return get<std::uint16_t>(i); }
  void put_half_word(std::int64_t i, std::uint16_t word) { set(i, word); }
  void put_bits(std::int64_t i, std::uint32_t bits) {
    std::memcpy(place(i), &bits, bytes_of(format_));
  }

  /// A NaN of fp32 may have any bits, one of a narrow format has those of the conversion.
  bool operator==(Array const& other) const {
    if (format_ != NumberFormat::fp32) return bytes_ == other.bytes_;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(bytes_.size() / 4); ++i)
      if (comparable_bits({at(i)}) != comparable_bits({other.at(i)})) return false;
    return true;
  }

 private:
  std::byte* place(std::int64_t i) {
    return bytes_.data() + i * static_cast<std::int64_t>(bytes_of(format_));
  }
  template <typename T>
  T get(std::int64_t i) const {
    T number;
    std::memcpy(&number, bytes_.data() + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return number;
  }
  template <typename T>
  void set(std::int64_t i, T const& number) {
    std::memcpy(place(i), &number, sizeof(T));
  }

  NumberFormat format_;
  std::vector<std::byte> bytes_;
};

/// Which formats, and whether a parameter stands beside the weights.
struct Combination {
  NumberFormat weights = NumberFormat::fp32;
  NumberFormat gradients = NumberFormat::fp32;
  NumberFormat exp_avg = NumberFormat::fp32;
  NumberFormat exp_avg_sq = NumberFormat::fp32;
  std::optional<NumberFormat> parameter = {};
  float inverse = 1;
  float coefficient = 1;
};

std::ostream& operator<<(std::ostream& out, Combination const& c) {
  out << "w " << name_of(c.weights) << ", g " << name_of(c.gradients) << ", m "
      << name_of(c.exp_avg) << ", v " << name_of(c.exp_avg_sq);
  if (c.parameter) out << ", p " << name_of(*c.parameter);
  return out << ", factors " << c.inverse << ' ' << c.coefficient;
}

CpuScale scale_of(NumberFormat format, float now, float next) {
  bool const scaled = format == NumberFormat::fp16 || format == NumberFormat::fp8;
  return scaled ? CpuScale{now, next} : CpuScale{};
}

struct Step {
  Combination is;
  Array w, g, m, v, p;
  CpuScales scales;

  Step(Combination const& combination, std::int64_t numel)
      : is(combination),
        w(is.weights, numel, 1),
        g(is.gradients, numel, 2),
        m(is.exp_avg, numel, 3),
        v(is.exp_avg_sq, numel, 4, true),
        p(is.parameter.value_or(NumberFormat::fp32), numel, 5) {
    if (is.parameter) scales.weight = scale_of(is.weights, 0x1p-9F, 0.013F);
    scales.exp_avg = scale_of(is.exp_avg, 0.03F, 0.007F);
    scales.exp_avg_sq = scale_of(is.exp_avg_sq, 3.7F, 0x1p-126F);
  }

  CpuAdamNumbers from(std::int64_t element) {
    return {.weights = w.from(element),
            .gradients = g.from(element),
            .exp_avg = m.from(element),
            .exp_avg_sq = v.from(element),
            .parameter = p.from(element),
            .copies = is.parameter.has_value(),
            .inverse = is.inverse,
            .coefficient = is.coefficient,
            .scales = scales};
  }
  CpuAdamNumbers numbers() { return from(0); }
  bool remains() const { return is.weights == NumberFormat::remainder; }

  float weight(std::int64_t i) const {
    if (remains()) return joined({p.half_word(i), w.half_word(i)});
    return w.at(i) * scales.weight.now;
  }
  AdamElement updated(StepScalars const& s, std::int64_t i) const {
    AdamElement const before{
        .p = weight(i), .m = m.at(i) * scales.exp_avg.now, .v = v.at(i) * scales.exp_avg_sq.now};
    float const gradient = g.at(i) * is.inverse * is.coefficient;
    return s.decoupled != 0 ? adam_element<true>(s, gradient, before)
                            : adam_element<false>(s, gradient, before);
  }
  void put(std::int64_t i, AdamElement const& e) {
    m.put(i, e.m * (1 / scales.exp_avg.next));
    v.put(i, e.v * (1 / scales.exp_avg_sq.next));
    if (remains()) {
      SplitWeight const parts = split(e.p);
      p.put_half_word(i, parts.parameter);
      w.put_half_word(i, parts.remainder);
      return;
    }
    w.put(i, e.p * (1 / scales.weight.next));
    if (is.parameter) p.put(i, e.p);
  }
};

void expect_same(Step const& expected, Step const& actual) {
  EXPECT_TRUE(expected.w == actual.w) << "weights";
  EXPECT_TRUE(expected.g == actual.g) << "gradients";
  EXPECT_TRUE(expected.m == actual.m) << "first moments";
  EXPECT_TRUE(expected.v == actual.v) << "second moments";
  EXPECT_TRUE(expected.p == actual.p) << "parameter";
}

Step one_by_one(StepScalars const& s, Step step, std::int64_t numel) {
  for (std::int64_t i = 0; i < numel; ++i) step.put(i, step.updated(s, i));
  return step;
}

/// Parameters of all formats alone, and all weights that may stand beside one.
std::vector<Combination> combinations() {
  using enum NumberFormat;
  std::vector<Combination> weights;
  for (NumberFormat const alone : {fp32, bf16, fp16}) weights.push_back({.weights = alone});
  for (NumberFormat const parameter : {bf16, fp16})
    for (NumberFormat const main : {fp32, bf16, fp16})
      weights.push_back({.weights = main, .parameter = parameter});
  weights.push_back({.weights = remainder, .parameter = bf16});

  std::vector<Combination> result;
  for (Combination each : weights)
    for (NumberFormat const gradients : {fp32, bf16, fp16})
      for (NumberFormat const m : {fp32, bf16, fp16, fp8})
        for (NumberFormat const v : {fp32, bf16, fp16, fp8}) {
          each.gradients = gradients;
          each.exp_avg = m;
          each.exp_avg_sq = v;
          result.push_back(each);
        }
  return result;
}

TEST_P(CpuAdamFormats, HasTheBitsOfThePlainLoopInEveryFormat) {
  for (Combination is : combinations())
    for (AdamMode const mode : {AdamMode::adamw, AdamMode::adam})
      for (bool const factors : {false, true}) {
        if (factors) is.inverse = 0.3F;
        if (factors) is.coefficient = 0.7F;
        constexpr std::int64_t numel = 643;
        StepScalars const s = step_scalars({.mode = mode, .weight_decay = 0.1F}, 3, true);
        Step step(is, numel);
        Step const expected = one_by_one(s, step, numel);
        cpu_adam(s, step.numbers(), numel, GetParam());
        expect_same(expected, step);
        if (HasFailure()) FAIL() << is;
      }
}

TEST_P(CpuAdamFormats, HasTheSameBitsHoweverItIsCutInEveryFormat) {
  StepScalars const s = step_scalars({}, 7, true);
  constexpr std::int64_t numel = 1'301;
  for (Combination const& is : combinations()) {
    Step whole(is, numel);
    Step parts = whole;
    cpu_adam(s, whole.numbers(), numel, GetParam());
    std::int64_t begin = 0;
    for (std::int64_t const count : {0, 1, 2, 7, 9, 16, 31, 64, 513, 658}) {
      cpu_adam(s, parts.from(begin), count, GetParam());
      begin += count;
    }
    ASSERT_EQ(begin, numel);
    expect_same(whole, parts);
    if (HasFailure()) FAIL() << is;
  }
}

float largest_finite(Values const& values) {
  float largest = 0;
  for (float const value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  return largest;
}

TEST_P(CpuAdamFormats, FindsTheLargestFiniteNewValuesAndChangesNothing) {
  constexpr std::int64_t numel = 643;
  for (Combination const& is : combinations())
    for (AdamMode const mode : {AdamMode::adamw, AdamMode::adam}) {
      StepScalars const s = step_scalars({.mode = mode, .weight_decay = 0.1F}, 3, true);
      Step step(is, numel);
      Step const before = step;
      Values w, m, v;
      for (std::int64_t i = 0; i < numel; ++i) {
        AdamElement const e = step.updated(s, i);
        w.push_back(e.p);
        m.push_back(e.m);
        v.push_back(e.v);
      }
      CpuAmaxes const amaxes = cpu_adam_amaxes(s, step.numbers(), numel, GetParam());
      EXPECT_EQ(amaxes.weight, largest_finite(w));
      EXPECT_EQ(amaxes.exp_avg, largest_finite(m));
      EXPECT_EQ(amaxes.exp_avg_sq, largest_finite(v));
      expect_same(before, step);
      if (HasFailure()) FAIL() << is;
    }
}

TEST_P(CpuAdamFormats, FindsNoLargestOfNothingFinite) {
  StepScalars const s = step_scalars({}, 1, true);
  for (float const gradient : {INFINITY, -INFINITY, NAN}) {
    Step step({.exp_avg = NumberFormat::fp8, .exp_avg_sq = NumberFormat::fp16}, 40);
    for (std::int64_t i = 0; i < 40; ++i) step.g.put(i, gradient);
    CpuAmaxes const amaxes = cpu_adam_amaxes(s, step.numbers(), 40, GetParam());
    EXPECT_EQ(amaxes.exp_avg, 0);
    EXPECT_EQ(amaxes.exp_avg_sq, 0);
  }
  Step step({.exp_avg = NumberFormat::fp8}, 40);
  EXPECT_EQ(cpu_adam_amaxes(s, step.numbers(), 0, GetParam()).exp_avg, 0);
}

/// All upper halves of a binary32 with the lower halves around what decides a rounding.
std::vector<std::uint32_t> patterns() {
  std::vector<std::uint32_t> result;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (std::uint32_t const lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU})
      result.push_back(upper << 16 | lower);
  return result;
}

/// A step in which the weight stays and the first moment becomes the gradient.
StepScalars weight_stays() {
  StepScalars scalars = step_scalars({.learning_rate = 0, .weight_decay = 0}, 1, true);
  scalars.beta1 = 0;
  scalars.one_minus_beta1 = 1;
  return scalars;
}

TEST_P(CpuAdamFormats, RoundsEveryKindOfNumberAsTheConversionDoes) {
  using enum NumberFormat;
  auto const bits = patterns();
  auto const numel = static_cast<std::int64_t>(bits.size());
  for (NumberFormat const format : {bf16, fp16, fp8}) {
    NumberFormat const parameter = format == fp8 ? bf16 : format;
    Step step({.exp_avg = format, .exp_avg_sq = format, .parameter = parameter}, numel);
    for (std::int64_t i = 0; i < numel; ++i) {
      step.w.put_bits(i, bits[static_cast<std::size_t>(i)]);
      step.g.put_bits(i, bits[static_cast<std::size_t>(i)]);
    }
    Step const expected = one_by_one(weight_stays(), step, numel);
    cpu_adam(weight_stays(), step.numbers(), numel, GetParam());
    expect_same(expected, step);
  }
}

// Sums of two bf16 numbers of which one ends below the other: half of them are ties.
TEST_P(CpuAdamFormats, RoundsSumsOfNarrowNumbersToEven) {
  using enum NumberFormat;
  constexpr std::int64_t numel = 3 * 0x10000 + 1;
  StepScalars s = step_scalars({}, 1, true);
  s.beta1 = s.one_minus_beta1 = 1;
  Step step({.weights = bf16, .gradients = bf16, .exp_avg = bf16, .exp_avg_sq = bf16}, numel);
  for (std::int64_t i = 0; i < numel; ++i) {
    auto const moment = static_cast<std::uint16_t>(i / 3);
    float const half_a_step = std::ldexp(1.0F, ((moment >> 7) & 0xff) - 135);
    step.m.put_half_word(i, moment);
    step.g.put(i, static_cast<float>(i % 3 + 1) * 0.5F * half_a_step);
  }
  Step const expected = one_by_one(s, step, numel);
  cpu_adam(s, step.numbers(), numel, GetParam());
  expect_same(expected, step);
}

// A norm that is NaN makes such a factor, whatever its bits: every number that it meets is NaN.
TEST_P(CpuAdamFormats, KeepsTheNanOfAFactor) {
  using enum NumberFormat;
  StepScalars const s = step_scalars({}, 2, true);
  for (Combination is :
       {Combination{.weights = bf16, .gradients = bf16, .exp_avg = bf16, .exp_avg_sq = bf16},
        Combination{.gradients = bf16, .parameter = bf16},
        Combination{.weights = remainder, .gradients = bf16, .parameter = bf16}}) {
    is.coefficient = std::bit_cast<float>(0x7fffffffU);
    Step step(is, 70);
    Step const expected = one_by_one(s, step, 70);
    cpu_adam(s, step.numbers(), 70, GetParam());
    expect_same(expected, step);
    for (std::int64_t i = 0; i < 70; ++i) EXPECT_TRUE(std::isnan(step.weight(i))) << is;
  }
}

// What the two halves hold together is what fp32 main weights would hold, in every step.
TEST_P(CpuAdamFormats, StepsARemainderAsAMainWeight) {
  using enum NumberFormat;
  auto const bits = patterns();
  auto const numel = static_cast<std::int64_t>(bits.size());
  Step main({.gradients = bf16, .parameter = bf16}, numel);
  Step halves({.weights = remainder, .gradients = bf16, .parameter = bf16}, numel);
  for (std::int64_t i = 0; i < numel; ++i) {
    float const weight = std::bit_cast<float>(bits[static_cast<std::size_t>(i)]);
    main.w.put(i, weight);
    halves.p.put_half_word(i, split(weight).parameter);
    halves.w.put_half_word(i, split(weight).remainder);
  }
  for (int number = 0; number < 4; ++number) {
    StepScalars const s = number == 0 ? weight_stays() : step_scalars({}, number, true);
    cpu_adam(s, main.numbers(), numel, GetParam());
    cpu_adam(s, halves.numbers(), numel, GetParam());
    Values expected, actual;
    for (std::int64_t i = 0; i < numel; ++i) {
      expected.push_back(main.weight(i));
      actual.push_back(halves.weight(i));
    }
    EXPECT_EQ(comparable_bits(expected), comparable_bits(actual)) << "after step " << number;
    EXPECT_TRUE(main.m == halves.m);
    EXPECT_TRUE(main.v == halves.v);
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, CpuAdamFormats, all_vectors(), name_of_vectors);

}  // namespace
}  // namespace adamant::real
