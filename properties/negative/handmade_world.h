// A world without an engine: two ranks' tensors, buffers and counters as plain values that a test
// fills in and then makes wrong, to see whether the verdict on them notices. Sizes are written out
// here by hand, for one parameter `w` of 3 x 2 elements.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/seam/engine.h"

namespace adamant::properties {

/// What one rank shows.
struct HandmadeRank {
  std::vector<ElementRange> ranges;
  std::array<std::vector<float>, tensor_kind_count> tensors;  // by TensorKind; this rank's elements
  std::vector<float> whole;  // the parameter as this rank sees all of it; empty: it does not show
  bool has_gradient = false;
  std::int64_t steps = 0;
  AdamConfig settings;
  scenarios::RankScaling scaling;
  std::optional<std::uint64_t> gathered;
  std::vector<scenarios::NamedBuffer> buffers;
  std::array<std::size_t, purpose_count> peaks{};

  std::vector<float>& tensor(TensorKind kind) { return tensors[static_cast<std::size_t>(kind)]; }
};

/// Right before the first operation: initial values, moments of zeros, no gradient.
class HandmadeWorld final : public scenarios::WorldView {
 public:
  explicit HandmadeWorld(scenarios::Scenario const& scenario);

  /// What zero_grad to zeros does: gradients of zeros, in buffers of their own.
  void zero_gradients();
  /// What whole parameters, or whole gradients and their sums, add to the peaks of a backward.
  void weigh_gathered_unit();
  void weigh_reduced_unit();
  /// Lists one more buffer, and its allocation.
  void add_buffer(int rank, Purpose purpose, std::size_t bytes, bool on_host = false);

  int rank_count() const override { return 2; }
  scenarios::Shard shard(int rank, int parameter, TensorKind kind) const override;
  std::optional<scenarios::Shard> whole(int rank, int parameter, TensorKind kind) const override;
  std::vector<std::string> not_carried() const override { return lost; }
  bool has_gradient(int rank, int) const override { return at(rank).has_gradient; }
  std::int64_t step_count(int rank, int) const override { return at(rank).steps; }
  AdamConfig group(int rank, int) const override { return at(rank).settings; }
  scenarios::RankScaling scaling(int rank) const override { return at(rank).scaling; }
  std::vector<scenarios::NamedBuffer> buffers(int rank) const override { return at(rank).buffers; }
  std::size_t peak_bytes(int rank, Purpose purpose) const override {
    return at(rank).peaks[static_cast<std::size_t>(purpose)];
  }
  std::optional<std::vector<scenarios::WorldAllocation>> allocations() const override {
    return live;
  }
  std::optional<std::uint64_t> gathered_fingerprint(int rank, int) const override {
    return at(rank).gathered;
  }
  std::vector<scenarios::StoredFile> checkpoint(std::string_view) const override { return {}; }

  std::array<HandmadeRank, 2> ranks;
  std::vector<scenarios::WorldAllocation> live;
  std::vector<std::string> lost;  // what files do not carry

 private:
  HandmadeRank const& at(int rank) const { return ranks[static_cast<std::size_t>(rank)]; }

  std::vector<char> addresses_;  // one byte stands for each allocation
};

/// Two ranks, one parameter `w` of 3 x 2: rank 0 owns four elements, rank 1 the last two.
scenarios::Scenario handmade_scenario();

}  // namespace adamant::properties
