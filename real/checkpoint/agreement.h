// What ranks tell each other while they save and load: a message a rank, seen by all. It is also
// how a refusal on one rank becomes the same refusal on every rank, before anybody goes on alone
// into a collective that the others will never reach.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "real/checkpoint/message.h"
#include "real/comm/communicator.h"
#include "real/shard/layout.h"
#include "real/shard/memory.h"

namespace adamant::real {

/// All ranks make the same calls in the same order; each waits for the others.
class Agreement {
 public:
  Agreement(Communicator& communicator, Ledger& ledger, Stream const& stream, RankOfWorld where)
      : communicator_(communicator), ledger_(ledger), stream_(stream), where_(where) {}

  /// values[i] = the largest of all ranks' values[i]. REQUIRES: as many on all ranks, none negative
  /// or NaN. Errors: CudaError, NcclError.
  void take_largest(std::span<float> values);

  /// Runs `part` on this rank, then hears what came of it elsewhere; returns what the parts told,
  /// by rank.
  ///
  /// Errors: where any rank's part threw CheckpointError or StorageError, the first such rank's, on
  ///         every rank, with its number. Other exceptions leave at once. CudaError, NcclError.
  std::vector<Message> together(std::function<void(Message& told)> const& part);

 private:
  /// Everybody's message, by rank.
  std::vector<Message> exchange(Message const& mine);

  /// receive = everybody's `send`, one after another.
  std::vector<std::byte> gather(std::span<std::byte const> send);

  Communicator& communicator_;
  Ledger& ledger_;
  Stream const& stream_;
  RankOfWorld where_;
};

}  // namespace adamant::real
