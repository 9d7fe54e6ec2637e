#include "sim/watch/segments.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "sim/world/prng.h"

namespace adamant::sim {
namespace {

constexpr std::uint32_t agents = 4;
constexpr std::uint64_t bytes = 10'000;  // several pages

/// One conflict at one byte: with which operation, and did that one write?
struct Finding {
  std::uint64_t at;
  std::uint32_t operation;
  bool earlier_writes;
  auto operator<=>(Finding const&) const = default;
};
using Findings = std::set<Finding>;

/// The same law, byte by byte, forgetting nothing.
class Naive {
 public:
  explicit Naive(Touch const& birth) : bytes_(bytes, Byte{birth, {}}) {}

  Findings access(std::uint64_t begin, std::uint64_t end, bool writes, Touch const& touch,
                  VectorClock const& clock) {
    Findings found;
    for (std::uint64_t at = begin; at < end; ++at) {
      Byte& byte = bytes_[at];
      if (!byte.write.epoch.before(clock)) found.insert({at, byte.write.operation, true});
      if (!writes) {
        byte.reads.push_back(touch);
        continue;
      }
      for (Touch const& read : byte.reads) {
        if (!read.epoch.before(clock)) found.insert({at, read.operation, false});
      }
      byte = {touch, {}};
    }
    return found;
  }

 private:
  struct Byte {
    Touch write;
    std::vector<Touch> reads;
  };
  std::vector<Byte> bytes_;
};

Findings access(Segments& segments, std::uint64_t begin, std::uint64_t end, bool writes,
                Touch const& touch, VectorClock const& clock) {
  Findings found;
  segments.access(
      begin, end, writes, touch, clock,
      [&](Touch const& earlier, bool earlier_writes, std::uint64_t from, std::uint64_t to) {
        EXPECT_LE(begin, from);
        EXPECT_LE(to, end);
        for (std::uint64_t at = from; at < to; ++at) {
          found.insert({at, earlier.operation, earlier_writes});
        }
      });
  return found;
}

Findings writes_of(Findings const& all) {
  Findings result;
  for (Finding const& finding : all) {
    if (finding.earlier_writes) result.insert(finding);
  }
  return result;
}

std::set<std::uint64_t> bytes_read(Findings const& all) {
  std::set<std::uint64_t> result;
  for (Finding const& finding : all) {
    if (!finding.earlier_writes) result.insert(finding.at);
  }
  return result;
}

/// Of the reads in conflict with a write the segments may name fewer, because a later read covers
/// those before it; where there is one, they name one.
void expect_equal(Findings const& found, Findings const& naive) {
  EXPECT_EQ(writes_of(found), writes_of(naive));
  EXPECT_EQ(bytes_read(found), bytes_read(naive));
  for (Finding const& finding : found) EXPECT_TRUE(naive.contains(finding));
}

/// Agents that touch random ranges and now and then learn what another one knows.
void compare(std::uint64_t seed) {
  Prng prng(seed);
  VectorClock clocks[agents];
  Touch const birth{{0, 0}, 0};
  Segments segments;
  segments.reset(bytes, birth);
  Naive naive(birth);
  for (std::uint32_t operation = 1; operation < 120; ++operation) {
    std::uint32_t const agent = prng.below(agents);
    std::uint32_t const teacher = prng.below(agents);
    if (prng.below(2) == 0) clocks[agent].join(clocks[teacher]);
    clocks[agent].advance(agent);
    std::uint64_t const begin = prng.below(bytes);
    std::uint32_t const longest = prng.below(4) == 0 ? bytes : 64;
    std::uint64_t const end = std::min<std::uint64_t>(bytes, begin + 1 + prng.below(longest));
    bool const writes = prng.below(3) == 0;
    Touch const touch{{agent, clocks[agent].of(agent)}, operation};
    Findings const found = access(segments, begin, end, writes, touch, clocks[agent]);
    expect_equal(found, naive.access(begin, end, writes, touch, clocks[agent]));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Segments, AgreeWithAModelByteByByte) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    compare(seed);
    if (HasFailure()) return;
  }
}

TEST(Segments, AreBornAsWritten) {
  VectorClock unaware;
  Segments segments;
  segments.reset(64, {{2, 5}, 7});
  EXPECT_EQ(access(segments, 0, 1, false, {{0, 0}, 8}, unaware), (Findings{{0, 7, true}}));
}

TEST(Segments, ForgetEverythingAtReset) {
  VectorClock aware;
  aware.advance(0);
  Segments segments;
  segments.reset(bytes, {{0, 0}, 0});
  access(segments, 10, 9000, true, {{1, 3}, 1}, aware);
  segments.reset(5000, {{0, 1}, 2});
  EXPECT_EQ(access(segments, 0, 5000, true, {{0, 1}, 3}, aware), Findings{});
}

}  // namespace
}  // namespace adamant::sim
