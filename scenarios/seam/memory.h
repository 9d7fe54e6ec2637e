// Bytes by purpose: of a run what its engines had, of a dry run what they would have. Plain values.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <vector>

#include "oracle/types.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// By the number of a Purpose.
using BytesByPurpose = std::array<LiveBytes, purpose_count>;

/// The larger ones, device and pinned each.
inline void raise_to(LiveBytes& most, LiveBytes const& bytes) {
  most.device = std::max(most.device, bytes.device);
  most.pinned = std::max(most.pinned, bytes.pinned);
}

inline void raise_to(BytesByPurpose& most, BytesByPurpose const& bytes) {
  for (std::size_t i = 0; i < most.size(); ++i) raise_to(most[i], bytes[i]);
}

inline LiveBytes sum_of(BytesByPurpose const& bytes) {
  LiveBytes sum;
  for (LiveBytes const& one : bytes) {
    sum.device += one.device;
    sum.pinned += one.pinned;
  }
  return sum;
}

/// Numbers [first, last].
struct Numbers {
  int first = 0;
  int last = 0;
  friend auto operator<=>(Numbers const&, Numbers const&) = default;
};

/// The ranks of some shards in some replicas; there may be too many to list them.
struct RankBlock {
  Numbers shards;
  Numbers replicas;
  friend bool operator==(RankBlock const&, RankBlock const&) = default;
};

/// What each of some ranks needs.
///
/// Units: bytes asked for, an allocator's own rounding excluded.
struct PlannedMemory {
  int from_operation = 0;        // where their world begins: 0, or the load that made it
  Mesh mesh = {};                // of that world
  std::vector<RankBlock> ranks;  // all of it that need the same, in ascending order
  BytesByPurpose at_start{};     // before the first operation
  BytesByPurpose between{};      // the most between two operations
  BytesByPurpose peak{};         // the most at any time; purposes need not peak together
  friend bool operator==(PlannedMemory const&, PlannedMemory const&) = default;
};

}  // namespace adamant::scenarios
