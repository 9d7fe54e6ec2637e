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

/// New values of a scaled state are made of the gradient and what is stored of the state; a scaled
/// main weight of everything; and the gradient, under L2, of the weight.
std::size_t read_for_scales(Formats const& formats, AdamMode mode) {
  bool const main = is_scaled(formats, TensorKind::main);
  std::size_t moments = 0;
  bool any = main;
  for (TensorKind const kind : {TensorKind::exp_avg, TensorKind::exp_avg_sq}) {
    any = any || is_scaled(formats, kind);
    if (main || is_scaled(formats, kind)) moments += bytes_in(formats, kind);
  }
  if (!any) return 0;
  std::size_t const weight = main || mode == AdamMode::adam ? weight_bytes(formats) : 0;
  return gradient_bytes(formats) + moments + weight;
}

}  // namespace

StepTraffic traffic_of_step(Formats const& formats, AdamMode mode) {
  std::size_t const moments =
      bytes_in(formats, TensorKind::exp_avg) + bytes_in(formats, TensorKind::exp_avg_sq);
  std::size_t const weight = weight_bytes(formats);
  bool const beside = formats.main && formats.main != NumberFormat::remainder && !formats.recipe;
  std::size_t const copy = beside ? bytes_of(formats.parameter) : 0;
  return {.read = weight + gradient_bytes(formats) + moments,
          .written = weight + copy + moments,
          .read_for_scales = read_for_scales(formats, mode)};
}

}  // namespace adamant::real
