// Law:        code_of(x) == what CUDA's conversion makes of x      for 8 and 4 bits
// Sense:      bitwise; all ties and their neighbours and one pattern in 61, or every one of 2^32
//             where the environment has ADAMANT_EVERY_PATTERN (label: exhaustive).
// Not said:   what a GPU's own instructions do.
// Must catch: a conversion that is off in one pattern of those looked at, which a test plants.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "oracle/formats/small_formats.h"
#include "properties/formats/small_conversions.h"

namespace adamant::properties::small {
namespace {

using oracle::Beyond;
using oracle::SmallFormat;

constexpr std::uint64_t pattern_count = 1ULL << 32;
constexpr std::size_t block_size = 1 << 14;

std::uint64_t pattern_step() {
  return std::getenv("ADAMANT_EVERY_PATTERN") == nullptr ? 61 : 1;
}

bool is_e2m1(SmallKind kind) {
  return kind == SmallKind::e2m1 || kind == SmallKind::e2m1_stored;
}

SmallFormat format_of(SmallKind kind) {
  if (is_e2m1(kind)) return SmallFormat::e2m1;
  bool const e4m3 =
      kind == SmallKind::e4m3 || kind == SmallKind::e4m3_beyond || kind == SmallKind::e4m3_stored;
  return e4m3 ? SmallFormat::e4m3 : SmallFormat::e5m2;
}

std::uint8_t expected_code(SmallKind kind, float x) {
  if (kind == SmallKind::e8m0) return oracle::e8m0_not_below(std::fabs(x));
  bool const saturates = kind == SmallKind::e4m3 || kind == SmallKind::e5m2;
  return oracle::code_of(x, format_of(kind), saturates ? Beyond::saturates : Beyond::is_no_number);
}

float expected_value(SmallKind kind, std::uint8_t code) {
  if (kind == SmallKind::e8m0) return oracle::value_of_e8m0(code);
  return oracle::value_of(code, format_of(kind));
}

using Narrow = void (*)(SmallKind, std::span<float const>, std::span<std::uint8_t>);

/// The first of `values` of which the conversions make another code than the oracle, as a pattern.
std::optional<std::uint32_t> difference(SmallKind kind, Narrow narrow,
                                        std::vector<float> const& values) {
  std::vector<std::uint8_t> codes(values.size());
  narrow(kind, values, codes);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (codes[i] != expected_code(kind, values[i])) return std::bit_cast<std::uint32_t>(values[i]);
  return std::nullopt;
}

/// Numbers of 5 bits, among which are all that lie between two of a format, and their neighbours.
std::vector<float> around_ties() {
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 1U << 13; ++upper)
    for (std::uint32_t const beside : {-1U, 0U, 1U})
      values.push_back(std::bit_cast<float>((upper << 19) + beside));
  return values;
}

std::optional<std::uint32_t> difference(SmallKind kind, Narrow narrow) {
  if (auto const at = difference(kind, narrow, around_ties())) return at;
  std::vector<float> values(block_size);
  std::uint64_t const step = pattern_step();
  for (std::uint64_t begin = 0; begin < pattern_count; begin += block_size * step) {
    for (std::size_t i = 0; i < block_size; ++i)
      values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(begin + i * step));
    if (auto const at = difference(kind, narrow, values)) return at;
  }
  return std::nullopt;
}

void expect_agreement(SmallConversions const& conversions) {
  for (SmallKind const kind : small_kinds) {
    auto const at = difference(kind, conversions.narrow);
    EXPECT_FALSE(at) << static_cast<int>(kind) << ": " << std::bit_cast<float>(*at);
    for (int code = 0; code < (is_e2m1(kind) ? 16 : 256); ++code) {
      float const expected = expected_value(kind, static_cast<std::uint8_t>(code));
      float const actual = conversions.widen(kind, static_cast<std::uint8_t>(code));
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(actual)
                                       : std::bit_cast<std::uint32_t>(actual) ==
                                             std::bit_cast<std::uint32_t>(expected))
          << static_cast<int>(kind) << ": code " << code;
    }
  }
}

TEST(SmallFormats, OfTheCloneAreTheOracles) {
  expect_agreement(cloned_small());
}

TEST(SmallFormats, OfAnInstalledToolkitAreTheOracles) {
#ifdef ADAMANT_HAVE_SMALL_FORMATS
  expect_agreement(installed_small());
#else
  GTEST_SKIP() << "no CUDA toolkit of 12.8 or later was found when this was configured, so its "
                  "cuda_fp8.h and cuda_fp4.h are not compared";
#endif
}

TEST(SmallFormats, AWrongTieIsFound) {
  constexpr float last_tie = 464;
  auto const tie_is_beyond = [](SmallKind kind, std::span<float const> values,
                                std::span<std::uint8_t> codes) {
    cloned_small().narrow(kind, values, codes);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] == last_tie) codes[i] = 0x7f;
  };
  EXPECT_EQ(difference(SmallKind::e4m3_stored, tie_is_beyond),
            std::bit_cast<std::uint32_t>(last_tie));
}

TEST(SmallFormats, OneWrongPatternIsFound) {
  constexpr std::uint32_t wrong = 61 * 17'412'345U;
  auto const one_wrong = [](SmallKind kind, std::span<float const> values,
                            std::span<std::uint8_t> codes) {
    cloned_small().narrow(kind, values, codes);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::bit_cast<std::uint32_t>(values[i]) == wrong) ++codes[i];
  };
  EXPECT_EQ(difference(SmallKind::e4m3, one_wrong), wrong);
}

}  // namespace
}  // namespace adamant::properties::small
