#include "scenarios/bench/gpu/adam_problem.h"

#include "real/cuda/state_numbers.h"
#include "real/step/traffic.h"
#include "real/step/work_list.h"

namespace adamant::scenarios {

namespace {

constexpr TensorKind results[] = {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg,
                                  TensorKind::exp_avg_sq};

std::vector<ParameterSpec> specs_of(std::span<std::int64_t const> numels, Formats const& formats) {
  std::vector<ParameterSpec> specs;
  for (std::int64_t const numel : numels)
    specs.push_back({.name = "p", .shape = {numel}, .formats = formats});
  return specs;
}

/// Of states that share a scale: so large that numbers as they are stored fill their format.
std::vector<float> scales_of(int parameters) {
  std::vector<float> scales;
  for (int p = 0; p < parameters; ++p) scales.insert(scales.end(), {1.0F, 0x1p-17F, 0x1p-27F});
  return scales;
}

/// As they are stored.
Draw draw_of(TensorKind kind, bool scaled) {
  auto const seed = static_cast<std::uint32_t>(kind) + 1;
  switch (kind) {
    case TensorKind::gradient:
    case TensorKind::cast_gradient:
      return {.sigma = 1e-3F, .seed = seed};
    case TensorKind::exp_avg:
      return {.sigma = scaled ? 100.0F : 1e-3F, .seed = seed};
    case TensorKind::exp_avg_sq:
      return {.sigma = scaled ? 30.0F : 1e-6F, .squared = true, .seed = seed};
    default:
      return {.sigma = 0.02F, .seed = seed};
  }
}

}  // namespace

AdamProblem::AdamProblem(Device& device, std::span<std::int64_t const> numels,
                         Formats const& formats)
    : device_(device),
      formats_(formats),
      layout_(specs_of(numels, formats), {}),
      scales_(scales_of(layout_.parameter_count())),
      row_(real::step_scalars({.weight_decay = 0.1F}, 1000, true)) {
  for (std::int64_t const numel : numels) numel_ += numel;
  auto const pieces = real::make_work_list(layout_, real::Split(layout_));
  extent_ = real::extent_of(pieces);
  for (TensorKind const kind : all_tensor_kinds)
    if (std::size_t const bytes = layout_.flat_bytes(kind); bytes > 0)
      flat(kind) = device_.room(bytes);
  scales_on_device_ = device_.put(scales_);
  maxima_ = device_.put(std::vector<std::int32_t>(scales_.size()));
  table_ = device_.put(std::vector<real::StepScalars>(numels.size(), row_));
  pieces_ = device_.put(pieces);
}

void AdamProblem::fill(TensorKind kind) const {
  auto const format = layout_[0].format(kind);
  auto const numel = static_cast<std::int64_t>(layout_.flat_bytes(kind) / bytes_of(*format));
  Draw const draw = draw_of(kind, has_scale(kind, *format));
  device_.fill({flat(kind), *format}, numel, draw);
}

void AdamProblem::fill() {
  for (TensorKind const kind : all_tensor_kinds)
    if (flat(kind) != nullptr) fill(kind);
  device_.zero(maxima_, scales_.size() * sizeof(std::int32_t));
}

real::AdamArguments AdamProblem::arguments() const {
  return {.parameters = flat(TensorKind::parameter),
          .main = flat(TensorKind::main),
          .gradients = flat(TensorKind::gradient),
          .cast_gradients = flat(TensorKind::cast_gradient),
          .exp_avg = flat(TensorKind::exp_avg),
          .exp_avg_sq = flat(TensorKind::exp_avg_sq),
          .pieces = pieces_,
          .table = table_,
          .scales = {scales_on_device_, scales_on_device_}};
}

void AdamProblem::step() const {
  real::launch_adam(arguments(), extent_, device_.stream);
}

void AdamProblem::look() const {
  real::launch_amaxes(arguments(), maxima_, extent_, device_.stream);
}

real::Numbers AdamProblem::numbers(int parameter, TensorKind kind) const {
  return {flat(kind) + layout_[parameter].begin(kind), *layout_[parameter].format(kind)};
}

real::TwinScale AdamProblem::scale(int parameter, TensorKind kind) const {
  auto const format = layout_[parameter].format(kind);
  if (!format || !has_scale(kind, *format)) return {};
  float const scale = scales_[real::scale_slot(parameter, kind)];
  return {.now = scale, .next = scale};
}

real::AdamTwinArguments AdamProblem::twin_of(int p) const {
  bool const cast = layout_[p].format(TensorKind::cast_gradient).has_value();
  return {.weight = numbers(p, formats_.main ? TensorKind::main : TensorKind::parameter),
          .gradient = numbers(p, cast ? TensorKind::cast_gradient : TensorKind::gradient),
          .exp_avg = numbers(p, TensorKind::exp_avg),
          .exp_avg_sq = numbers(p, TensorKind::exp_avg_sq),
          .parameter = formats_.main ? numbers(p, TensorKind::parameter) : real::Numbers{},
          .weight_scale = scale(p, TensorKind::main),
          .exp_avg_scale = scale(p, TensorKind::exp_avg),
          .exp_avg_sq_scale = scale(p, TensorKind::exp_avg_sq),
          .numel = layout_[p].stepped_numel(),
          .scalars = row_};
}

void AdamProblem::step_by_twin() const {
  for (int p = 0; p < layout_.parameter_count(); ++p) {
    real::AdamTwinArguments const arguments = twin_of(p);
    auto* const maxima = maxima_ + real::scale_slot(p, TensorKind::main);
    if (has_scales()) real::launch_amax_twin(arguments, maxima, device_.stream);
    real::launch_adam_twin(arguments, device_.stream);
  }
}

std::int64_t AdamProblem::bytes_unlike_twin() {
  fill();
  if (has_scales()) look();
  step();
  auto const maxima = device_.get(maxima_, std::ssize(scales_));
  std::array<std::byte*, tensor_kind_count> fused = {};
  for (TensorKind const kind : results) {
    std::size_t const bytes = layout_.flat_bytes(kind);
    if (bytes == 0) continue;
    std::byte* const copy = device_.room(bytes);
    fused[static_cast<std::size_t>(kind)] = copy;
    ADAMANT_TRY(
        cudaMemcpyAsync(copy, flat(kind), bytes, cudaMemcpyDeviceToDevice, device_.stream.get()));
  }
  fill();
  step_by_twin();
  std::int64_t count = 0;
  for (TensorKind const kind : results)
    if (std::byte const* const copy = fused[static_cast<std::size_t>(kind)]; copy != nullptr)
      count += device_.differences(flat(kind), copy, layout_.flat_bytes(kind));
  auto const by_twin = device_.get(maxima_, std::ssize(scales_));
  for (std::size_t slot = 0; slot < by_twin.size(); ++slot)
    if (scales_[slot] != 1.0F && maxima[slot] != by_twin[slot]) count += sizeof(std::int32_t);
  return count;
}

double AdamProblem::bytes_of_step() const {
  return static_cast<double>(real::traffic_of_step(formats_).all()) * static_cast<double>(numel_);
}

double AdamProblem::bytes_of_look() const {
  return static_cast<double>(real::traffic_of_step(formats_).read_for_scales) *
         static_cast<double>(numel_);
}

}  // namespace adamant::scenarios
