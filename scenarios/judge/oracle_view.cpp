#include "scenarios/judge/oracle_view.h"

#include "oracle/formats/formats.h"
#include "oracle/quantise/states.h"
#include "scenarios/judge/quantised.h"

namespace adamant::scenarios {

namespace {

/// How numbers are stored.
struct Storage {
  NumberFormat format = NumberFormat::fp32;
  bool scaled = false;
  float scale = 1;
};

template <typename Word>
void append(std::vector<std::byte>& bytes, Word word) {
  auto const raw = std::as_bytes(std::span(&word, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

void append_stored(std::vector<std::byte>& bytes, std::span<float const> values,
                   Storage const& storage) {
  for (float const x : values) {
    if (storage.format == NumberFormat::fp32)
      append(bytes, x);
    else if (!storage.scaled)
      append(bytes, oracle::bits_of(x, storage.format));
    else if (storage.format == NumberFormat::fp16)
      append(bytes, oracle::stored_scaled(x, storage.scale, storage.format));
    else
      append(bytes,
             static_cast<std::uint8_t>(oracle::stored_scaled(x, storage.scale, storage.format)));
  }
}

}  // namespace

Shard OracleView::shard(int rank, int parameter, TensorKind kind) const {
  ParameterSpec const& spec = model_.spec(parameter);
  auto const format = oracle::stored_format(spec.formats, kind);
  auto const values = model_.tensor(parameter, kind);
  if (!format) return {};
  auto const scales = model_.scales(parameter, kind);
  Storage const storage{
      .format = *format,
      .scaled = !scales.empty(),
      .scale = scales.empty() ? 1 : scales[static_cast<std::size_t>(rank) % scales.size()]};
  Shard shard{.format = *format, .scale = storage.scale};
  if (values.empty()) return shard;
  shard.ranges = layout_.ranges(parameter, rank, kind);
  std::vector<std::byte>& bytes = stored_.emplace_back();
  for (ElementRange const range : shard.ranges)
    append_stored(bytes, values.subspan(range.begin, range.numel()), storage);
  shard.bytes = bytes;
  if (kind == TensorKind::parameter && spec.formats.recipe)
    shard.quantised = std::make_shared<QuantisedShard>(quantised_shard(
        model_, parameter, shard.ranges, has_scales_of_all(*spec.formats.recipe, layout_)));
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
