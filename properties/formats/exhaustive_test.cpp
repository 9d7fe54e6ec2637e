// Law:        rounded(x) == what CUDA's conversion makes of x      for every one of 2^32 patterns
// Sense:      bitwise, NaN included: both headers and the oracle make every NaN the same one.
// Not said:   what a GPU's own instructions do; real/gpu tests see them through whole steps.
// Must catch: a conversion that is off in one pattern, which the last test plants.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "oracle/formats/formats.h"
#include "properties/formats/conversions.h"

namespace adamant::properties {
namespace {

constexpr std::uint64_t pattern_count = 1ULL << 32;
constexpr std::uint64_t block_size = 1 << 14;

using Narrow = std::function<void(std::span<float const>, std::span<std::uint16_t>)>;

/// One block of consecutive patterns through the oracle and another conversion.
class Block {
 public:
  explicit Block(NumberFormat format) : format_(format) {}

  /// The first pattern in which the two differ.
  std::optional<std::uint32_t> first_difference(std::uint64_t begin, Narrow const& narrow) {
    for (std::uint64_t i = 0; i < block_size; ++i)
      values_[i] = std::bit_cast<float>(static_cast<std::uint32_t>(begin + i));
    oracle::encode(format_, values_, expected_);
    narrow(values_, actual_);
    for (std::uint64_t i = 0; i < block_size; ++i)
      if (expected_[i] != actual_[i]) return static_cast<std::uint32_t>(begin + i);
    return std::nullopt;
  }

 private:
  NumberFormat format_;
  std::vector<float> values_ = std::vector<float>(block_size);
  std::vector<std::uint16_t> expected_ = std::vector<std::uint16_t>(block_size);
  std::vector<std::uint16_t> actual_ = std::vector<std::uint16_t>(block_size);
};

/// The least pattern in which they differ, searched by all cores.
std::optional<std::uint32_t> first_difference(NumberFormat format, Narrow const& narrow) {
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> found = pattern_count;
  auto const search = [&] {
    Block block(format);
    for (std::uint64_t begin = next.fetch_add(block_size); begin < found;
         begin = next.fetch_add(block_size)) {
      auto const at = block.first_difference(begin, narrow);
      std::uint64_t least = found;
      while (at && *at < least && !found.compare_exchange_weak(least, *at)) continue;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(search);
  }
  if (found == pattern_count) return std::nullopt;
  return static_cast<std::uint32_t>(found);
}

void expect_agreement(NumberFormat format, Conversions const& conversions) {
  auto const difference = first_difference(format, conversions.narrow);
  EXPECT_FALSE(difference) << "pattern " << std::hex << *difference << ", "
                           << std::bit_cast<float>(*difference);
}

/// Stored numbers are few: all of them, by value; NaNs by being one.
void expect_same_worth(NumberFormat format, Conversions const& conversions) {
  std::vector<std::uint16_t> bits(1 << 16);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> values(bits.size());
  conversions.widen(bits, values);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    float const expected = oracle::value_of(bits[i], format);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(values[i])) << std::hex << bits[i];
    else
      EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(expected))
          << std::hex << bits[i];
  }
}

TEST(ExhaustiveFormats, TheClonesBf16IsTheOracles) {
  expect_agreement(NumberFormat::bf16, cloned_bf16());
  expect_same_worth(NumberFormat::bf16, cloned_bf16());
}

TEST(ExhaustiveFormats, TheClonesFp16IsTheOracles) {
  expect_agreement(NumberFormat::fp16, cloned_fp16());
  expect_same_worth(NumberFormat::fp16, cloned_fp16());
}

TEST(ExhaustiveFormats, TheInstalledToolkitsBf16IsTheOracles) {
#ifdef ADAMANT_HAVE_TOOLKIT
  expect_agreement(NumberFormat::bf16, installed_bf16());
  expect_same_worth(NumberFormat::bf16, installed_bf16());
#else
  GTEST_SKIP()
      << "no CUDA toolkit was found when this was configured, so its cuda_bf16.h is not compared";
#endif
}

TEST(ExhaustiveFormats, TheInstalledToolkitsFp16IsTheOracles) {
#ifdef ADAMANT_HAVE_TOOLKIT
  expect_agreement(NumberFormat::fp16, installed_fp16());
  expect_same_worth(NumberFormat::fp16, installed_fp16());
#else
  GTEST_SKIP()
      << "no CUDA toolkit was found when this was configured, so its cuda_fp16.h is not compared";
#endif
}

TEST(ExhaustiveFormats, OneWrongPatternIsFound) {
  constexpr std::uint32_t wrong = 0x3f8001ffU;
  auto const one_wrong = [](std::span<float const> values, std::span<std::uint16_t> bits) {
    cloned_bf16().narrow(values, bits);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::bit_cast<std::uint32_t>(values[i]) == wrong) ++bits[i];
  };
  EXPECT_EQ(first_difference(NumberFormat::bf16, one_wrong), wrong);
}

}  // namespace
}  // namespace adamant::properties
