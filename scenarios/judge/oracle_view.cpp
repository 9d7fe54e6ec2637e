#include "scenarios/judge/oracle_view.h"

#include "oracle/formats/formats.h"

namespace adamant::scenarios {

OracleView::OracleView(oracle::Model const& model) : model_(model) {
  for (int p = 0; p < model.parameter_count(); ++p)
    whole_.push_back({.begin = 0, .end = model.spec(p).numel()});
}

Shard OracleView::shard(int /*rank*/, int parameter, TensorKind kind) const {
  ParameterSpec const& spec = model_.spec(parameter);
  auto const format = oracle::stored_format(spec.formats, kind);
  auto const values = model_.tensor(parameter, kind);
  if (!format || values.empty()) return {};
  Shard shard{.ranges = {&whole_[static_cast<std::size_t>(parameter)], 1},
              .format = *format,
              .bytes = std::as_bytes(values)};
  if (*format == NumberFormat::fp32) return shard;
  std::vector<std::uint16_t>& bits = encoded_.emplace_back(values.size());
  oracle::encode(*format, values, bits);
  shard.bytes = std::as_bytes(std::span(bits));
  return shard;
}

bool OracleView::has_gradient(int /*rank*/, int parameter) const {
  return model_.has_gradient(parameter);
}

std::int64_t OracleView::step_count(int /*rank*/, int parameter) const {
  return model_.step_count(parameter);
}

AdamConfig OracleView::group(int /*rank*/, int group) const {
  return model_.group(group);
}

RankScaling OracleView::scaling(int /*rank*/) const {
  return scaling_of(model_);
}

RankScaling scaling_of(oracle::Model const& model) {
  oracle::Scaling const scaling = model.scaling();
  return {.loss_scale = scaling.loss_scale,
          .skipped = scaling.skipped,
          .inverse = scaling.inverse,
          .norm = scaling.norm,
          .coefficient = scaling.coefficient,
          .growth_tracker = scaling.growth_tracker,
          .hysteresis = scaling.hysteresis,
          .max_norm = scaling.max_norm};
}

}  // namespace adamant::scenarios
