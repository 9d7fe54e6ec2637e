#include "real/shard/bucket.h"

#include <algorithm>
#include <numeric>

#include "real/quantise/recipe_shape.h"
#include "real/shard/bucketed.h"
#include "real/shard/flat.h"
#include "real/shard/fsdp2.h"

namespace adamant::real {

namespace {

// The widest access of a kernel.
constexpr std::size_t alignment_bytes = 16;

std::optional<NumberFormat> cast_format(Formats const& formats) {
  if (formats.decoupled_gradient) return std::nullopt;
  if (formats.gradient == formats.weight()) return std::nullopt;
  return formats.weight();
}

/// What tells types apart; how gradients are handed over and what a scale covers are no types.
Formats types_of(Formats formats) {
  formats.state_scale = {};
  formats.decoupled_gradient = true;
  return formats;
}

Bucket bucket_of_rows(ParameterSpec const& spec, int parameter, RankOfMesh const& where) {
  Bucket bucket{
      .unit = spec.unit,
      .parameters = {parameter},
      .offsets = {0},
      .formats = spec.formats,
      .scales_beside = spec.formats.recipe == Recipe::mxfp8 && !where.mesh.cuts_states_across(),
      .own = own_rows(spec, where)};
  bucket.whole_numel = where.mesh.shards * bucket.own.chunk_numel;
  return bucket;
}

Bucket& bucket_for(ParameterSpec const& spec, std::vector<Bucket>& buckets) {
  auto const found = std::ranges::find_if(buckets, [&](Bucket const& bucket) {
    return bucket.unit == spec.unit && types_of(bucket.formats) == types_of(spec.formats);
  });
  if (found != buckets.end()) return *found;
  return buckets.emplace_back(Bucket{.unit = spec.unit, .formats = spec.formats});
}

/// Finds each parameter's place, and from then on keeps them in the order of their places.
void place(Bucket& bucket, std::span<ParameterSpec const> parameters, RankOfMesh const& where,
           LayoutKind layout) {
  std::vector<TensorSize> sizes;
  for (int const p : bucket.parameters) {
    ParameterSpec const& spec = parameters[static_cast<std::size_t>(p)];
    sizes.push_back({.numel = spec.numel(), .row_numel = spec.row_numel()});
  }
  int const shards = where.mesh.state_shards();
  Placement const placement =
      layout == LayoutKind::flat ? place_flat(sizes, shards) : place_bucketed(sizes, shards);
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t t) { return placement.offsets[t]; });
  std::vector<int> const given = bucket.parameters;
  bucket.parameters.clear();
  for (std::size_t const t : order) {
    bucket.parameters.push_back(given[t]);
    bucket.offsets.push_back(placement.offsets[t]);
  }
  bucket.whole_numel = placement.numel;
  bucket.own = own_slices(placement.numel, where);
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

std::size_t Bucket::bytes_of(TensorKind kind, std::int64_t numel) const {
  if (kind == TensorKind::parameter && formats.recipe)
    return static_cast<std::size_t>(scales_beside ? room_of(*formats.recipe, numel)
                                                  : padded(code_bytes(*formats.recipe, numel)));
  std::optional<NumberFormat> const stored = format_of(formats, kind);
  if (!stored) return 0;
  std::size_t const bytes = static_cast<std::size_t>(numel) * adamant::bytes_of(*stored);
  return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

std::vector<Bucket> make_buckets(std::span<ParameterSpec const> parameters, RankOfMesh const& where,
                                 LayoutKind layout) {
  std::vector<Bucket> buckets;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    int const parameter = static_cast<int>(p);
    if (layout == LayoutKind::fsdp2)
      buckets.push_back(bucket_of_rows(parameters[p], parameter, where));
    else
      bucket_for(parameters[p], buckets).parameters.push_back(parameter);
  }
  if (layout != LayoutKind::fsdp2)
    for (Bucket& bucket : buckets) place(bucket, parameters, where, layout);
  return buckets;
}

}  // namespace adamant::real
