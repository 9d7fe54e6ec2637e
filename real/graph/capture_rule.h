// Which configurations can be captured: decided before anything is, from formats and settings
// alone. A graph keeps addresses, so what it uses must never move while it can be replayed.
#pragma once

#include <string>
#include <string_view>

#include "oracle/types.h"

namespace adamant::real {

/// What the optimizer takes a parameter's gradient from.
enum class GradientHandover {
  view,          // of the buffer of reduced gradients, which a capturable engine never gives back
  kept_copy,     // in the format of the optimizer's weights, as long-lived as that buffer
  passing_copy,  // the same, but made anew in each iteration and given back by zero_grad
};

constexpr GradientHandover gradient_handover(Formats const& formats, bool keep_cast_grad) {
  if (formats.decoupled_gradient) return GradientHandover::view;
  if (formats.gradient == formats.weight()) return GradientHandover::view;
  return keep_cast_grad ? GradientHandover::kept_copy : GradientHandover::passing_copy;
}

/// Parameters, main weights and moments never move; so the gradient decides.
constexpr bool can_be_captured(Formats const& formats, bool keep_cast_grad) {
  return gradient_handover(formats, keep_cast_grad) != GradientHandover::passing_copy;
}

/// Why the parameter stands in the way of a capture, and the ways out.
std::string why_not_captured(std::string_view parameter, Formats const& formats);

/// The rule as the table that the README shows.
std::string capture_table();

}  // namespace adamant::real
