// Pinned memory through which pieces of files pass on their way between disk and device: two slots
// used by turns, so that one is copied while the other is checked and written.
//
// Invariants:
//   G1 the host touches a slot only after the copies that use it are done
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "real/cuda/handles.h"
#include "real/shard/memory.h"

namespace adamant::real {

class Staging {
 public:
  /// Slots of `slot_bytes`. Copies are enqueued on `stream`. Errors: CudaError.
  Staging(Ledger& ledger, std::size_t slot_bytes, Stream const& stream);
  /// Waits for copies that still use it.
  ~Staging();
  Staging(Staging const&) = delete;
  Staging& operator=(Staging const&) = delete;

  /// The slot of the `turn`-th piece, once nothing uses it any more.
  std::span<std::byte> slot(std::size_t turn);
  /// Copies into or out of a slot are enqueued: it is in use until they are done.
  void in_use(std::size_t turn) { done_[turn % 2].record(stream_); }
  Stream const& stream() const { return stream_; }

 private:
  PinnedBuffer memory_;
  std::size_t slot_bytes_;
  Stream const& stream_;
  std::array<Event, 2> done_;
};

}  // namespace adamant::real
