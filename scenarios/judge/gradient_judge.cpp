#include "scenarios/judge/gradient_judge.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/interval/norm_bound.h"
#include "oracle/reduce/sum_bound.h"
#include "oracle/torch/clip.h"
#include "scenarios/gradients/overflow.h"
#include "scenarios/judge/formulas/formulas.h"
#include "scenarios/judge/reduced.h"

namespace adamant::scenarios {

namespace {

bool same(std::span<float const> a, std::span<float const> b) {
  return !oracle::first_difference(a, b);
}

/// What storing such a value in another format may give.
oracle::Admissible stored(oracle::Admissible const& value, NumberFormat format) {
  if (format == NumberFormat::fp32) return value;
  oracle::Admissible result;
  if (value.finite_possible) result = oracle::rounded_interval(value.lo, value.hi, format);
  result.may_be_nan |= value.may_be_nan;
  result.may_be_pos_inf |= value.may_be_pos_inf;
  result.may_be_neg_inf |= value.may_be_neg_inf;
  return result;
}

/// The next float that is not below: a slack must not lose what it is there for.
float not_below(double slack) {
  if (slack == 0.0) return 0.0F;
  return std::nextafter(static_cast<float>(slack), std::numeric_limits<float>::infinity());
}

/// Ways to undo a loss scale.
struct Unscaling {
  double gradient;
  double loss_scale;
  double inverse;
  std::array<double, 2> in_place;
};

/// How far any of them is from a product. One that an operation is fused with is not rounded: the
/// exact quotient, or the product by the rounded inverse.
double farthest(double product, Unscaling const& ways) {
  auto const& [gradient, loss_scale, inverse, in_place] = ways;
  return std::max({std::abs(in_place[0] - product), std::abs(in_place[1] - product),
                   std::abs(gradient / loss_scale - product),
                   std::abs(gradient * inverse - product)});
}

}  // namespace

void GradientJudge::forget() {
  unscaled_ = false;
  unscales_ = false;
  later_ = {};
}

std::span<float const> GradientJudge::older(int parameter) const {
  return reference_.model().tensor(parameter, TensorKind::gradient);
}

float GradientJudge::inverse(float loss_scale) const {
  return unscaled_ ? 1.0F : static_cast<float>(1.0 / static_cast<double>(loss_scale));
}

bool GradientJudge::admit(int parameter, Bounds const& bounds, std::span<float const> values,
                          Breach breach) {
  Violation first;
  std::vector<ElementRange> elements;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    oracle::Admissible const& bound = bounds[i];
    if (bound.contains(values[i])) {
      findings_.note_used_by_gradient(bound.used(values[i]));
      continue;
    }
    bool const is_first = elements.empty();
    oracle::append(elements, static_cast<std::int64_t>(i));
    if (!is_first) continue;
    auto const site =
        values_.site_of(parameter, TensorKind::gradient, static_cast<std::int64_t>(i));
    bool const one = bound.finite_possible && bound.lo == bound.hi && !bound.may_be_nan;
    first = one ? other_value(Law::values_bitwise, site,
                              {.expected = bound.lo,
                               .actual = values[i],
                               .ulps = oracle::ulp_distance(bound.lo, values[i])})
                : outside_value(breach, site, bound, values[i]);
  }
  if (elements.empty()) return true;
  if (Violation* const added = findings_.add(std::move(first)))
    added->elements = values_.told(std::move(elements), parameter, TensorKind::gradient);
  return false;
}

// ---- backward -----------------------------------------------------------------------------------

void GradientJudge::admit_backward(WorldView const& world, resolved::Backward const& backward) {
  forget();
  for (int p = 0; p < reference_.model().parameter_count(); ++p)
    if (has_part(backward, p)) admit_reduced(world, p, backward.index);
}

