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

enum class Kind { read, atomic, write };

/// One conflict at one byte: with which operation, and was that one a plain write?
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

  Findings access(std::uint64_t begin, std::uint64_t end, Kind kind, Touch const& touch,
                  VectorClock const& clock) {
    Findings found;
    for (std::uint64_t at = begin; at < end; ++at) {
      Byte& byte = bytes_[at];
      if (!byte.write.epoch.before(clock)) found.insert({at, byte.write.operation, true});
      for (Shared const& earlier : byte.since) {
        bool const allowed = kind != Kind::write && kind == earlier.kind;
        if (!allowed && !earlier.touch.epoch.before(clock)) {
          found.insert({at, earlier.touch.operation, false});
        }
      }
      if (kind == Kind::write) {
        byte = {touch, {}};
      } else {
        byte.since.push_back({kind, touch});
      }
    }
    return found;
  }

 private:
  struct Shared {
    Kind kind;
    Touch touch;
  };
  struct Byte {
    Touch write;
    std::vector<Shared> since;
  };
  std::vector<Byte> bytes_;
};

Findings access(Segments& segments, std::uint64_t begin, std::uint64_t end, Kind kind, Touch touch,
                VectorClock const& clock) {
  Findings found;
  touch.atomic = kind == Kind::atomic;
  segments.access(
      begin, end, kind == Kind::write, touch, clock,
      [&](Touch const& earlier, bool earlier_writes, std::uint64_t from, std::uint64_t to) {
        EXPECT_LE(begin, from);
        EXPECT_LE(to, end);
        EXPECT_TRUE(earlier_writes || !earlier.atomic);
        for (std::uint64_t at = from; at < to; ++at) {
          found.insert({at, earlier.operation, earlier_writes && !earlier.atomic});
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

std::set<std::uint64_t> bytes_shared(Findings const& all) {
  std::set<std::uint64_t> result;
  for (Finding const& finding : all) {
    if (!finding.earlier_writes) result.insert(finding.at);
  }
  return result;
}

/// Of the reads and atomics in conflict the segments may name fewer, because a later one covers
/// those of its kind before it; where there is one, they name one.
void expect_equal(Findings const& found, Findings const& naive) {
  EXPECT_EQ(writes_of(found), writes_of(naive));
  EXPECT_EQ(bytes_shared(found), bytes_shared(naive));
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
    auto const kind = static_cast<Kind>(prng.below(3));
    Touch const touch{{agent, clocks[agent].of(agent)}, operation};
    Findings const found = access(segments, begin, end, kind, touch, clocks[agent]);
    expect_equal(found, naive.access(begin, end, kind, touch, clocks[agent]));
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
  EXPECT_EQ(access(segments, 0, 1, Kind::read, {{0, 0}, 8}, unaware), (Findings{{0, 7, true}}));
}

TEST(Segments, ForgetEverythingAtReset) {
  VectorClock aware;
  aware.advance(0);
  Segments segments;
  segments.reset(bytes, {{0, 0}, 0});
  access(segments, 10, 9000, Kind::write, {{1, 3}, 1}, aware);
  segments.reset(5000, {{0, 1}, 2});
  EXPECT_EQ(access(segments, 0, 5000, Kind::write, {{0, 1}, 3}, aware), Findings{});
}

}  // namespace
}  // namespace adamant::sim
