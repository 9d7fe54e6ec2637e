// A world that is right but for what a test does to its shards: a second oracle.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "scenarios/judge/oracle_view.h"

namespace adamant::scenarios {

using ShardTamper = std::function<void(int rank, TensorKind kind, Shard& shard)>;

class SecondOracle final : public WorldView {
 public:
  SecondOracle(oracle::Model const& model, oracle::Layout const& layout, int replicas)
      : view_(model, layout), replicas_(replicas) {}

  ShardTamper tamper = [](int, TensorKind, Shard&) {};

  int rank_count() const override { return view_.rank_count() * replicas_; }
  int shard_count() const override { return view_.shard_count(); }
  int holder_count(TensorKind kind) const override { return view_.holder_count(kind); }
  Shard shard(int rank, int parameter, TensorKind kind) const override {
    Shard shard = view_.shard(rank % view_.rank_count(), parameter, kind);
    tamper(rank, kind, shard);
    return shard;
  }
  bool has_gradient(int rank, int parameter) const override {
    return view_.has_gradient(rank, parameter);
  }
  std::int64_t step_count(int rank, int parameter) const override {
    return view_.step_count(rank, parameter);
  }
  AdamConfig group(int rank, int group) const override { return view_.group(rank, group); }
  RankScaling scaling(int rank) const override { return view_.scaling(rank); }
  std::vector<NamedBuffer> buffers(int) const override { return {}; }
  std::size_t peak_bytes(int, Purpose) const override { return 0; }
  std::optional<std::vector<WorldAllocation>> allocations() const override { return {}; }
  std::optional<std::uint64_t> gathered_fingerprint(int, int) const override { return {}; }
  std::vector<StoredFile> checkpoint(std::string_view) const override { return {}; }

 private:
  OracleView view_;
  int replicas_;
};

}  // namespace adamant::scenarios