// Where parameters are narrower than gradients are reduced in, an engine's autograd may have made
// gradients in their type.
void GradientJudge::admit_reduced(WorldView const& world, int parameter, std::int64_t backward) {
  auto seen = values_.gather(world, parameter, TensorKind::gradient);
  if (!seen) return;
  auto const before = older(parameter);
  bool const may_narrow =
      reference_.model().spec(parameter).formats.parameter != NumberFormat::fp32;
  auto const bounds_of = [&](bool narrow) {
    Bounds bounds = reduced(world, parameter, backward, narrow);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      auto const mean = bounds[i];
      bounds[i] = stored(mean, seen->format);
      if (before.empty()) continue;
      bounds[i] = oracle::add_to(before[i], bounds[i], seen->format);
      if (rounding_ == Rounding::any)  // or added before it is rounded to the type it is kept in
        bounds[i] = oracle::joined(bounds[i], oracle::add_to(before[i], mean, seen->format));
    }
    return bounds;
  };
  Bounds bounds = bounds_of(may_narrow);
  auto const outside = [&] {
    for (std::size_t i = 0; i < bounds.size(); ++i)
      if (!bounds[i].contains(seen->values[i])) return true;
    return false;
  };
  if (may_narrow && outside()) bounds = bounds_of(false);
  admit(parameter, bounds, seen->values, Breach::outside_reduction);
  reference_.model().set_gradient(parameter, seen->values);
}

GradientJudge::Bounds GradientJudge::reduced(WorldView const& world, int parameter,
                                             std::int64_t backward, bool narrow) const {
  auto const& formats = reference_.model().spec(parameter).formats;
  float const scale = reference_.model().scaling().loss_scale;
  bool const exact = kind_ == GradientClass::exact && stay_exact(scale, formats.gradient) &&
                     (!narrow || stay_exact(scale, formats.parameter));
  return reduced_bounds({.inputs = inputs(world, parameter, backward, narrow),
                         .format = formats.gradient,
                         .divisor = reference_.microbatch_count(),
                         .exact = exact});
}

/// What is summed: what each rank was fed, or all microbatches, with the loss scale.
std::vector<std::vector<float>> GradientJudge::inputs(WorldView const& world, int parameter,
                                                      std::int64_t backward, bool narrow) const {
  auto const& spec = reference_.model().spec(parameter);
  std::vector<std::vector<float>> all;
  if (!world.fed(0, parameter)) {
    auto const read = reference_.reader(parameter, backward);
    for (int addend = 0; addend < reference_.addend_count(parameter); ++addend)
      read(addend, 0, all.emplace_back(static_cast<std::size_t>(spec.numel())));
    return all;
  }
  float const scale = reference_.model().scaling().loss_scale;
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    auto const fed = world.fed(rank, parameter).value_or(std::span<float const>());
    auto& input = all.emplace_back(fed.begin(), fed.end());
    input.resize(static_cast<std::size_t>(spec.numel()));
    for (float& x : input) x *= scale;
    if (narrow) oracle::round_to(spec.formats.parameter, input);
    oracle::round_to(spec.formats.gradient, input);
  }
  return all;
}

// ---- clip ---------------------------------------------------------------------------------------

void GradientJudge::admit_clip(WorldView const& world) {
  auto const all = gather_all(world);
  float const norm = admit_norm(world, all);
  bool const any_order = rounding_ == Rounding::any;
  if (any_order && are_untouched(all)) {
    later_ = any_factor_of_step(norm, all);
    return;
  }
  if (any_order && are_unscaled(all)) {
    later_ = any_factor_of_step(norm, all);
    for (Seen const& seen : all) reference_.model().set_gradient(seen.parameter, seen.now.values);
    unscaled_ = true;
    return;
  }
  NumberFormat const format = all.empty() ? NumberFormat::fp32 : all.front().now.format;
  float const known = oracle::torch_clip_coefficient(max_norm(), norm, format);
  for (Seen const& seen : all)
    admit_clipped(seen, any_order ? any_factor(norm, seen.now.format) : Factor{known, known});
  unscaled_ = true;
}

bool GradientJudge::are_untouched(std::span<Seen const> all) const {
  return std::ranges::all_of(
      all, [&](Seen const& seen) { return same(older(seen.parameter), seen.now.values); });
}

