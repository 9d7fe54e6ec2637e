#include "real/comm/backward_pass.h"

#include <algorithm>

#include "real/comm/mean_kernel.h"

namespace adamant::real {

namespace {

std::size_t whole_gradient_bytes(Bucket const& bucket) {
  return bucket.whole_bytes(TensorKind::gradient);
}

std::size_t gathered_bytes(std::span<Bucket const> buckets) {
  std::size_t bytes = 0;
  for (Bucket const& bucket : buckets) bytes += bucket.whole_bytes(TensorKind::parameter);
  return bytes;
}

}  // namespace

BackwardPass::BackwardPass(BackwardParts const& parts) : parts_(parts) {
  if (parts.keeps_buffers) keep_buffers();
}

// As large as the largest unit that will use them.
void BackwardPass::keep_buffers() {
  wanted_.assign(static_cast<std::size_t>(parts_.layout.parameter_count()), true);
  std::array<std::size_t, 2> values = {};
  std::size_t gradients = 0;
  std::size_t sums = 0;
  for (int unit = 0; unit < parts_.layout.unit_count(); ++unit) {
    std::size_t& slot = values[static_cast<std::size_t>(unit) % values.size()];
    slot = std::max(slot, gathered_bytes(parts_.layout.buckets_of(unit)));
    gradients = std::max(gradients, bytes_of_reduced(unit, whole_gradient_bytes));
    sums = std::max(sums, bytes_of_reduced(unit, [&](Bucket const& bucket) {
                      return bytes_within(bucket) + bytes_across(bucket);
                    }));
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
    if (is_wanted(p)) parts_.tensors.set_has_gradient(p);
  order(parts_.streams.comm, joined_, parts_.streams.compute);
  if (any) parts_.tensors.cast_gradients();
}

// ---- sizes --------------------------------------------------------------------------------------

bool BackwardPass::is_reduced(Bucket const& bucket) const {
  return std::ranges::any_of(bucket.parameters, [&](int p) { return is_wanted(p); });
}

// Replicas may add up more than a shard has: each an equal part of it.
std::size_t BackwardPass::bytes_within(Bucket const& bucket) const {
  return bucket.bytes_of(TensorKind::gradient, bucket.own.parameters_numel);
}

std::size_t BackwardPass::bytes_across(Bucket const& bucket) const {
  return has_replicas() ? bucket.room_bytes(TensorKind::gradient) : 0;
}

template <typename BytesOf>
std::size_t BackwardPass::bytes_of_reduced(int unit, BytesOf bytes_of) const {
  std::size_t bytes = 0;
  for (Bucket const& bucket : parts_.layout.buckets_of(unit))
    if (is_reduced(bucket)) bytes += bytes_of(bucket);
  return bytes;
}

// ---- parameters ---------------------------------------------------------------------------------

void BackwardPass::gather(int unit) {
  Stream const& comm = parts_.streams.comm;
  Slot& slot = this->slot(unit);
  std::span<Bucket const> const buckets = parts_.layout.buckets_of(unit);
  if (parts_.keeps_buffers) {
    if (slot.used) slot.computed.make_wait(comm);  // B1
  } else {
    slot.computed.synchronize();  // B1
    slot.values =
        DeviceBuffer(parts_.ledger, Purpose::unsharded_parameters, gathered_bytes(buckets), comm);
  }
  Group group(parts_.communicators.within());
  std::byte* whole = slot.values.as<std::byte>();
  for (Bucket const& bucket : buckets) {
    gather_one(bucket, whole);
    whole += bucket.whole_bytes(TensorKind::parameter);
  }
  group.end();
  slot.gathered.record(comm);
}

// Of a quantised parameter codes, and the scales that are not on every rank as they are.
void BackwardPass::gather_one(Bucket const& bucket, std::byte* whole) {
  std::int64_t const numel = bucket.own.chunk_numel;
  if (numel == 0) return;  // on every rank alike
  Communicator& within = parts_.communicators.within();
  Stream const& comm = parts_.streams.comm;
  std::byte const* const own =
      parts_.tensors.flat(TensorKind::parameter) + bucket.begin(TensorKind::parameter);
  if (!bucket.formats.recipe)
    return within.all_gather(own, whole, numel, bucket.formats.parameter, comm);
  Recipe const recipe = *bucket.formats.recipe;
  within.all_gather_bytes(own, whole, code_bytes(recipe, numel), comm);
  if (!bucket.scales_beside) return;
  within.all_gather_bytes(own + scale_codes_begin(recipe, numel),
                          whole + scale_codes_begin(recipe, bucket.whole_numel),
                          scale_codes_beside(recipe, numel), comm);
}

// ---- gradients ----------------------------------------------------------------------------------

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
  std::size_t const bytes = bytes_of_reduced(unit, whole_gradient_bytes);
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
  std::size_t begin = 0;
  for (Bucket const& bucket : parts_.layout.buckets_of(unit)) {
    if (!is_reduced(bucket)) continue;
    zero_between(bucket, begin);
    begin += whole_gradient_bytes(bucket);
  }
}

// B3: padding, and tensors without a gradient.
void BackwardPass::zero_between(Bucket const& bucket, std::size_t begin) {
  std::size_t const size = bytes_of(bucket.formats.gradient);
  std::size_t filled = begin;
  for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
    ParameterLayout const& layout = parts_.layout[bucket.parameters[i]];
    if (!is_wanted(bucket.parameters[i]) || layout.numel == 0) continue;
    std::size_t const first = begin + static_cast<std::size_t>(layout.offset) * size;
    zero_async(whole_gradients_, filled, first, parts_.streams.compute);
    filled = first + static_cast<std::size_t>(layout.numel) * size;
  }
  zero_async(whole_gradients_, filled, begin + whole_gradient_bytes(bucket),
             parts_.streams.compute);
}

