#include "real/shard/fsdp2.h"

#include <algorithm>

namespace adamant::real {

namespace {

/// Rows of which each of `count` parts has `chunk`, as far as they go.
struct Cut {
  std::int64_t chunk = 0;
  ElementRange part = {};
};

Cut cut(ElementRange rows, int count, int index) {
  std::int64_t const chunk = (rows.numel() + count - 1) / count;
  return {.chunk = chunk,
          .part = {.begin = std::min(rows.end, rows.begin + index * chunk),
                   .end = std::min(rows.end, rows.begin + (index + 1) * chunk)}};
}

ElementRange elements_of(ElementRange rows, std::int64_t row_numel) {
  return {.begin = rows.begin * row_numel, .end = rows.end * row_numel};
}

}  // namespace

Ownership own_rows(ParameterSpec const& spec, RankOfMesh const& where) {
  Mesh const& mesh = where.mesh;
  std::int64_t const row_numel = spec.row_numel();
  Cut const shard = cut({.begin = 0, .end = spec.rows()}, mesh.shards, where.shard());
  Ownership own{.parameters = elements_of(shard.part, row_numel),
                .states = elements_of(shard.part, row_numel),
                .chunk_numel = shard.chunk * row_numel,
                .states_numel = shard.chunk * row_numel,
                .largest_states_numel = shard.chunk * row_numel,
                .parameters_numel = shard.chunk * row_numel};
  if (!mesh.cuts_states_across()) return own;
  Cut const part = cut(shard.part, mesh.replicas, where.replica());
  own.states = elements_of(part.part, row_numel);
  own.states_numel = part.chunk * row_numel;
  own.largest_states_numel =
      cut({.begin = 0, .end = shard.chunk}, mesh.replicas, 0).chunk * row_numel;
  own.parameters_numel = std::max(own.chunk_numel, mesh.replicas * own.states_numel);
  return own;
}

}  // namespace adamant::real
