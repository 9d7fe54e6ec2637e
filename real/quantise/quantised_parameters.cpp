#include "real/quantise/quantised_parameters.h"

#include <algorithm>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

namespace {

std::size_t padded_bytes(std::size_t bytes) {
  return static_cast<std::size_t>(padded(static_cast<std::int64_t>(bytes)));
}

std::size_t count_of(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

std::uint8_t* bytes_at(std::byte* begin) {
  return reinterpret_cast<std::uint8_t*>(begin);
}

}  // namespace

QuantisedParameters::QuantisedParameters(Parts const& parts) : parts_(parts) {
  find_places();
  memory_ = DeviceBuffer(parts.ledger, Purpose::parameter_scales, bytes_, parts.streams.compute);
  write_first_scales();
}

void QuantisedParameters::find_places() {
  for (int p = 0; p < parts_.layout.parameter_count(); ++p) {
    auto const& shape = parts_.layout[p].quantised;
    if (!shape) continue;
    places_.push_back({.parameter = p, .first_maximum = maxima_});
    maxima_ += count_of(maxima_count(*shape));
  }
  joined_ = padded_bytes(maxima_ * sizeof(std::int32_t));
  bytes_ = 2 * joined_;
  auto const take = [&](std::size_t bytes) {
    std::size_t const begin = bytes_;
    bytes_ += padded_bytes(bytes);
    return begin;
  };
  for (Place& place : places_) {
    ParameterLayout const& layout = parts_.layout[place.parameter];
    RecipeShape const& shape = *layout.quantised;
    bool const delayed = shape.recipe == Recipe::fp8_delayed;
    auto const weights = is_shared_with_cpu(place.parameter) ? layout.stepped_numel() : 0;
    place.scales = take(count_of(scale_count(shape)) * sizeof(float));
    place.scale_codes = take(count_of(scale_code_count(shape)));
    place.delayed = take(delayed ? sizeof(DelayedScale) : 0);
    place.weights = take(count_of(weights) * sizeof(float));
  }
}

// Of zeros: 1 in fp32, and codes and amaxes of 0.
void QuantisedParameters::write_first_scales() {
  zero_async(memory_, 0, bytes_, parts_.streams.compute);
  for (Place const& place : places_) {
    RecipeShape const& shape = *parts_.layout[place.parameter].quantised;
    DelayedScale const first;
    if (shape.recipe == Recipe::fp8_delayed)
      upload(&first, sizeof first, at<std::byte>(place.delayed));
    if (scale_code_count(shape) > 0) continue;
    std::vector<float> const ones(count_of(scale_count(shape)), 1.0F);
    upload(ones.data(), ones.size() * sizeof(float), at<std::byte>(place.scales));
  }
}

// Waits: the source is pageable and about to die.
void QuantisedParameters::upload(void const* from, std::size_t bytes, std::byte* to) const {
  if (bytes == 0) return;
  Stream const& compute = parts_.streams.compute;
  ADAMANT_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, compute.get()));
  compute.synchronize();
}

QuantisedParameters::Place const& QuantisedParameters::place_of(int parameter) const {
  auto const place = std::ranges::lower_bound(places_, parameter, {}, &Place::parameter);
  ADAMANT_REAL_ASSERT(place != places_.end());
  ADAMANT_REAL_ASSERT(place->parameter == parameter);
  return *place;
}

bool QuantisedParameters::is_shared_with_cpu(int parameter) const {
  return parts_.split.host_numel(parameter) > 0;
}

float* QuantisedParameters::weights_together(int parameter) const {
  return is_shared_with_cpu(parameter) ? at<float>(place_of(parameter).weights) : nullptr;
}

// ---- views --------------------------------------------------------------------------------------

QuantisedView QuantisedParameters::view(int parameter) const {
  ParameterLayout const& layout = parts_.layout[parameter];
  std::byte* const codes = parts_.tensors.at(TensorKind::parameter, parameter);
  QuantisedView view = whole(parameter, layout.held_numel() > 0 ? codes : nullptr);
  view.begin = layout.held.begin;
  if (has_scales_beside(view.shape) && view.codes != nullptr)
    view.scale_codes = view.codes + own_scale_codes_begin(parameter);
  return view;
}

// Then the parameter has a bucket of its own.
std::int64_t QuantisedParameters::own_scale_codes_begin(int parameter) const {
  Bucket const& bucket = parts_.layout.bucket_of(parameter);
  return scale_codes_begin(*bucket.formats.recipe, bucket.own.parameters_numel);
}

