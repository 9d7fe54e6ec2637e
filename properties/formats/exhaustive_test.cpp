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

/// One block of consecutive patterns through the oracle and through other conversions.
class Block {
 public:
  explicit Block(NumberFormat format) : format_(format) {}

  /// A pattern in which one of them differs from the oracle: the first of the first that does.
  std::optional<std::uint32_t> difference(std::uint64_t begin, std::span<Narrow const> others) {
    for (std::uint64_t i = 0; i < block_size; ++i)
      values_[i] = std::bit_cast<float>(static_cast<std::uint32_t>(begin + i));
    oracle::encode(format_, values_, expected_);
    for (Narrow const& narrow : others) {
      narrow(values_, actual_);
      for (std::uint64_t i = 0; i < block_size; ++i)
        if (expected_[i] != actual_[i]) return static_cast<std::uint32_t>(begin + i);
    }
    return std::nullopt;
  }

 private:
  NumberFormat format_;
  std::vector<float> values_ = std::vector<float>(block_size);
  std::vector<std::uint16_t> expected_ = std::vector<std::uint16_t>(block_size);
  std::vector<std::uint16_t> actual_ = std::vector<std::uint16_t>(block_size);
};

/// A pattern in which one of them differs from the oracle, of the first block that has any.
/// Searched by all cores.
std::optional<std::uint32_t> difference(NumberFormat format, std::span<Narrow const> others) {
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> found = pattern_count;
  auto const search = [&] {
    Block block(format);
    for (std::uint64_t begin = next.fetch_add(block_size); begin < found;
         begin = next.fetch_add(block_size)) {
      auto const at = block.difference(begin, others);
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

void expect_agreement(NumberFormat format, std::span<Conversions const> header_sets) {
  std::vector<Narrow> others;
  for (Conversions const& set : header_sets) others.emplace_back(set.narrow);
  auto const at = difference(format, others);
  EXPECT_FALSE(at) << "pattern " << std::hex << *at << ", " << std::bit_cast<float>(*at);
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

// Each pattern goes through the oracle once, for all header sets that there are.
#ifdef ADAMANT_HAVE_TOOLKIT
std::vector<Conversions> bf16_of_headers() {
  return {cloned_bf16(), installed_bf16()};
}
std::vector<Conversions> fp16_of_headers() {
  return {cloned_fp16(), installed_fp16()};
}
#else
std::vector<Conversions> bf16_of_headers() {
  return {cloned_bf16()};
}
std::vector<Conversions> fp16_of_headers() {
  return {cloned_fp16()};
}
#endif

TEST(ExhaustiveFormats, Bf16OfTheHeadersIsTheOracles) {
  expect_agreement(NumberFormat::bf16, bf16_of_headers());
  for (Conversions const& set : bf16_of_headers()) expect_same_worth(NumberFormat::bf16, set);
}

TEST(ExhaustiveFormats, Fp16OfTheHeadersIsTheOracles) {
  expect_agreement(NumberFormat::fp16, fp16_of_headers());
  for (Conversions const& set : fp16_of_headers()) expect_same_worth(NumberFormat::fp16, set);
}

TEST(ExhaustiveFormats, AnInstalledToolkitIsAmongTheHeaders) {
  if (bf16_of_headers().size() < 2) {
    GTEST_SKIP() << "no CUDA toolkit was found when this was configured, so its cuda_bf16.h and "
                    "cuda_fp16.h are not compared";
  }
}

TEST(ExhaustiveFormats, OneWrongPatternOfOneHeaderSetIsFound) {
  constexpr std::uint32_t wrong = 0x3f8001ffU;
  auto const one_wrong = [](std::span<float const> values, std::span<std::uint16_t> bits) {
    cloned_bf16().narrow(values, bits);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::bit_cast<std::uint32_t>(values[i]) == wrong) ++bits[i];
  };
  std::vector<Narrow> const others = {cloned_bf16().narrow, one_wrong};
  EXPECT_EQ(difference(NumberFormat::bf16, others), wrong);
}

}  // namespace
}  // namespace adamant::properties
