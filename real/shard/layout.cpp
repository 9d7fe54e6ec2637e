#include "real/shard/layout.h"

#include <algorithm>

#include "real/bug.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::int64_t rows_per_rank(std::int64_t rows, int world_size) {
  if (ADAMANT_BUG(remainder_dropped))
    return rows > 0 ? std::max<std::int64_t>(rows / world_size, 1) : 0;
  return (rows + world_size - 1) / world_size;
}

ParameterLayout lay_out(ParameterSpec const& spec, RankOfWorld where, std::int64_t offset) {
  std::int64_t const rows = spec.rows();
  std::int64_t const chunk_rows = rows_per_rank(rows, where.world_size);
  std::int64_t const late = ADAMANT_BUG(shard_off_by_one_row) && where.rank > 0 ? 1 : 0;

  ParameterLayout p;
  p.row_begin = std::min(rows, where.rank * chunk_rows + late);
  p.row_end = std::min(rows, (where.rank + 1) * chunk_rows + late);
  p.row_numel = spec.row_numel();
  p.numel = spec.numel();
  p.chunk_numel = chunk_rows * p.row_numel;
  p.padded_numel = round_up(p.chunk_numel, 4);
  p.offset = offset;
  std::int64_t whole = where.world_size * p.chunk_numel;
  if (ADAMANT_BUG(remainder_dropped)) whole = std::max(whole, p.numel);  // what the model expects
  p.whole_bytes = static_cast<std::size_t>(round_up(whole, 4)) * sizeof(float);
  return p;
}

}  // namespace

Layout::Layout(std::span<ParameterSpec const> parameters, RankOfWorld where) {
  ADAMANT_REAL_ASSERT(where.world_size >= 1);
  ADAMANT_REAL_ASSERT(where.rank >= 0);
  ADAMANT_REAL_ASSERT(where.rank < where.world_size);
  for (ParameterSpec const& spec : parameters) {
    ADAMANT_REAL_ASSERT(!spec.shape.empty());
    if (spec.unit == unit_count()) units_.emplace_back();
    ADAMANT_REAL_ASSERT(spec.unit == unit_count() - 1);
    units_.back().push_back(parameter_count());
    parameters_.push_back(lay_out(spec, where, flat_numel_));
    flat_numel_ += parameters_.back().padded_numel;
  }
}

ParameterLayout const& Layout::operator[](int parameter) const {
  ADAMANT_REAL_ASSERT(parameter >= 0);
  ADAMANT_REAL_ASSERT(parameter < parameter_count());
  return parameters_[static_cast<std::size_t>(parameter)];
}

std::span<int const> Layout::unit(int unit) const {
  ADAMANT_REAL_ASSERT(unit >= 0);
  ADAMANT_REAL_ASSERT(unit < unit_count());
  return units_[static_cast<std::size_t>(unit)];
}

}  // namespace adamant::real