// By a product or a quotient, and by nothing else: the clip is still to come.
bool GradientJudge::are_unscaled(std::span<Seen const> all) const {
  float const scale = reference_.model().scaling().loss_scale;
  if (inverse(scale) == 1.0F) return false;
  return std::ranges::all_of(all, [&](Seen const& seen) {
    auto const before = older(seen.parameter);
    for (std::size_t i = 0; i < before.size(); ++i) {
      float const quotient = oracle::rounded(before[i] / scale, seen.now.format);
      auto const either = oracle::joined(oracle::only(seen.unscaled[i]), oracle::only(quotient));
      if (!either.contains(seen.now.values[i])) return false;
    }
    return true;
  });
}

// The exact factor and up to four roundings of it (a sum, a reciprocal and a product are three), of
// which the last may be to a subnormal number, or left out. Two more come with a loss scale that is
// no power of two: that of its reciprocal, and that of the product by it, wherever they are taken.
// PyTorch's own factor may round further, where its format has no normal number for a step of it.
GradientJudge::Factor GradientJudge::any_factor(float norm, NumberFormat format) const {
  double const exact = static_cast<double>(max_norm()) / (static_cast<double>(norm) + 1e-6);
  double const torch = oracle::torch_clip_coefficient(max_norm(), norm, format);
  if (!std::isfinite(norm)) return {torch, torch};
  double const room = (scale_rounds() ? 6 : 4) * std::ldexp(1.0, -oracle::significant_bits(format));
  double const least = std::min(1.0, exact * (1 - room)), most = std::min(1.0, exact * (1 + room));
  return {std::min({torch, least, static_cast<double>(oracle::nearest(least, format))}),
          std::max({torch, most, static_cast<double>(oracle::nearest(most, format))})};
}

bool GradientJudge::scale_rounds() const {
  int exponent = 0;
  return !unscaled_ && std::frexp(reference_.model().scaling().loss_scale, &exponent) != 0.5F;
}

// Gradients lie as they did, so the step will clip; there the factor need not be of their type.
GradientJudge::Factor GradientJudge::any_factor_of_step(float norm,
                                                        std::span<Seen const> seen) const {
  Factor factor = any_factor(norm, NumberFormat::fp32);
  for (Seen const& gradient : seen) {
    Factor const other = any_factor(norm, gradient.now.format);
    factor = {std::min(factor.lo, other.lo), std::max(factor.hi, other.hi)};
  }
  return factor;
}

std::vector<GradientJudge::Seen> GradientJudge::gather_all(WorldView const& world) {
  auto const& model = reference_.model();
  float const factor = inverse(model.scaling().loss_scale);
  std::vector<Seen> all;
  for (int p = 0; p < model.parameter_count(); ++p) {
    if (!model.has_gradient(p)) continue;
    auto now = values_.gather(world, p, TensorKind::gradient);
    if (!now) continue;
    Seen& seen = all.emplace_back(Seen{.parameter = p, .now = std::move(*now), .unscaled = {}});
    for (float const g : older(p))
      seen.unscaled.push_back(oracle::torch_scaled(g, factor, seen.now.format));
  }
  return all;
}

/// The norm of the first rank, to which the others are held.
float GradientJudge::admit_norm(WorldView const& world, std::vector<Seen> const& seen) {
  oracle::SquareSum squares;
  bool const rounds = rounding_ == Rounding::any && scale_rounds();
  oracle::NormShape shape{.tensors = static_cast<int>(seen.size()),
                          .ranks = world.rank_count(),
                          .element_roundings = rounds ? 2 : 0};
  NumberFormat format = NumberFormat::fp32;
  for (Seen const& gradient : seen) {
    squares.add(gradient.unscaled);
    shape.elements += std::ssize(gradient.unscaled);
    if (gradient.now.format != NumberFormat::fp32) format = gradient.now.format;
  }
  auto const bound = oracle::norm_bound(squares, shape, format);
  float const norm = world.scaling(0).norm;
  if (bound.contains(norm))
    findings_.note_used_by_gradient(bound.used(norm));
  else
    findings_.add(
        outside_value(Breach::outside_reduction, {.subject = ScalingNumber::norm}, bound, norm));
  for (int rank = 1; rank < world.rank_count(); ++rank) {
    float const other = world.scaling(rank).norm;
    if (oracle::ulp_distance(norm, other) == 0) continue;
    findings_.add(other_value(
        Law::ranks_agree, {.rank = rank, .subject = ScalingNumber::norm},
        {.expected = norm, .actual = other, .ulps = oracle::ulp_distance(norm, other)}));
  }
  return norm;
}

