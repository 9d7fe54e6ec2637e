// What one rank of a mesh has of a buffer: parameters are cut over its shards, and what belongs to
// the optimizer perhaps over replicas, too.
#pragma once

#include <cstdint>

#include "oracle/types.h"

namespace adamant::real {

/// One rank of a mesh.
struct RankOfMesh {
  int rank = 0;
  Mesh mesh = {};

  int shard() const { return mesh.shard_of(rank); }
  int replica() const { return mesh.replica_of(rank); }
};

/// Units: elements, in the buffer's own order.
struct Ownership {
  ElementRange parameters;        // this shard's, the same on all replicas
  ElementRange states;            // of gradients, main weights and moments: a part of that, or all
  std::int64_t chunk_numel = 0;   // what every shard gives to a gather of parameters
  std::int64_t states_numel = 0;  // room for states: what every replica gives to a gather across
  std::int64_t largest_states_numel = 0;  // the same of the shard that has most: on all ranks alike
  std::int64_t parameters_numel = 0;      // room for parameters: the chunk, and what replicas give
};

/// Equal parts of a buffer, replicas within a shard.
///
/// REQUIRES: `numel` is a multiple of the ranks that share out states.
Ownership own_slices(std::int64_t numel, RankOfMesh const& where);

}  // namespace adamant::real
