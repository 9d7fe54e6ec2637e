#include "real/scale/gradient_scaling.h"

#include <algorithm>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

namespace {

// A block has a room of words and flags, so there are not too many; enough to keep a GPU busy.
constexpr std::int64_t cuda_block_numel = 65'536;
constexpr std::int64_t blocks_max = 512;

// The same on every rank: flags and words are reduced block by block.
int blocks_for_shards(Layout const& layout) {
  std::int64_t numel = 0;
  for (Bucket const& bucket : layout.buckets()) numel += bucket.own.largest_states_numel;
  std::int64_t const blocks = (numel + cuda_block_numel - 1) / cuda_block_numel;
  return static_cast<int>(std::clamp<std::int64_t>(blocks, 1, blocks_max));
}

std::int64_t words_of(int blocks) {
  return std::int64_t{blocks} * word_count;
}

}  // namespace

GradientScaling::GradientScaling(Parts const& parts, Settings const& settings)
    : parts_(parts),
      loss_scale_(settings.loss_scale),
      max_norm_(settings.max_norm),
      capturable_(settings.capturable),
      blocks_(blocks_for_shards(parts.layout)) {
  if (max_norm_ || looks()) ensure_buffers();
}

GradientScaling::Rooms GradientScaling::rooms() const {
  Rooms rooms;
  rooms.state = device_.as<ScalingState>();
  rooms.words = reinterpret_cast<Word*>(rooms.state + 1);
  rooms.summed_words = rooms.words + words_of(blocks_);
  rooms.flags = reinterpret_cast<std::int32_t*>(rooms.summed_words + words_of(blocks_));
  rooms.joined_flags = rooms.flags + blocks_;
  return rooms;
}

std::size_t GradientScaling::device_bytes() const {
  auto const blocks = static_cast<std::size_t>(blocks_);
  return sizeof(ScalingState) + blocks * 2 * (word_count * sizeof(Word) + sizeof(std::int32_t));
}

void GradientScaling::ensure_buffers() {
  if (device_) return;
  Stream const& compute = parts_.streams.compute;
  device_ = DeviceBuffer(parts_.ledger, Purpose::scaling, device_bytes(), compute);
  copy_.emplace(parts_.ledger, Purpose::scaling, sizeof(ScalingState));
  zero_async(device_, 0, device_.bytes(), compute);
  launch_new_scale(loss_scale_, rooms().state, compute);
  if (capturable_) launch_forget_norm(rooms().state, compute);  // C4
  if (max_norm_) launch_max_norm(*max_norm_, rooms().state, compute);
}

void GradientScaling::set_max_norm(std::optional<float> max_norm) {
  max_norm_ = max_norm;
  if (!max_norm) return;
  if (!device_) return ensure_buffers();
  launch_max_norm(*max_norm, rooms().state, parts_.streams.compute);
}

void GradientScaling::set_loss_scale(LossScale const& loss_scale) {
  loss_scale_ = loss_scale;
  bool const fresh = !device_;
  if (fresh && looks()) return ensure_buffers();
  if (!fresh) launch_new_scale(loss_scale_, rooms().state, parts_.streams.compute);
}

// What a step is handed: the gradient, or the cast copy of it.
std::vector<GradientPart> GradientScaling::parts_of(Tensors const& tensors) const {
  std::vector<GradientPart> parts;
  for (int p = 0; p < parts_.layout.parameter_count(); ++p) {
    ParameterLayout const& layout = parts_.layout[p];
    if (!tensors.has_gradient(p) || layout.stepped_numel() == 0) continue;
    bool const cast = layout.format(TensorKind::cast_gradient).has_value();
    auto const kind = cast ? TensorKind::cast_gradient : TensorKind::gradient;
    parts.push_back({.values = {tensors.at(kind, p), layout.format(kind).value()},
                     .numel = layout.stepped_numel()});
  }
  return parts;
}

template <typename Collective>
void GradientScaling::over_ranks(Collective collective) {
  order(parts_.streams.compute, forked_, parts_.streams.comm);
  collective(parts_.streams.comm);
  order(parts_.streams.comm, joined_, parts_.streams.compute);
}

void GradientScaling::clip(Tensors const& tensors) {
  ADAMANT_REAL_ASSERT(max_norm_.has_value());
  Stream const& compute = parts_.streams.compute;
  Rooms const room = rooms();
  launch_squares(parts_of(tensors),
                 {.words = room.words, .inverse = &room.state->inverse, .blocks = blocks_},
                 compute);
  over_ranks([&](Stream const& comm) {
    parts_.communicator.all_reduce_sum(reinterpret_cast<std::int64_t const*>(room.words),
                                       reinterpret_cast<std::int64_t*>(room.summed_words),
                                       words_of(blocks_), comm);
  });
  launch_norm({.words = room.summed_words, .blocks = blocks_}, room.state, compute);
  clipped_ = true;
}

void GradientScaling::gradients_changed() {
  clipped_ = false;
  if (capturable_ && device_) launch_forget_norm(rooms().state, parts_.streams.compute);
}

void GradientScaling::look(Tensors const& tensors) {
  ADAMANT_REAL_ASSERT(looks());
  Stream const& compute = parts_.streams.compute;
  Rooms const room = rooms();
  launch_look(parts_of(tensors), blocks_, room.flags, compute);
  over_ranks([&](Stream const& comm) {
    parts_.communicator.all_reduce_max(room.flags, room.joined_flags, blocks_, comm);
  });
  auto const blocks = static_cast<std::size_t>(blocks_);
  launch_decide({room.joined_flags, blocks}, room.state, compute);
}

std::int32_t const* GradientScaling::skip() const {
  return looks() ? &rooms().state->overflowed : nullptr;
}

ScalingState GradientScaling::read_state() {
  ADAMANT_TRY(cudaMemcpyAsync(copy_->as<void>(), rooms().state, sizeof(ScalingState),
                              cudaMemcpyDeviceToHost, parts_.streams.compute.get()));
  arrived_.record(parts_.streams.compute);
  arrived_.synchronize();  // C3
  return *copy_->as<ScalingState>();
}

CpuFactors GradientScaling::read_factors() {
  if (inverse() == nullptr && coefficient() == nullptr) return {};
  ScalingState const state = read_state();
  CpuFactors factors;
  if (inverse() != nullptr) factors.inverse = state.applied;
  if (coefficient() == nullptr) return factors;
  factors.coefficient = state.coefficient;
  return factors;
}

float const* GradientScaling::loss_scale() const {
  return looks() ? &rooms().state->scale : nullptr;
}

float const* GradientScaling::inverse() const {
  return looks() ? &rooms().state->applied : nullptr;
}

float const* GradientScaling::coefficient() const {
  bool const there = capturable_ ? static_cast<bool>(device_) : clipped_;
  return there ? &rooms().state->coefficient : nullptr;
}

SavedScaling GradientScaling::save() {
  SavedScaling saved = {.loss_scale = loss_scale_, .max_norm = max_norm_};
  if (!looks()) return saved;
  ScalingState const state = read_state();
  saved.scale = state.scale;
  saved.growth_tracker = state.growth_tracker;
  saved.hysteresis = state.hysteresis;
  return saved;
}

void GradientScaling::restore(SavedScaling const& saved) {
  set_loss_scale(saved.loss_scale);
  if (looks()) launch_resumed_scale(saved, rooms().state, parts_.streams.compute);
  set_max_norm(saved.max_norm);
}

ScalingState const* GradientScaling::state() const {
  return device_.as<ScalingState>();
}

}  // namespace adamant::real
