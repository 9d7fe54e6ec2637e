#include "real/comm/backward_pass.h"

#include <algorithm>

#include "real/comm/mean_kernel.h"

namespace adamant::real {

BackwardPass::BackwardPass(BackwardParts const& parts) : parts_(parts) {
  if (parts.keeps_buffers) keep_buffers();
}

std::size_t BackwardPass::parameter_bytes(int unit) const {
  std::size_t bytes = 0;
  for (int const p : parts_.layout.unit(unit)) bytes += whole_bytes(TensorKind::parameter, p);
  return bytes;
}

// As large as the largest unit that will use them.
void BackwardPass::keep_buffers() {
  std::array<std::size_t, 2> values = {};
  std::size_t gradients = 0;
  std::size_t sums = 0;
  for (int unit = 0; unit < parts_.layout.unit_count(); ++unit) {
    std::size_t& slot = values[static_cast<std::size_t>(unit) % values.size()];
    slot = std::max(slot, parameter_bytes(unit));
    std::size_t whole = 0;
    std::size_t reduced = 0;
    for (int const p : parts_.layout.unit(unit)) {
      whole += whole_bytes(TensorKind::gradient, p);
      reduced += parts_.layout[p].room_bytes(TensorKind::gradient);
    }
    gradients = std::max(gradients, whole);
    sums = std::max(sums, reduced);
  }
  Stream const& compute = parts_.streams.compute;
  for (std::size_t s = 0; s < values.size(); ++s)
    slots_[s].values =
        DeviceBuffer(parts_.ledger, Purpose::unsharded_parameters, values[s], compute);
  whole_gradients_ = DeviceBuffer(parts_.ledger, Purpose::unsharded_gradients, gradients, compute);
  sums_ = DeviceBuffer(parts_.ledger, Purpose::reduction, sums, compute);
}

void BackwardPass::run(std::vector<bool> const& wanted, float const* loss_scale, int sequence) {
  wanted_ = wanted;
  sort_wanted();
  loss_scale_ = loss_scale;
  sequence_ = sequence;
  sums_used_ = false;
  for (Slot& slot : slots_) slot.used = false;
  bool const any = std::find(wanted.begin(), wanted.end(), true) != wanted.end();
  if (any) parts_.tensors.ensure_gradients();

  // Parameters must be complete before they are gathered, and the last step done with gradients.
  order(parts_.streams.compute, forked_, parts_.streams.comm);

  int const last = parts_.layout.unit_count() - 1;
  gather(last);
  for (int unit = last; unit >= 0; --unit) {
    if (unit > 0) gather(unit - 1);
    compute(unit);
    reduce(unit);
  }

  for (int p = 0; p < parts_.layout.parameter_count(); ++p)
    if (wanted_[static_cast<std::size_t>(p)]) parts_.tensors.set_has_gradient(p);
  order(parts_.streams.comm, joined_, parts_.streams.compute);
  if (any) parts_.tensors.cast_gradients();
}

std::size_t BackwardPass::whole_bytes(TensorKind kind, int parameter) const {
  return parts_.layout[parameter].whole_bytes(kind);
}

void BackwardPass::gather(int unit) {
  Stream const& comm = parts_.streams.comm;
  Slot& slot = this->slot(unit);
  if (parts_.keeps_buffers) {
    if (slot.used) slot.computed.make_wait(comm);  // B1
  } else {
    slot.computed.synchronize();  // B1
    slot.values =
        DeviceBuffer(parts_.ledger, Purpose::unsharded_parameters, parameter_bytes(unit), comm);
  }
  parts_.communicator.group_start();
  for (WholeTensor const& tensor : whole_tensors(unit)) gather_one(tensor);
  parts_.communicator.group_end();
  slot.gathered.record(comm);
}

// The slot belongs to the engine; only the model sees it as constant.
void BackwardPass::gather_one(WholeTensor const& tensor) {
  ParameterLayout const& layout = parts_.layout[tensor.parameter];
  if (tensor.quantised) return gather_codes(tensor.parameter, *tensor.quantised);
  if (layout.chunk_numel == 0) return;  // on every rank alike
  parts_.communicator.all_gather(parts_.tensors.at(TensorKind::parameter, tensor.parameter),
                                 const_cast<void*>(tensor.value), layout.chunk_numel,
                                 tensor.value_format, parts_.streams.comm);
}

// And the scales that are not on every rank as they are.
void BackwardPass::gather_codes(int parameter, QuantisedView const& whole) {
  ParameterLayout const& layout = parts_.layout[parameter];
  Recipe const recipe = whole.shape.recipe;
  std::byte const* const own = parts_.tensors.at(TensorKind::parameter, parameter);
  Stream const& comm = parts_.streams.comm;
  parts_.communicator.all_gather_bytes(own, const_cast<std::uint8_t*>(whole.codes),
                                       code_bytes(recipe, layout.chunk_numel), comm);
  std::int64_t const beside = scale_codes_beside(recipe, layout.chunk_numel);
  if (beside == 0) return;
  parts_.communicator.all_gather_bytes(own + scale_codes_begin(recipe, layout.chunk_numel),
                                       const_cast<std::uint8_t*>(whole.scale_codes), beside, comm);
}

void BackwardPass::compute(int unit) {
  Stream const& compute = parts_.streams.compute;
  Slot& slot = this->slot(unit);
  slot.gathered.make_wait(compute);

  make_whole_gradients(unit);
  call_source(unit);

  if (!parts_.keeps_buffers) slot.values.free_on(compute);
  slot.computed.record(compute);
  slot.used = true;
}

void BackwardPass::make_whole_gradients(int unit) {
  Stream const& compute = parts_.streams.compute;
  std::size_t bytes = 0;
  for (int const p : wanted_of(unit)) bytes += whole_bytes(TensorKind::gradient, p);
  reduces_ = bytes > 0;
  if (!reduces_) return;
  if (parts_.keeps_buffers) {
    if (sums_used_) sums_released_.make_wait(compute);  // B1
  } else {
    sums_released_.synchronize();  // B1
    whole_gradients_ = DeviceBuffer(parts_.ledger, Purpose::unsharded_gradients, bytes, compute);
  }

  bool const idle = parts_.where.rank >= parts_.microbatches;  // B3
  if (idle) return zero_async(whole_gradients_, 0, bytes, compute);
  zero_padding(unit);
}

void BackwardPass::zero_padding(int unit) {
  std::size_t begin = 0;
  for (int const p : wanted_of(unit)) {
    ParameterLayout const& layout = parts_.layout[p];
    std::size_t const end = begin + whole_bytes(TensorKind::gradient, p);
    std::size_t const filled =
        static_cast<std::size_t>(layout.numel) * bytes_of(layout.formats.gradient);
    zero_async(whole_gradients_, begin + filled, end, parts_.streams.compute);
    begin = end;
  }
}

std::vector<int> const& BackwardPass::wanted_of(int unit) const {
  return wanted_of_unit_[static_cast<std::size_t>(unit)];
}

void BackwardPass::sort_wanted() {
  wanted_of_unit_.resize(static_cast<std::size_t>(parts_.layout.unit_count()));
  for (int unit = 0; unit < parts_.layout.unit_count(); ++unit) {
    std::vector<int>& wanted = wanted_of_unit_[static_cast<std::size_t>(unit)];
    wanted.clear();
    for (int const p : parts_.layout.unit(unit))
      if (wanted_[static_cast<std::size_t>(p)]) wanted.push_back(p);
  }
}

// Whole tensors of a unit lie one after the other, each in its rounded room.
std::vector<WholeTensor> BackwardPass::whole_tensors(int unit) const {
  std::byte* value = slot(unit).values.as<std::byte>();
  std::byte* gradient = whole_gradients_.as<std::byte>();
  std::vector<WholeTensor> tensors;
  for (int const p : parts_.layout.unit(unit)) {
    ParameterLayout const& layout = parts_.layout[p];
    bool const any = layout.whole_numel > 0;
    bool const wanted = wanted_[static_cast<std::size_t>(p)] && gradient != nullptr && any;
    bool const quantised = layout.quantised.has_value();
    auto const view = quantised ? std::optional(parts_.quantised.whole(p, value)) : std::nullopt;
    tensors.push_back({.parameter = p,
                       .value = any && !quantised ? value : nullptr,
                       .value_format = layout.formats.parameter,
                       .quantised = view,
                       .gradient = wanted ? gradient : nullptr,
                       .gradient_format = layout.formats.gradient,
                       .numel = layout.numel});
    value += whole_bytes(TensorKind::parameter, p);
    if (wanted) gradient += whole_bytes(TensorKind::gradient, p);
  }
  return tensors;
}

void BackwardPass::call_source(int unit) {
  std::vector<WholeTensor> const tensors = whole_tensors(unit);
  for (int m = parts_.where.rank; m < parts_.microbatches; m += parts_.where.world_size) {
    parts_.source.backward({.unit = unit,
                            .microbatch = m,
                            .accumulate = m > parts_.where.rank,
                            .tensors = tensors,
                            .loss_scale = loss_scale_,
                            .stream = parts_.streams.compute.get(),
                            .sequence = sequence_});
  }
}

void BackwardPass::reduce(int unit) {
  if (!reduces_) return;  // on every rank alike
  Stream const& comm = parts_.streams.comm;
  std::size_t bytes = 0;
  for (int const p : wanted_of(unit)) bytes += parts_.layout[p].room_bytes(TensorKind::gradient);
  if (!parts_.keeps_buffers) sums_ = DeviceBuffer(parts_.ledger, Purpose::reduction, bytes, comm);
  slot(unit).computed.make_wait(comm);
  std::vector<Sum> const sums = sums_of(unit);
  sum_over_ranks(sums);
  keep_mean(sums);
  if (!parts_.keeps_buffers) {
    whole_gradients_.free_on(comm);
    sums_.free_on(comm);
  }
  sums_released_.record(comm);
  sums_used_ = true;
}

std::vector<BackwardPass::Sum> BackwardPass::sums_of(int unit) const {
  std::byte const* whole = whole_gradients_.as<std::byte>();
  std::byte* shard = sums_.as<std::byte>();
  std::vector<Sum> sums;
  for (int const p : wanted_of(unit)) {
    sums.push_back({.parameter = p, .whole = whole, .shard = shard});
    whole += whole_bytes(TensorKind::gradient, p);
    shard += parts_.layout[p].room_bytes(TensorKind::gradient);
  }
  return sums;
}

void BackwardPass::sum_over_ranks(std::span<Sum const> sums) {
  parts_.communicator.group_start();
  for (Sum const& sum : sums) {
    ParameterLayout const& layout = parts_.layout[sum.parameter];
    if (layout.chunk_numel == 0) continue;  // on every rank alike
    parts_.communicator.reduce_scatter(sum.whole, sum.shard, layout.chunk_numel,
                                       layout.formats.gradient, parts_.streams.comm);
  }
  parts_.communicator.group_end();
}

void BackwardPass::keep_mean(std::span<Sum const> sums) {
  std::vector<MeanTask> tasks;
  for (Sum const& sum : sums) {
    ParameterLayout const& layout = parts_.layout[sum.parameter];
    tasks.push_back({.gradient = parts_.tensors.at(TensorKind::gradient, sum.parameter),
                     .sum = sum.shard,
                     .numel = layout.shard_numel(),
                     .format = layout.formats.gradient,
                     .accumulate = parts_.tensors.has_gradient(sum.parameter)});
  }
  launch_mean(tasks, static_cast<float>(parts_.microbatches), parts_.streams.comm);
}

}  // namespace adamant::real
