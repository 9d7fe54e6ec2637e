// The oracle's model seen as a world without replicas that hold the same, for those who look at
// worlds alone. Steps inside a replay cannot be watched from outside the graph; what the oracle
// computed for them can, and the verdict holds the engine to it when the replay is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "oracle/layout/layout.h"
#include "oracle/model/model.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// REQUIRES: model and layout outlive it and do not change meanwhile. The layout is the one whose
/// shards have scales of their own in the model, if any have.
class OracleView final : public WorldView {
 public:
  OracleView(oracle::Model const& model, oracle::Layout const& layout)
      : model_(model), layout_(layout) {}

  int rank_count() const override { return layout_.mesh().state_shards(); }
  int shard_count() const override { return layout_.mesh().shards; }
  int holder_count(TensorKind kind) const override { return layout_.holder_count(kind); }
  /// What a rank has by the layout, in its own format; there is no address.
  Shard shard(int rank, int parameter, TensorKind kind) const override;
  bool has_gradient(int rank, int parameter) const override;
  std::int64_t step_count(int rank, int parameter) const override;
  AdamConfig group(int rank, int group) const override;
  RankScaling scaling(int rank) const override;

  // What only an engine has.
  std::vector<NamedBuffer> buffers(int /*rank*/) const override { return {}; }
  std::size_t peak_bytes(int /*rank*/, Purpose /*purpose*/) const override { return 0; }
  std::optional<std::vector<WorldAllocation>> allocations() const override { return {}; }
  std::optional<std::uint64_t> gathered_fingerprint(int /*rank*/,
                                                    int /*parameter*/) const override {
    return {};
  }
  std::vector<StoredFile> checkpoint(std::string_view /*name*/) const override { return {}; }

 private:
  oracle::Model const& model_;
  oracle::Layout const& layout_;
  mutable std::deque<std::vector<std::byte>> stored_;  // behind spans that were handed out
};

/// What the oracle says of loss scale and clipping, in the words of a rank.
RankScaling scaling_of(oracle::Model const& model);

}  // namespace adamant::scenarios
