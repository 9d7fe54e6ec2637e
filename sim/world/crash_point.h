// When a machine crashes: at a byte that one rank writes, or at one of the file operations after
// it. It counts and answers; what a crash does is the disk's part (sim/world/disk.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/world/disk.h"

namespace adamant::sim {

/// "Rank r, after n bytes": the n-th byte is written, the next is not. File operations between the
/// two (sync, rename, …) write no byte, so which of them still happen is chosen.
class CrashPoint {
 public:
  void arm(int rank, std::uint64_t after_bytes) { left_ = {.rank = rank, .bytes = after_bytes}; }
  void disarm() { left_.reset(); }
  bool armed() const { return left_.has_value(); }

  /// How many of the bytes that `rank` is about to write get written. Fewer than `bytes`: then it
  /// strikes.
  std::size_t admit(int rank, std::size_t bytes) {
    if (!left_ || left_->rank != rank) return bytes;
    auto const admitted = std::min<std::uint64_t>(bytes, left_->bytes);
    left_->bytes -= admitted;
    return static_cast<std::size_t>(admitted);
  }

  /// Does it strike instead of this operation of `rank`, which writes nothing?
  bool strikes(int rank, Chance const& chance) const {
    if (!left_ || left_->rank != rank || left_->bytes > 0) return false;
    return chance(2) == 0;
  }

 private:
  struct Left {
    int rank = 0;
    std::uint64_t bytes = 0;
  };
  std::optional<Left> left_;
};

}  // namespace adamant::sim