// Buckets of a unit lie one after the other.
std::vector<WholeTensor> BackwardPass::whole_tensors(int unit) const {
  std::byte* value = slot(unit).values.as<std::byte>();
  std::byte* gradient = whole_gradients_.as<std::byte>();
  std::vector<WholeTensor> tensors;
  for (Bucket const& bucket : parts_.layout.buckets_of(unit)) {
    bool const reduced = is_reduced(bucket);
    add_whole_tensors(bucket, value, reduced ? gradient : nullptr, tensors);
    value += bucket.whole_bytes(TensorKind::parameter);
    if (reduced) gradient += whole_gradient_bytes(bucket);
  }
  std::ranges::sort(tensors, {}, &WholeTensor::parameter);
  return tensors;
}

void BackwardPass::add_whole_tensors(Bucket const& bucket, std::byte* value, std::byte* gradient,
                                     std::vector<WholeTensor>& tensors) const {
  for (int const p : bucket.parameters) {
    ParameterLayout const& layout = parts_.layout[p];
    auto const offset = static_cast<std::size_t>(layout.offset);
    bool const any = layout.numel > 0;
    WholeTensor tensor{.parameter = p,
                       .value_format = layout.formats.parameter,
                       .gradient_format = layout.formats.gradient,
                       .numel = layout.numel};
    if (layout.quantised) {
      auto const before = code_bytes(layout.quantised->recipe, layout.offset);
      tensor.quantised = parts_.quantised.whole(p, value + before);
    } else if (any) {
      tensor.value = value + offset * bytes_of(layout.formats.parameter);
    }
    if (any && is_wanted(p) && gradient != nullptr)
      tensor.gradient = gradient + offset * bytes_of(layout.formats.gradient);
    tensors.push_back(tensor);
  }
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

// ---- sums ---------------------------------------------------------------------------------------

void BackwardPass::reduce(int unit) {
  if (!reduces_) return;  // on every rank alike
  Stream const& comm = parts_.streams.comm;
  if (!parts_.keeps_buffers) {
    std::size_t const bytes = bytes_of_reduced(
        unit, [&](Bucket const& bucket) { return bytes_within(bucket) + bytes_across(bucket); });
    sums_ = DeviceBuffer(parts_.ledger, Purpose::reduction, bytes, comm);
  }
  slot(unit).computed.make_wait(comm);
  std::vector<Sum> const sums = sums_of(unit);
  sum_within(sums);
  if (has_replicas()) sum_across(sums);
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
  std::byte* sum = sums_.as<std::byte>();
  std::vector<Sum> sums;
  for (Bucket const& bucket : parts_.layout.buckets_of(unit)) {
    if (!is_reduced(bucket)) continue;
    std::byte* const across = sum + bytes_within(bucket);
    sums.push_back({.bucket = &bucket,
                    .whole = whole,
                    .within = sum,
                    .across = has_replicas() ? across : sum});
    whole += whole_gradient_bytes(bucket);
    sum = across + bytes_across(bucket);
  }
  return sums;
}

void BackwardPass::sum_within(std::span<Sum const> sums) {
  Communicator& within = parts_.communicators.within();
  Group group(within);
  for (Sum const& sum : sums) {
    std::int64_t const numel = sum.bucket->own.chunk_numel;
    if (numel == 0) continue;  // on every rank alike
    within.reduce_scatter(sum.whole, sum.within, numel, sum.bucket->formats.gradient,
                          parts_.streams.comm);
  }
  group.end();
}

void BackwardPass::sum_across(std::span<Sum const> sums) {
  Communicator& across = parts_.communicators.across();
  bool const cuts = parts_.layout.where().mesh.cuts_states_across();
  std::byte const* const begin = sums_.as<std::byte>();
  for (Sum const& sum : sums) {  // what replicas add up beyond the shard's chunk
    std::size_t const chunk = static_cast<std::size_t>(sum.bucket->own.chunk_numel) *
                              bytes_of(sum.bucket->formats.gradient);
    auto const before = static_cast<std::size_t>(sum.within - begin);
    zero_async(sums_, before + chunk, before + bytes_within(*sum.bucket), parts_.streams.comm);
  }
  Group group(across);
  for (Sum const& sum : sums) {
    std::int64_t const numel = sum.bucket->own.states_numel;
    NumberFormat const format = sum.bucket->formats.gradient;
    if (numel == 0) continue;  // on all replicas of the shard
    if (cuts)
      across.reduce_scatter(sum.within, sum.across, numel, format, parts_.streams.comm);
    else
      across.all_reduce(sum.within, sum.across, numel, format, parts_.streams.comm);
  }
  group.end();
}

void BackwardPass::keep_mean(std::span<Sum const> sums) {
  std::vector<MeanTask> tasks;
  for (Sum const& sum : sums) {
    for (int const p : sum.bucket->parameters) {
      if (!is_wanted(p)) continue;
      std::size_t const before =
          parts_.layout[p].begin(TensorKind::gradient) - sum.bucket->begin(TensorKind::gradient);
      tasks.push_back({.gradient = parts_.tensors.at(TensorKind::gradient, p),
                       .sum = sum.across + before,
                       .numel = parts_.layout[p].stepped_numel(),
                       .format = sum.bucket->formats.gradient,
                       .accumulate = parts_.tensors.has_gradient(p)});
    }
  }
  launch_mean(tasks, static_cast<float>(parts_.microbatches), parts_.streams.comm);
}

}  // namespace adamant::real
