// The ranks of an engine in another process, as verdicts and dumps look at them: what its last
// `state` said, asked for once after each operation. It has no addresses and no buffers to show.
#pragma once

#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/gradients.h"
#include "scenarios/peers/client/peer_files.h"
#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/client/scaled_tensors.h"
#include "scenarios/peers/client/tensor_file.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// What is known of a world before it is looked at.
struct PeerWorldParts {
  std::vector<ParameterSpec> const& parameters;  // with the formats of this world
  std::vector<replies::NamedGroup> groups;       // as they began
  Mesh mesh = {};
  Arithmetic arithmetic = Arithmetic::own_order;
  std::filesystem::path directory;  // where the engine may write what it shows
  PeerFiles const& files;
  std::vector<Fault::Then> refuses_damage = {};
};

/// A save that somebody wanted to look at was not finished.
struct FinishFailed : std::exception {
  FinishFailed(std::vector<RankOutcome> ranks, int entry)
      : outcomes(std::move(ranks)), save(entry) {}
  char const* what() const noexcept override { return "a save was not finished"; }

  std::vector<RankOutcome> outcomes;
  int save;  // the operation
};

class PeerWorld final : public WorldView {
 public:
  PeerWorld(PeerClient& client, PeerWorldParts parts);

  /// The world has changed: asks for its state. `fed` is what the last backward was given.
  ///
  /// Errors: PeerError.
  void look_anew();
  void step_by(Arithmetic arithmetic) { parts_.arithmetic = arithmetic; }
  void feed(std::vector<WholeTensors> fed) { fed_ = std::move(fed); }
  void lose(std::vector<std::string> not_carried) { not_carried_ = std::move(not_carried); }
  /// Files of the save that is this operation are not whole until the engine is asked to finish it.
  void leave_unfinished(int save) { unfinished_ = save; }
  /// That save, if there is one; who asks has to have it finished.
  std::optional<int> take_unfinished() const { return std::exchange(unfinished_, std::nullopt); }

  /// A number that any bit of any tensor changes.
  std::uint64_t fold() const;

  Shown shown() const override { return {.addresses = false, .memory = false}; }
  Arithmetic arithmetic() const override { return parts_.arithmetic; }
  int rank_count() const override { return parts_.mesh.rank_count(); }
  int shard_count() const override { return parts_.mesh.shards; }
  int holder_count(TensorKind kind) const override {
    return kind == TensorKind::parameter ? parts_.mesh.shards : parts_.mesh.state_shards();
  }
  Shard shard(int rank, int parameter, TensorKind kind) const override;
  std::optional<Shard> whole(int rank, int parameter, TensorKind kind) const override;
  bool has_gradient(int rank, int parameter) const override;
  std::int64_t step_count(int rank, int parameter) const override;
  AdamConfig group(int rank, int group) const override;
  RankScaling scaling(int rank) const override;
  std::vector<NamedBuffer> buffers(int) const override { return {}; }
  std::size_t peak_bytes(int, Purpose) const override { return 0; }
  std::optional<std::vector<WorldAllocation>> allocations() const override { return {}; }
  std::optional<std::uint64_t> gathered_fingerprint(int, int) const override { return {}; }
  std::optional<std::span<float const>> fed(int rank, int parameter) const override;
  std::vector<std::string> not_carried() const override { return not_carried_; }
  bool refuses_damage(Fault::Then how) const override { return offers(parts_.refuses_damage, how); }
  bool refuses_rounding() const override { return false; }
  std::vector<StoredFile> checkpoint(std::string_view) const override { return {}; }
  /// Errors: FinishFailed, where the engine had not finished the save and fails to.
  FileDigests file_digests(std::string_view name) const override;
  /// Errors: likewise.
  KeptFiles files(std::string_view name) const override;
  bool has_own_formats() const override { return true; }

 private:
  struct Rank {
    ReportedState state;
    std::vector<ElementRange> ranges;  // by parameter: what the rows that it reports are
    TensorFile tensors;
    std::map<std::pair<int, TensorKind>, ScaledNumbers> scaled = {};  // in `tensors`
    std::map<int, std::shared_ptr<QuantisedShard const>> quantised = {};
  };
  std::uint64_t state_bytes_max() const;
  std::vector<Rank> ask(bool whole) const;
  void finish_save() const;
  void expect_ok(PeerReply const& reply) const;
  std::vector<ElementRange> ranges_of(ReportedState const& state) const;
  Rank const& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  ReportedShard const& reported(int rank, int parameter) const {
    return at(rank).state.shards[static_cast<std::size_t>(parameter)];
  }
  /// The tensor in a rank's file, or null.
  TensorFromFile const* find(Rank const& rank, char const* part, int parameter,
                             TensorKind kind) const;
  void check(int rank) const;
  /// What is read with scales, from the file of a rank.
  void take_scaled(int rank);
  [[noreturn]] void refuse(int rank, std::string const& what) const;

  PeerClient& client_;
  PeerWorldParts parts_;
  std::vector<Rank> ranks_;
  mutable std::optional<std::vector<Rank>> whole_;  // asked for when somebody wants to see it
  mutable int looks_ = 0;
  std::vector<std::byte> zeros_;  // for a moment that the engine has not made yet
  std::vector<WholeTensors> fed_;
  std::vector<std::string> not_carried_;
  mutable std::optional<int> unfinished_;
};

}  // namespace adamant::scenarios
