#include "real/shard/layout.h"

#include <utility>

#include "real/cuda/assert.h"
#include "real/shard/fsdp2.h"

namespace adamant::real {

namespace {

// The widest access of a kernel.
constexpr std::size_t alignment_bytes = 16;

std::size_t aligned_bytes(std::int64_t numel, NumberFormat format) {
  std::size_t const bytes = static_cast<std::size_t>(numel) * bytes_of(format);
  return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

/// What a part of so many elements takes.
std::size_t bytes_of_part(ParameterLayout const& layout, TensorKind kind, std::int64_t numel) {
  if (kind == TensorKind::parameter && layout.quantised)
    return static_cast<std::size_t>(room_of(layout.quantised->recipe, numel));
  std::optional<NumberFormat> const stored = layout.format(kind);
  return stored ? aligned_bytes(numel, *stored) : 0;
}

std::size_t index_of(TensorKind kind) {
  return static_cast<std::size_t>(kind);
}

Cut cut(LayoutKind layout, ParameterSpec const& spec, RankOfWorld where) {
  ADAMANT_REAL_ASSERT(layout == LayoutKind::fsdp2);
  return cut_by_rows(spec, where);
}

std::optional<RecipeShape> quantised_shape(ParameterSpec const& spec) {
  if (!spec.formats.recipe) return std::nullopt;
  RecipeShape const shape{
      .numel = spec.numel(), .columns = spec.shape.back(), .recipe = *spec.formats.recipe};
  ADAMANT_REAL_ASSERT(spec.formats.main == NumberFormat::fp32);
  ADAMANT_REAL_ASSERT(takes(shape.recipe, spec.shape));
  return shape;
}

ParameterLayout lay_out(LayoutKind layout, ParameterSpec const& spec, RankOfWorld where) {
  Cut own = cut(layout, spec, where);
  ParameterLayout p;
  p.ranges = std::move(own.ranges);
  p.numel = spec.numel();
  p.chunk_numel = own.chunk_numel;
  p.whole_numel = where.world_size * p.chunk_numel;
  p.formats = spec.formats;
  p.quantised = quantised_shape(spec);
  for (TensorKind const kind : all_tensor_kinds)
    p.format_of_kind[index_of(kind)] = format_of(spec.formats, kind);
  return p;
}

std::optional<NumberFormat> cast_format(Formats const& formats) {
  if (formats.decoupled_gradient) return std::nullopt;
  if (formats.gradient == formats.weight()) return std::nullopt;
  return formats.weight();
}

}  // namespace

std::optional<NumberFormat> format_of(Formats const& formats, TensorKind kind) {
  switch (kind) {
    case TensorKind::parameter:
      if (formats.recipe) return std::nullopt;
      return formats.parameter;
    case TensorKind::gradient:
      return formats.gradient;
    case TensorKind::exp_avg:
      return formats.exp_avg;
    case TensorKind::exp_avg_sq:
      return formats.exp_avg_sq;
    case TensorKind::main:
      return formats.main;
    case TensorKind::cast_gradient:
      break;
  }
  return cast_format(formats);
}

std::vector<float> elements_of(std::span<float const> whole, std::span<ElementRange const> ranges) {
  std::vector<float> elements;
  elements.reserve(static_cast<std::size_t>(numel_of(ranges)));
  for (ElementRange const range : ranges) {
    auto const part = whole.subspan(static_cast<std::size_t>(range.begin),
                                    static_cast<std::size_t>(range.numel()));
    elements.insert(elements.end(), part.begin(), part.end());
  }
  return elements;
}

std::size_t ParameterLayout::room_bytes(TensorKind kind) const {
  return bytes_of_part(*this, kind, chunk_numel);
}

std::size_t ParameterLayout::whole_bytes(TensorKind kind) const {
  return bytes_of_part(*this, kind, whole_numel);
}

Layout::Layout(std::span<ParameterSpec const> parameters, RankOfWorld where, LayoutKind layout) {
  ADAMANT_REAL_ASSERT(where.world_size >= 1);
  ADAMANT_REAL_ASSERT(where.rank >= 0);
  ADAMANT_REAL_ASSERT(where.rank < where.world_size);
  for (ParameterSpec const& spec : parameters) {
    ADAMANT_REAL_ASSERT(!spec.shape.empty());
    if (spec.unit == unit_count()) units_.emplace_back();
    ADAMANT_REAL_ASSERT(spec.unit == unit_count() - 1);
    units_.back().push_back(parameter_count());
    ParameterLayout& parameter = parameters_.emplace_back(lay_out(layout, spec, where));
    parameter.begin_bytes = flat_bytes_;
    for (TensorKind const kind : all_tensor_kinds)
      flat_bytes_[index_of(kind)] += parameter.room_bytes(kind);
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
