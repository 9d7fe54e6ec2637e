#include "real/step/traffic.h"

#include "real/shard/layout.h"

namespace adamant::real {

namespace {

std::size_t bytes_in(Formats const& formats, TensorKind kind) {
  auto const format = format_of(formats, kind);
  return format ? bytes_of(*format) : 0;
}

/// What the optimizer's own weight is read from and written to.
std::size_t weight_bytes(Formats const& formats) {
  std::size_t const main = bytes_in(formats, TensorKind::main);
  bool const split = formats.main == NumberFormat::remainder;
  return main > 0 && !split ? main : main + bytes_of(formats.parameter);
}

std::size_t gradient_bytes(Formats const& formats) {
  std::size_t const cast = bytes_in(formats, TensorKind::cast_gradient);
  return cast > 0 ? cast : bytes_in(formats, TensorKind::gradient);
}

bool is_scaled(Formats const& formats, TensorKind kind) {
  auto const format = format_of(formats, kind);
  return format && has_scale(kind, *format);
}

}  // namespace

StepTraffic traffic_of_step(Formats const& formats, AdamMode mode) {
  std::size_t const moments =
      bytes_in(formats, TensorKind::exp_avg) + bytes_in(formats, TensorKind::exp_avg_sq);
  std::size_t const weight = weight_bytes(formats);
  bool const beside = formats.main && formats.main != NumberFormat::remainder;
  std::size_t const copy = beside ? bytes_of(formats.parameter) : 0;
  StepTraffic traffic{.read = weight + gradient_bytes(formats) + moments,
                      .written = weight + copy + moments};
  bool const scaled_main = is_scaled(formats, TensorKind::main);
  bool const scaled = scaled_main || is_scaled(formats, TensorKind::exp_avg) ||
                      is_scaled(formats, TensorKind::exp_avg_sq);
  if (!scaled) return traffic;
  bool const reads_weight = scaled_main || mode == AdamMode::adam;
  traffic.read_for_scales = gradient_bytes(formats) + moments + (reads_weight ? weight : 0);
  return traffic;
}

}  // namespace adamant::real
