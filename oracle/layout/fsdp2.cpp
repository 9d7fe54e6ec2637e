#include "oracle/layout/fsdp2.h"

#include <algorithm>

#include "oracle/check.h"

namespace adamant::oracle {
namespace {

// The widest access of a kernel.
constexpr std::int64_t alignment_bytes = 16;

std::int64_t chunk_rows(std::int64_t rows, int world_size) {
  check(rows >= 0, "a parameter has no negative rows");
  check(world_size >= 1, "a world has a rank");
  return rows / world_size + (rows % world_size != 0 ? 1 : 0);
}

}  // namespace

std::int64_t chunk_numel(ParameterSpec const& parameter, int world_size) {
  return chunk_rows(parameter.rows(), world_size) * parameter.row_numel();
}

ElementRange fsdp2_range(ParameterSpec const& parameter, RankInWorld place) {
  check(place.rank >= 0, "ranks count from 0");
  check(place.rank < place.world_size, "a rank is in its world");
  auto const numel = parameter.numel();
  auto const chunk = chunk_numel(parameter, place.world_size);
  return {.begin = std::min(numel, place.rank * chunk),
          .end = std::min(numel, (place.rank + 1) * chunk)};
}

std::int64_t shard_numel(ParameterSpec const& parameter, RankInWorld place) {
  return fsdp2_range(parameter, place).numel();
}

std::int64_t padded_bytes(ParameterSpec const& parameter, int world_size, NumberFormat format) {
  auto const bytes =
      chunk_numel(parameter, world_size) * static_cast<std::int64_t>(bytes_of(format));
  return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

}  // namespace adamant::oracle
