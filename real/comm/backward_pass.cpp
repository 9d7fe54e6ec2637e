#include "real/comm/backward_pass.h"

#include <algorithm>
#include <utility>

#include "real/bug.h"
#include "real/comm/mean_kernel.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

namespace {

bool is_last(RankOfWorld where) {
  return where.rank == where.world_size - 1;
}

/// How many worlds this process has begun: what a forgotten static variable would remember.
int& worlds_begun() {
  static int count = 0;
  return count;
}

}  // namespace

BackwardPass::BackwardPass(BackwardParts const& parts) : parts_(parts) {
  if (ADAMANT_BUG(order_from_leftover_state) && parts.where.rank == 0) ++worlds_begun();
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

void BackwardPass::move_buffers() {
  Stream const& compute = parts_.streams.compute;
  for (Slot& slot : slots_) slot.values.free_on(compute);
  whole_gradients_.free_on(compute);
  sums_.free_on(compute);
  keep_buffers();
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
  if (!ADAMANT_BUG(gather_skips_wait_for_step))
    order(parts_.streams.compute, forked_, parts_.streams.comm);

  bool const late = ADAMANT_BUG(prefetch_late_on_one_rank) && is_last(parts_.where);
  int const last = parts_.layout.unit_count() - 1;
  gather(last);
  for (int unit = last; unit >= 0; --unit) {
    if (unit > 0 && !late) gather(unit - 1);
    compute(unit);
    reduce(unit);
    if (unit > 0 && late) gather(unit - 1);
  }

  if (ADAMANT_BUG(mlm_6153)) gather(last);
  if (ADAMANT_BUG(pt_140044)) whole_gradients_.free_on(parts_.streams.comm);
  for (int p = 0; p < parts_.layout.parameter_count(); ++p)
    if (wanted_[static_cast<std::size_t>(p)]) parts_.tensors.set_has_gradient(p);
  if (ADAMANT_BUG(cast_before_reduction) && any) parts_.tensors.cast_gradients();
  if (!ADAMANT_BUG(step_skips_wait_for_reduction))
    order(parts_.streams.comm, joined_, parts_.streams.compute);
  if (any && !ADAMANT_BUG(cast_before_reduction)) parts_.tensors.cast_gradients();
  if (!ADAMANT_BUG(reduction_leaked) && !ADAMANT_BUG(te_2805)) kept_.clear();
}

std::size_t BackwardPass::whole_bytes(TensorKind kind, int parameter) const {
  ParameterLayout const& layout = parts_.layout[parameter];
  return layout.whole_bytes(layout.format(kind).value());
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
  for (WholeTensor const& tensor : gather_order(unit)) gather_one(tensor);
  parts_.communicator.group_end();
  slot.gathered.record(comm);
}

std::vector<WholeTensor> BackwardPass::gather_order(int unit) const {
  std::vector<WholeTensor> tensors = whole_tensors(unit);
  bool const swapped = ADAMANT_BUG(parameters_swapped_on_one_rank) && is_last(parts_.where);
  bool const leftover = ADAMANT_BUG(order_from_leftover_state) && worlds_begun() % 2 == 1;
  if (swapped || leftover) std::reverse(tensors.begin(), tensors.end());
  return tensors;
}

// The slot belongs to the engine; only the model sees it as constant.
void BackwardPass::gather_one(WholeTensor const& tensor) {
  ParameterLayout const& layout = parts_.layout[tensor.parameter];
  std::int64_t count = layout.chunk_numel;
  if (ADAMANT_BUG(torchtitan_4371) && is_last(parts_.where)) count = layout.shard_numel();
  if (ADAMANT_BUG(empty_shard_skips_collective) && layout.shard_numel() == 0) return;
  if (count == 0) return;  // on every rank alike
  parts_.communicator.all_gather(parts_.tensors.at(TensorKind::parameter, tensor.parameter),
                                 const_cast<void*>(tensor.value), count, tensor.value_format,
                                 parts_.streams.comm);
}

void BackwardPass::compute(int unit) {
  Stream const& compute = parts_.streams.compute;
  Slot& slot = this->slot(unit);
  if (!ADAMANT_BUG(compute_skips_wait_for_gather)) slot.gathered.make_wait(compute);

  make_whole_gradients(unit);
  call_source(unit);

  if (!parts_.keeps_buffers) {
    if (ADAMANT_BUG(te_2805)) kept_.push_back(std::move(slot.values));
    slot.values.free_on(ADAMANT_BUG(slot_released_before_compute) ? parts_.streams.comm : compute);
  }
  slot.computed.record(compute);
  slot.used = true;
}

void BackwardPass::make_whole_gradients(int unit) {
  Stream const& compute = parts_.streams.compute;
  std::size_t bytes = 0;
  for (int const p : wanted_of(unit)) bytes += whole_bytes(TensorKind::gradient, p);
  reduces_ = bytes > 0;
  if (!reduces_) return;
  bool const reused =
      ADAMANT_BUG(pt_140044) && whole_gradients_ && whole_gradients_.bytes() >= bytes;
  if (parts_.keeps_buffers) {
    if (sums_used_) sums_released_.make_wait(compute);  // B1
  } else if (!reused) {
    sums_released_.synchronize();  // B1
    whole_gradients_ = DeviceBuffer(parts_.ledger, Purpose::unsharded_gradients, bytes, compute);
  }

  bool const idle = parts_.where.rank >= parts_.microbatches;  // B3
  if (idle && ADAMANT_BUG(idle_rank_sends_garbage)) return;
  if (idle) return zero_async(whole_gradients_, 0, bytes, compute);
  if (ADAMANT_BUG(gradient_padding_not_zeroed)) return;
  std::size_t begin = 0;
  for (int const p : wanted_of(unit)) {
    ParameterLayout const& layout = parts_.layout[p];
    std::size_t const end = begin + whole_bytes(TensorKind::gradient, p);
    std::size_t const filled =
        static_cast<std::size_t>(layout.numel) * bytes_of(layout.formats.gradient);
    zero_async(whole_gradients_, begin + filled, end, compute);
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
    tensors.push_back({.parameter = p,
                       .value = any ? value : nullptr,
                       .value_format = layout.formats.parameter,
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
  bool accumulate = false;
  for (int m = parts_.where.rank; m < parts_.microbatches; m += parts_.where.world_size) {
    parts_.source.backward({.unit = unit,
                            .microbatch = m,
                            .accumulate = accumulate,
                            .tensors = tensors,
                            .loss_scale = loss_scale_,
                            .stream = parts_.streams.compute.get(),
                            .sequence = sequence_});
    accumulate = !ADAMANT_BUG(microbatches_overwrite);
  }
  if (ADAMANT_BUG(verl_5625)) divide_by_own_microbatches(tensors);
}

void BackwardPass::divide_by_own_microbatches(std::span<WholeTensor const> tensors) const {
  int const ranks = parts_.where.world_size;
  int const own = (parts_.microbatches - parts_.where.rank + ranks - 1) / ranks;
  if (own < 1) return;
  std::vector<MeanTask> tasks;
  for (WholeTensor const& tensor : tensors) {
    if (tensor.gradient == nullptr) continue;
    tasks.push_back({.gradient = tensor.gradient,
                     .sum = tensor.gradient,
                     .numel = tensor.numel,
                     .format = tensor.gradient_format,
                     .accumulate = false});
  }
  launch_mean(tasks, static_cast<float>(own), parts_.streams.compute);
}

void BackwardPass::reduce(int unit) {
  if (!reduces_) return;  // on every rank alike
  Stream const& comm = parts_.streams.comm;
  std::size_t bytes = 0;
  for (int const p : wanted_of(unit)) bytes += parts_.layout[p].room_bytes(TensorKind::gradient);
  if (!parts_.keeps_buffers)
    sums_ = DeviceBuffer(parts_.ledger, Purpose::reduction, bytes,
                         ADAMANT_BUG(mlm_6187) ? parts_.streams.compute : comm);
  if (ADAMANT_BUG(ds_7898))
    order(parts_.streams.copy, forked_, comm);
  else if (!ADAMANT_BUG(reduce_skips_wait_for_compute))
    slot(unit).computed.make_wait(comm);
  sum_over_ranks(unit);
  keep_mean(unit);
  if (!parts_.keeps_buffers) release_gradients();
  sums_released_.record(comm);
  sums_used_ = true;
}

void BackwardPass::release_gradients() {
  Stream const& comm = parts_.streams.comm;
  Stream const& compute = parts_.streams.compute;
  if (ADAMANT_BUG(iseekyan_158)) kept_.push_back(std::move(whole_gradients_));
  if (!ADAMANT_BUG(pt_140044)) whole_gradients_.free_on(ADAMANT_BUG(ds_7965) ? compute : comm);
  if (ADAMANT_BUG(reduction_leaked) || ADAMANT_BUG(pt_179128)) kept_.push_back(std::move(sums_));
  sums_.free_on(ADAMANT_BUG(pt_180665) ? compute : comm);
}

void BackwardPass::sum_over_ranks(int unit) {
  std::vector<Sum> sums = sums_of(unit);
  if (ADAMANT_BUG(mlm_2218) && is_last(parts_.where)) std::reverse(sums.begin(), sums.end());
  parts_.communicator.group_start();
  for (Sum const& sum : sums) {
    ParameterLayout const& layout = parts_.layout[sum.parameter];
    if (layout.chunk_numel == 0) continue;  // on every rank alike
    parts_.communicator.reduce_scatter(sum.whole, sum.rows, layout.chunk_numel,
                                       layout.formats.gradient, parts_.streams.comm);
  }
  parts_.communicator.group_end();
}

std::vector<BackwardPass::Sum> BackwardPass::sums_of(int unit) const {
  std::byte const* whole = whole_gradients_.as<std::byte>();
  std::byte* rows = sums_.as<std::byte>();
  std::vector<Sum> sums;
  for (int const p : wanted_of(unit)) {
    sums.push_back({.parameter = p, .whole = whole, .rows = rows});
    whole += whole_bytes(TensorKind::gradient, p);
    rows += parts_.layout[p].room_bytes(TensorKind::gradient);
  }
  return sums;
}

void BackwardPass::keep_mean(int unit) {
  std::vector<MeanTask> tasks;
  std::byte const* sum = sums_.as<std::byte>();
  for (int const p : wanted_of(unit)) {
    tasks.push_back({.gradient = parts_.tensors.at(TensorKind::gradient, p),
                     .sum = sum,
                     .numel = parts_.layout[p].shard_numel(),
                     .format = parts_.layout[p].formats.gradient,
                     .accumulate = parts_.tensors.has_gradient(p) &&
                                   !ADAMANT_BUG(accumulation_overwrites) &&
                                   !(parts_.keeps_buffers && ADAMANT_BUG(F05))});
    sum += parts_.layout[p].room_bytes(TensorKind::gradient);
  }
  int divisor = parts_.microbatches;
  if (ADAMANT_BUG(mean_not_divided)) divisor = 1;
  if (ADAMANT_BUG(mean_by_world_size)) divisor = parts_.where.world_size;
  if (ADAMANT_BUG(torchtune_2172)) divisor *= parts_.where.world_size;
  if (ADAMANT_BUG(verl_5625)) divisor = std::min(divisor, parts_.where.world_size);
  launch_mean(tasks, static_cast<float>(divisor), parts_.streams.comm);
  if (ADAMANT_BUG(mlm_6041)) {
    for (MeanTask& task : tasks) task.accumulate = true;
    launch_mean(tasks, static_cast<float>(divisor), parts_.streams.comm);
  }
}

}  // namespace adamant::real
