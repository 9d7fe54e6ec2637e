#include "real/shard/fsdp2.h"

#include <algorithm>

namespace adamant::real {

namespace {

std::int64_t rows_per_rank(std::int64_t rows, int world_size) {
  return (rows + world_size - 1) / world_size;
}

}  // namespace

Cut cut_by_rows(ParameterSpec const& spec, RankOfWorld where) {
  std::int64_t const rows = spec.rows();
  std::int64_t const chunk_rows = rows_per_rank(rows, where.world_size);
  std::int64_t const begin = std::min(rows, where.rank * chunk_rows);
  std::int64_t const end = std::min(rows, (where.rank + 1) * chunk_rows);
  std::int64_t const row_numel = spec.row_numel();
  return {.ranges = {{.begin = begin * row_numel, .end = end * row_numel}},
          .chunk_numel = chunk_rows * row_numel};
}

}  // namespace adamant::real
