#include "real/shard/ownership.h"

#include "real/cuda/assert.h"

namespace adamant::real {

Ownership own_slices(std::int64_t numel, RankOfMesh const& where) {
  ADAMANT_REAL_ASSERT(numel % where.mesh.state_shards() == 0);
  std::int64_t const chunk = numel / where.mesh.shards;
  std::int64_t const begin = where.shard() * chunk;
  Ownership own{.parameters = {.begin = begin, .end = begin + chunk},
                .states = {.begin = begin, .end = begin + chunk},
                .chunk_numel = chunk,
                .states_numel = chunk,
                .largest_states_numel = chunk,
                .parameters_numel = chunk};
  if (!where.mesh.cuts_states_across()) return own;
  own.states_numel = chunk / where.mesh.replicas;
  own.largest_states_numel = own.states_numel;
  own.states.begin += where.replica() * own.states_numel;
  own.states.end = own.states.begin + own.states_numel;
  return own;
}

}  // namespace adamant::real
