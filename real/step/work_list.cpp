#include "real/step/work_list.h"

#include <algorithm>

#include "real/bug.h"

namespace adamant::real {

namespace {

void cut(ParameterLayout const& layout, int parameter, std::vector<WorkPiece>& pieces) {
  std::int64_t const numel = layout.shard_numel();
  for (std::int64_t begin = 0; begin < numel; begin += piece_numel_max) {
    std::int64_t const count = std::min(piece_numel_max, numel - begin);
    pieces.push_back({.offset = layout.offset + begin,
                      .gradient_offset = layout.offset + begin,
                      .count = static_cast<std::int32_t>(count),
                      .parameter = parameter});
  }
}

}  // namespace

std::vector<WorkPiece> make_work_list(Layout const& layout) {
  std::vector<WorkPiece> pieces;
  for (int p = 0; p < layout.parameter_count(); ++p) cut(layout[p], p, pieces);

  if (ADAMANT_BUG(piece_repeated) && pieces.size() > 1) pieces.front() = pieces.back();
  if (ADAMANT_BUG(piece_rounded_up))
    for (WorkPiece& piece : pieces) piece.count = (piece.count + 3) / 4 * 4;
  return pieces;
}

}  // namespace adamant::real
