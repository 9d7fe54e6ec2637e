#include "oracle/interval/norm_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/formats/formats.h"

namespace adamant::oracle {
namespace {

constexpr double fp32_u = 0x1p-24;
constexpr double fp32_eta = 0x1p-149;
constexpr double norm_arithmetic = 0x1p-40;

/// In which squares of norms of that format may be kept.
NumberFormat format_of_squares(NumberFormat format) {
  return format == NumberFormat::fp16 ? NumberFormat::fp32 : format;
}

}  // namespace

Admissible norm_bound(SquareSum const& sum, NormShape const& shape, NumberFormat format) {
  double const squares = sum.rounded();
  if (!std::isfinite(squares)) return only(static_cast<float>(squares));
  double const u = std::ldexp(1.0, -significant_bits(format));
  auto const k = static_cast<double>(shape.elements);
  double const parts = static_cast<double>(shape.ranks) + shape.tensors;
  double const relative = k / 2 * fp32_u + ((parts + 2) / 2 + 6 + shape.element_roundings) * u;
  double const error = relative * (1 + relative) + norm_arithmetic;
  NumberFormat const squared = format_of_squares(format);
  double const lost = k * fp32_eta + parts * smallest_positive(squared);
  double const rounded = parts / 2 * smallest_positive(format);
  double const lo = std::sqrt(std::max(squares - lost, 0.0)) * std::max(1 - error, 0.0) - rounded;
  double const hi = squares == 0.0 ? 0.0 : std::sqrt(squares + lost) * (1 + error) + rounded;
  Admissible result = rounded_interval(std::max(lo, 0.0), hi, format);
  result.may_be_pos_inf |= hi * hi >= static_cast<double>(largest_finite(squared));
  return result;
}

}  // namespace adamant::oracle
