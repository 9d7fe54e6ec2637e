#include "real/shard/tensors.h"

#include <vector>

#include "real/shard/cast_kernel.h"

namespace adamant::real {

Purpose purpose_of(TensorKind kind) {
  constexpr Purpose purposes[] = {Purpose::parameters, Purpose::gradients, Purpose::exp_avg,
                                  Purpose::exp_avg_sq, Purpose::main,      Purpose::cast_gradients};
  return purposes[static_cast<std::size_t>(kind)];
}

Tensors::Tensors(Layout const& layout, DeviceBytes const& device_bytes, Ledger& ledger,
                 Streams const& streams, KeptBuffers kept)
    : layout_(layout),
      ledger_(ledger),
      streams_(streams),
      kept_(kept),
      have_gradients_(static_cast<std::size_t>(layout.parameter_count())) {
  for (TensorKind const kind :
       {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq, TensorKind::main}) {
    std::size_t const bytes = device_bytes[static_cast<std::size_t>(kind)];
    buffer(kind) = DeviceBuffer(ledger, purpose_of(kind), bytes, streams.compute);
    zero_async(buffer(kind), 0, bytes, streams.compute);
  }
  if (kept.gradients) ensure_gradients();
  if (kept.cast_gradients)
    buffer(TensorKind::cast_gradient) =
        DeviceBuffer(ledger, Purpose::cast_gradients, layout.flat_bytes(TensorKind::cast_gradient),
                     streams.compute);
}

std::byte* Tensors::flat(TensorKind kind) const {
  return buffer(kind).as<std::byte>();
}

std::byte* Tensors::at(TensorKind kind, int parameter) const {
  std::byte* const begin = flat(kind);
  ParameterLayout const& layout = layout_[parameter];
  if (begin == nullptr || !layout.has(kind)) return nullptr;
  return begin + layout.begin(kind);
}

std::byte* Tensors::stepped_at(TensorKind kind, int parameter) const {
  std::byte* const begin = flat(kind);
  ParameterLayout const& layout = layout_[parameter];
  if (begin == nullptr || !layout.has(kind)) return nullptr;
  return begin + layout.stepped_begin(kind);
}

ShardView Tensors::view(TensorKind kind, int parameter) const {
  ParameterLayout const& layout = layout_[parameter];
  bool const comes_and_goes = kind == TensorKind::gradient || kind == TensorKind::cast_gradient;
  bool const stored = !comes_and_goes || has_gradient(parameter);
  ElementRange const& range = layout.range(kind);
  return {.data = stored && range.numel() > 0 ? at(kind, parameter) : nullptr,
          .format = layout.format(kind).value_or(NumberFormat::fp32),
          .ranges = {&range, 1},
          .numel = range.numel(),
          .upper = layout.format(kind) == NumberFormat::remainder
                       ? stepped_at(TensorKind::parameter, parameter)
                       : nullptr};
}

void Tensors::ensure_gradients() {
  if (buffer(TensorKind::gradient)) return;
  buffer(TensorKind::gradient) = DeviceBuffer(
      ledger_, Purpose::gradients, layout_.flat_bytes(TensorKind::gradient), streams_.compute);
}

void Tensors::cast_gradients() {
  std::size_t const bytes = layout_.flat_bytes(TensorKind::cast_gradient);
  if (bytes == 0) return;
  DeviceBuffer& copies = buffer(TensorKind::cast_gradient);
  if (!copies) copies = DeviceBuffer(ledger_, Purpose::cast_gradients, bytes, streams_.compute);
  std::vector<CastTask> tasks;
  for (int p = 0; p < layout_.parameter_count(); ++p) {
    auto const format = layout_[p].format(TensorKind::cast_gradient);
    if (!format || !has_gradient(p)) continue;
    tasks.push_back({.from = {at(TensorKind::gradient, p), layout_[p].formats.gradient},
                     .to = {at(TensorKind::cast_gradient, p), *format},
                     .numel = layout_[p].stepped_numel()});
  }
  launch_casts(tasks, streams_.compute);
}

void Tensors::drop_gradients() {
  have_gradients_.clear();
  if (!kept_.cast_gradients) buffer(TensorKind::cast_gradient).free_on(streams_.compute);
  if (!kept_.gradients) buffer(TensorKind::gradient).free_on(streams_.compute);
}

void Tensors::zero_gradients() {
  ensure_gradients();
  zero_async(buffer(TensorKind::gradient), 0, layout_.flat_bytes(TensorKind::gradient),
             streams_.compute);
  have_gradients_.add_all();
  cast_gradients();
}

}  // namespace adamant::real