void GradientJudge::admit_clipped(Seen const& seen, Factor const& factor) {
  Bounds bounds;
  auto const before = older(seen.parameter);
  auto const by = [&](std::size_t i, double one_factor) {
    return oracle::only(
        oracle::torch_scaled(seen.unscaled[i], static_cast<float>(one_factor), seen.now.format));
  };
  for (std::size_t i = 0; i < before.size(); ++i)
    bounds.push_back(factor.is_known() || !std::isfinite(before[i])
                         ? oracle::joined(by(i, factor.lo), by(i, factor.hi))
                         : clipped(before[i], factor, seen.now.format));
  admit(seen.parameter, bounds, seen.now.values, Breach::outside_clip);
  reference_.model().set_gradient(seen.parameter, seen.now.values);
}

// In one product with what undoes the loss scale, or in two, of which the first may be subnormal.
oracle::Admissible GradientJudge::clipped(float gradient, Factor const& factor,
                                          NumberFormat format) const {
  double const scale = unscaled_ ? 1.0 : reference_.model().scaling().loss_scale;
  double const unscaled = gradient / scale;
  double const lost = scale == 1.0 ? 0.0 : oracle::smallest_positive(format) / 2;
  auto const [least, most] = std::minmax({unscaled * factor.lo, unscaled * factor.hi});
  return oracle::rounded_interval(least - lost, most + lost, format);
}

// ---- step ---------------------------------------------------------------------------------------

std::optional<GradientJudge::Consumed> GradientJudge::admit_consumed(WorldView const& world,
                                                                     int parameter,
                                                                     float loss_scale) {
  auto const before = older(parameter);
  Consumed consumed{.values = {before.begin(), before.end()}, .slack = {}};
  float const factor = inverse(loss_scale);
  if (factor == 1.0F && later_.lo == 1.0 && later_.hi == 1.0) return consumed;
  bool const in_step = rounding_ == Rounding::in_step;
  // Left alone, it is compared as all is that an operation does not change.
  if (in_step && reference_.model().step_passes_over(parameter)) return consumed;
  auto const seen = values_.gather(world, parameter, TensorKind::gradient);
  if (!seen) return std::nullopt;
  bool const known = rounding_ != Rounding::any;
  bool const in_place = factor != 1.0F && (known || !same(before, seen->values));
  Bounds bounds;
  for (float& g : consumed.values) {
    float const quotient = factor == 1.0F ? g : g / loss_scale;
    float const product = in_step ? quotient : g * factor;
    auto const kept = oracle::only(oracle::rounded(product, seen->format));
    auto const other = oracle::only(oracle::rounded(quotient, seen->format));
    bounds.push_back(known ? kept : oracle::joined(kept, other));
    double const unscaling = factor == 1.0F || !kept.finite_possible
                                 ? 0.0
                                 : farthest(product, {.gradient = g,
                                                      .loss_scale = loss_scale,
                                                      .inverse = factor,
                                                      .in_place = {kept.lo, quotient}});
    consumed.slack.push_back(not_below(unscaling + later_.room_of(product)));
    g = static_cast<float>(product * later_.middle());
  }
  if (!in_place) return consumed;
  unscales_ = true;
  bool const admitted = admit(parameter, bounds, seen->values, Breach::outside_unscale);
  reference_.model().set_gradient(parameter, seen->values);
  if (!admitted) return std::nullopt;
  if (known) return Consumed{.values = seen->values, .slack = {}};
  return consumed;
}

}  // namespace adamant::scenarios