QuantisedView QuantisedParameters::whole(int parameter, std::byte const* gathered) const {
  ParameterLayout const& layout = parts_.layout[parameter];
  Place const& place = place_of(parameter);
  Recipe const recipe = layout.quantised->recipe;
  QuantisedView view{.shape = *layout.quantised,
                     .codes = reinterpret_cast<std::uint8_t const*>(gathered)};
  if (has_scales_beside(view.shape)) {
    if (gathered != nullptr)
      view.scale_codes =
          view.codes + scale_codes_begin(recipe, parts_.layout.bucket_of(parameter).whole_numel);
    return view;
  }
  if (recipe != Recipe::mxfp8) view.scales = at<float>(place.scales);
  if (scale_code_count(view.shape) > 0) view.scale_codes = at<std::uint8_t>(place.scale_codes);
  if (recipe == Recipe::fp8_delayed) view.delayed = at<DelayedScale>(place.delayed);
  return view;
}

// ---- quantisations ------------------------------------------------------------------------------

QuantiseTask QuantisedParameters::task_of(Place const& place, float const* weights) const {
  ParameterLayout const& layout = parts_.layout[place.parameter];
  RecipeShape const& shape = *layout.quantised;
  std::byte* const codes = parts_.tensors.stepped_at(TensorKind::parameter, place.parameter);
  std::byte* const scale_codes = has_scales_beside(shape)
                                     ? codes + own_scale_codes_begin(place.parameter)
                                     : at<std::byte>(place.scale_codes);
  return {.shape = shape,
          .begin = layout.stepped.begin,
          .count = layout.stepped_numel(),
          .weights = weights,
          .codes = bytes_at(codes),
          .partial = partial() + place.first_maximum,
          .joined = joined() + place.first_maximum,
          .scales = at<float>(place.scales),
          .scale_codes = bytes_at(scale_codes),
          .delayed = at<DelayedScale>(place.delayed)};
}

/// In one piece. The CPU's weights are there already.
float const* QuantisedParameters::weights_of(int parameter, void const* on_device) const {
  float* const together = weights_together(parameter);
  if (together == nullptr) return static_cast<float const*>(on_device);
  std::size_t const bytes = count_of(parts_.split.device_numel(parameter)) * sizeof(float);
  if (bytes > 0)
    ADAMANT_TRY(cudaMemcpyAsync(together, on_device, bytes, cudaMemcpyDeviceToDevice,
                                parts_.streams.compute.get()));
  return together;
}

void QuantisedParameters::renew(StepScalars const* table) {
  std::vector<QuantiseTask> tasks;
  for (Place const& place : places_) {
    std::byte const* const main = parts_.tensors.at(TensorKind::main, place.parameter);
    tasks.push_back(task_of(place, weights_of(place.parameter, main)));
    tasks.back().apply = &table[place.parameter].apply;
  }
  quantise(tasks, {.count = maxima_});
}

void QuantisedParameters::start(int parameter, ShardView const& main) {
  Place const& place = place_of(parameter);
  RecipeShape const& shape = *parts_.layout[parameter].quantised;
  DelayedScale const first;
  if (shape.recipe == Recipe::fp8_delayed)
    upload(&first, sizeof first, at<std::byte>(place.delayed));
  QuantiseTask const task = task_of(place, weights_of(parameter, main.data));
  quantise({&task, 1}, {.first = place.first_maximum, .count = count_of(maxima_count(shape))});
  parts_.streams.compute.synchronize();
}

void QuantisedParameters::write(int parameter, QuantisedScales const& scales) {
  Place const& place = place_of(parameter);
  RecipeShape const& shape = *parts_.layout[parameter].quantised;
  ADAMANT_REAL_ASSERT(scales.scales.size() == count_of(scale_count(shape)));
  ADAMANT_REAL_ASSERT(scales.scale_codes.size() == count_of(scale_code_count(shape)));
  ADAMANT_REAL_ASSERT(scales.delayed.has_value() == (shape.recipe == Recipe::fp8_delayed));
  upload(scales.scales.data(), scales.scales.size() * sizeof(float), at<std::byte>(place.scales));
  upload(scales.scale_codes.data(), scales.scale_codes.size(), at<std::byte>(place.scale_codes));
  if (scales.delayed)
    upload(&*scales.delayed, sizeof *scales.delayed, at<std::byte>(place.delayed));
}

void QuantisedParameters::quantise(std::span<QuantiseTask const> tasks, Maxima maxima) {
  Streams const& streams = parts_.streams;
  std::size_t const begin = maxima.first * sizeof(std::int32_t);
  zero_async(memory_, begin, begin + maxima.count * sizeof(std::int32_t), streams.compute);
  launch_first_read(tasks, streams.compute);
  if (maxima.count > 0) {
    order(streams.compute, forked_, streams.comm);
    parts_.communicator.all_reduce_max(partial() + maxima.first, joined() + maxima.first,
                                       static_cast<std::int64_t>(maxima.count), streams.comm);
    order(streams.comm, joined_ranks_, streams.compute);  // Q1
  }
  launch_scales(tasks, streams.compute);
  launch_second_read(tasks, streams.compute);
}

}  // namespace adamant::real
