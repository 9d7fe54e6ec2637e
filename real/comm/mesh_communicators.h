// The communicators of one rank of a mesh: of all ranks, of those that share out the parameters,
// and of those that have the same shard. It does not know what for.
#pragma once

#include <memory>
#include <utility>

#include "oracle/types.h"
#include "real/comm/communicator.h"

namespace adamant::real {

/// Every rank calls collectives of its communicators in the same order: those of one kind of group
/// may not overtake those of another.
class MeshCommunicators {
 public:
  /// `within` and `across` are null where a world has one replica.
  MeshCommunicators(Mesh const& mesh, std::unique_ptr<Communicator> world,
                    std::unique_ptr<Communicator> within, std::unique_ptr<Communicator> across)
      : mesh_(mesh),
        world_(std::move(world)),
        within_(std::move(within)),
        across_(std::move(across)) {}

  Mesh const& mesh() const { return mesh_; }
  Communicator& world() { return *world_; }
  /// The shards of this replica; a rank's number there is that of its shard.
  Communicator& within() { return within_ ? *within_ : *world_; }
  /// The replicas of this shard; a rank's number there is that of its replica. REQUIRES: more than
  /// one.
  Communicator& across() { return *across_; }
  /// Those that share out one copy of the states. Other replicas have the same and count for
  /// nothing.
  Communicator& states() { return mesh_.cuts_states_across() ? world() : within(); }

  void abandon() noexcept {
    if (across_) across_->abandon();
    if (within_) within_->abandon();
    world_->abandon();
  }

 private:
  Mesh mesh_;
  // Destroyed the other way round: what was split off goes first.
  std::unique_ptr<Communicator> world_;
  std::unique_ptr<Communicator> within_;
  std::unique_ptr<Communicator> across_;
};

}  // namespace adamant::real
