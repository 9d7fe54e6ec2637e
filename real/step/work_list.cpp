#include "real/step/work_list.h"

#include <algorithm>

#include "real/step/scale_slots.h"

namespace adamant::real {

namespace {

std::uint8_t scaled_states(ParameterLayout const& layout) {
  int bits = 0;
  for (int slot = 0; slot < slots_per_parameter; ++slot) {
    auto const format = layout.format(state_kinds[slot]);
    if (format && has_scale(state_kinds[slot], *format)) bits |= 1 << slot;
  }
  return static_cast<std::uint8_t>(bits);
}

PieceFormats formats_of(ParameterLayout const& layout) {
  auto const cast = layout.format(TensorKind::cast_gradient);
  return {.weight = layout.formats.main.value_or(layout.formats.parameter),
          .gradient = cast.value_or(layout.formats.gradient),
          .exp_avg = layout.formats.exp_avg,
          .exp_avg_sq = layout.formats.exp_avg_sq,
          .parameter = layout.formats.parameter,
          .copies = static_cast<std::uint8_t>(layout.formats.main && !layout.quantised ? 1 : 0),
          .main = static_cast<std::uint8_t>(layout.formats.main ? 1 : 0),
          .cast = static_cast<std::uint8_t>(cast ? 1 : 0),
          .scaled = scaled_states(layout)};
}

std::int64_t offset_of(ParameterLayout const& layout, TensorKind kind, std::int64_t element) {
  auto const format = layout.format(kind);
  if (!format) return 0;
  auto const bytes = static_cast<std::int64_t>(bytes_of(*format));
  return static_cast<std::int64_t>(layout.stepped_begin(kind)) + element * bytes;
}

void cut(ParameterLayout const& layout, std::int64_t numel, int parameter,
         std::vector<WorkPiece>& pieces) {
  PieceFormats const formats = formats_of(layout);
  TensorKind const weight = formats.main != 0 ? TensorKind::main : TensorKind::parameter;
  TensorKind const gradient = formats.cast != 0 ? TensorKind::cast_gradient : TensorKind::gradient;
  for (std::int64_t begin = 0; begin < numel; begin += piece_numel_max) {
    std::int64_t const count = std::min(piece_numel_max, numel - begin);
    pieces.push_back({.weight = offset_of(layout, weight, begin),
                      .gradient = offset_of(layout, gradient, begin),
                      .exp_avg = offset_of(layout, TensorKind::exp_avg, begin),
                      .exp_avg_sq = offset_of(layout, TensorKind::exp_avg_sq, begin),
                      .parameter_copy = offset_of(layout, TensorKind::parameter, begin),
                      .formats = formats,
                      .count = static_cast<std::int32_t>(count),
                      .parameter = parameter});
  }
}

}  // namespace

std::vector<WorkPiece> make_work_list(Layout const& layout, Split const& split) {
  std::vector<WorkPiece> pieces;
  for (int p = 0; p < layout.parameter_count(); ++p)
    cut(layout[p], split.device_numel(p), p, pieces);
  return pieces;
}

WorkListExtent extent_of(std::span<WorkPiece const> pieces) {
  WorkListExtent extent;
  for (WorkPiece const& piece : pieces) {
    ++extent.piece_count;
    extent.longest = std::max<std::int64_t>(extent.longest, piece.count);
    extent.has_scales = extent.has_scales || piece.formats.scaled != 0;
    extent.is_fp32 = extent.is_fp32 && is_fp32(piece.formats);
  }
  return extent;
}

}  // namespace adamant::real
