// Optimizer state that leaves the device between steps: moments and main weights go to pinned
// memory and their device memory is given back. It knows which tensors and where they are now, and
// nothing of steps.
//
// Invariants:
//   O1 a copy down starts after the last kernel that wrote the state
//   O2 the device memory is given back after the copy down
//   O3 a copy up starts after the copy down of the same pinned memory
//   O4 whatever runs on `compute` after bring_back() starts after the copy up
//   O5 nobody is shown device memory that was given back
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "real/cuda/streams.h"
#include "real/offload/streams.h"
#include "real/shard/layout.h"
#include "real/shard/memory.h"
#include "real/shard/tensors.h"

namespace adamant::real {

class StateOffload {
 public:
  struct Parts {
    Layout const& layout;
    Tensors& tensors;
    Ledger& ledger;
    Streams const& streams;
    OffloadStreams const& copies;
  };

  /// The states that `config` names leave and come back together. With `born_away` they have no
  /// device memory yet (see Tensors) and are zeros in pinned memory.
  ///
  /// Errors: CudaError.
  StateOffload(Parts const& parts, StateOffloadConfig const& config, bool born_away);

  /// To pinned memory, unless they are there; device memory is given back.
  ///
  /// Stream: ordered after `compute` so far; returns before it is done. Errors: CudaError.
  void send_away();
  /// To the device, unless they are there, at other addresses than before.
  ///
  /// Stream: later work of `compute` finds them there. Errors: CudaError.
  void bring_back();

  bool away() const { return away_; }
  /// The host may read or write pinned states after this.
  void wait_until_away() const { sent_.synchronize(); }
  /// Somebody has written all states where they are now.
  void note_written();
  /// A state that is away, as the door shows it.
  ShardView placed(ShardView view, TensorKind kind, int parameter) const;

 private:
  void send(TensorKind kind);
  void bring(TensorKind kind);
  std::optional<PinnedBuffer>& pinned(TensorKind kind) {
    return pinned_[static_cast<std::size_t>(kind)];
  }

  Parts parts_;
  std::vector<TensorKind> kinds_;
  std::array<std::optional<PinnedBuffer>, tensor_kind_count> pinned_;
  bool away_ = false;
  bool never_stepped_ = false;  // moments are zeros, which nobody has to copy
  Event computed_;
  Event sent_;     // on copies.down
  Event brought_;  // on copies.up
};

}  // namespace adamant::real
