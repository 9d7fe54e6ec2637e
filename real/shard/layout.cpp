#include "real/shard/layout.h"

#include <algorithm>
#include <utility>

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

std::size_t index_of(TensorKind kind) {
  return static_cast<std::size_t>(kind);
}

std::optional<RecipeShape> quantised_shape(ParameterSpec const& spec, bool scales_beside) {
  if (!spec.formats.recipe) return std::nullopt;
  RecipeShape shape{
      .numel = spec.numel(), .columns = spec.shape.back(), .recipe = *spec.formats.recipe};
  shape.whole_scales = spec.formats.recipe == Recipe::mxfp8 && !scales_beside ? 1 : 0;
  ADAMANT_REAL_ASSERT(spec.formats.main == NumberFormat::fp32);
  ADAMANT_REAL_ASSERT(takes(shape.recipe, spec.shape));
  return shape;
}

/// What of a tensor at `offset` lies in a part of its buffer.
ElementRange inside(ElementRange part, std::int64_t offset, std::int64_t numel) {
  return {.begin = std::clamp<std::int64_t>(part.begin - offset, 0, numel),
          .end = std::clamp<std::int64_t>(part.end - offset, 0, numel)};
}

/// Codes, where the parameter is quantised; numbers otherwise.
std::size_t bytes_before(ParameterLayout const& layout, TensorKind kind, std::int64_t numel) {
  if (kind == TensorKind::parameter && layout.quantised)
    return static_cast<std::size_t>(code_bytes(layout.quantised->recipe, numel));
  std::optional<NumberFormat> const stored = layout.format(kind);
  return stored ? static_cast<std::size_t>(numel) * bytes_of(*stored) : 0;
}

}  // namespace

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

std::size_t ParameterLayout::stepped_begin(TensorKind kind) const {
  std::int64_t const before = kind == TensorKind::parameter ? stepped.begin - held.begin : 0;
  return begin(kind) + bytes_before(*this, kind, before);
}

Layout::Layout(std::span<ParameterSpec const> parameters, RankOfMesh const& where,
               LayoutKind layout)
    : where_(where), buckets_(make_buckets(parameters, where, layout)) {
  ADAMANT_REAL_ASSERT(where.mesh.shards >= 1);
  ADAMANT_REAL_ASSERT(where.mesh.replicas >= 1);
  ADAMANT_REAL_ASSERT(where.rank >= 0);
  ADAMANT_REAL_ASSERT(where.rank < where.mesh.rank_count());
  for (ParameterSpec const& spec : parameters) {
    ADAMANT_REAL_ASSERT(!spec.shape.empty());
    ADAMANT_REAL_ASSERT(spec.unit == unit_count_ || spec.unit == unit_count_ - 1);
    unit_count_ = spec.unit + 1;
    ParameterLayout& p = parameters_.emplace_back();
    p.numel = spec.numel();
    p.formats = spec.formats;
    for (TensorKind const kind : all_tensor_kinds)
      p.format_of_kind[index_of(kind)] = format_of(spec.formats, kind);
  }
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    for (int const p : buckets_[b].parameters) {
      auto const parameter = static_cast<std::size_t>(p);
      parameters_[parameter].quantised =
          quantised_shape(parameters[parameter], buckets_[b].scales_beside);
    }
    lay_out(buckets_[b], static_cast<int>(b));
  }
}

void Layout::lay_out(Bucket& bucket, int index) {
  bucket.begin_bytes = flat_bytes_;
  for (TensorKind const kind : all_tensor_kinds)
    flat_bytes_[index_of(kind)] += bucket.room_bytes(kind);
  for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
    storage_order_.push_back(bucket.parameters[i]);
    ParameterLayout& p = parameters_[static_cast<std::size_t>(bucket.parameters[i])];
    p.bucket = index;
    p.offset = bucket.offsets[i];
    p.held = inside(bucket.own.parameters, p.offset, p.numel);
    p.stepped = inside(bucket.own.states, p.offset, p.numel);
    for (TensorKind const kind : all_tensor_kinds) {
      ElementRange const& range = p.range(kind);
      std::int64_t const before =
          range.numel() > 0 ? p.offset + range.begin - bucket.held(kind).begin : 0;
      p.begin_bytes[index_of(kind)] = bucket.begin(kind) + bytes_before(p, kind, before);
    }
  }
}

ParameterLayout const& Layout::operator[](int parameter) const {
  ADAMANT_REAL_ASSERT(parameter >= 0);
  ADAMANT_REAL_ASSERT(parameter < parameter_count());
  return parameters_[static_cast<std::size_t>(parameter)];
}

Bucket const& Layout::bucket_of(int parameter) const {
  return buckets_[static_cast<std::size_t>((*this)[parameter].bucket)];
}

std::span<Bucket const> Layout::buckets_of(int unit) const {
  ADAMANT_REAL_ASSERT(unit >= 0);
  ADAMANT_REAL_ASSERT(unit < unit_count());
  auto const first = std::ranges::lower_bound(buckets_, unit, {}, &Bucket::unit);
  return {first, std::ranges::upper_bound(buckets_, unit, {}, &Bucket::unit)};
}

}  // namespace adamant::real
