// Verbs that are executed at once.
#include <cstring>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/cuda/state_numbers.h"
#include "real/engine/sharded_adam.h"

namespace adamant::real {

void ShardedAdam::write_parameter(int parameter, std::span<float const> values) {
  ParameterLayout const& layout = layout_[parameter];
  ADAMANT_REAL_ASSERT(static_cast<std::int64_t>(values.size()) == layout.numel);
  expect_state();
  attempt([&] {
    if (layout.quantised) return write_quantised(parameter, values);
    Formats const& formats = layout.formats;
    if (formats.main) write_main(parameter, values);
    if (layout.held_numel() == 0) return;
    std::vector<float> const own = elements_of(values, {&layout.held, 1});
    std::byte* const to = tensors_.at(TensorKind::parameter, parameter);
    if (formats.parameter == NumberFormat::fp32)
      upload(to, std::as_bytes(std::span(own)));
    else
      upload(to, encoded(own, formats.parameter));
    if (hybrid_)
      hybrid_->write_weights(parameter,
                             rounded(elements_of(values, {&layout.stepped, 1}), formats.parameter));
  });
}

// What has no elements here may have a scale all the same: that of the whole tensor.
void ShardedAdam::write_main(int parameter, std::span<float const> values) {
  ParameterLayout const& layout = layout_[parameter];
  Formats const& formats = layout.formats;
  std::vector<float> const own =
      rounded(elements_of(values, {&layout.stepped, 1}), formats.parameter);
  float scale = 1;
  if (has_scale(TensorKind::main, *formats.main)) {
    bool const local = formats.state_scale == StateScale::local;
    scale = scale_for(amax_of(local ? own : rounded(values, formats.parameter)), *formats.main);
    scales_.write(parameter, TensorKind::main, scale);
  }
  if (!own.empty()) write_state(parameter, TensorKind::main, encoded(own, *formats.main, scale));
}

void ShardedAdam::write_quantised(int parameter, std::span<float const> values) {
  std::vector<float> const own = elements_of(values, {&layout_[parameter].stepped, 1});
  if (!own.empty()) write_state(parameter, TensorKind::main, std::as_bytes(std::span(own)));
  start_quantised(parameter);
}

void ShardedAdam::start_quantised(int parameter) {
  if (hybrid_) hybrid_->send_main(parameter);
  quantised_.start(parameter, placed(parameter, TensorKind::main));
  across_.gather_bucket_of(parameter);
  streams_.compute.synchronize();
}

// A state is on the device, in host memory, or in both.
void ShardedAdam::write_state(int parameter, TensorKind kind, std::span<std::byte const> from) {
  ShardView const view = shard(parameter, kind);
  if (states_) states_->wait_until_away();
  std::size_t const tail_bytes = static_cast<std::size_t>(view.tail_numel) * bytes_of(view.format);
  std::size_t const head_bytes = from.size() - tail_bytes;
  if (view.on_host)
    std::memcpy(view.data, from.data(), head_bytes);
  else
    upload(static_cast<std::byte*>(view.data), from.first(head_bytes));
  if (tail_bytes > 0) std::memcpy(view.tail, from.data() + head_bytes, tail_bytes);
}

// Waits: the source is pageable and about to die.
void ShardedAdam::upload(std::byte* to, std::span<std::byte const> from) {
  ADAMANT_TRY(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice,
                              streams_.compute.get()));
  streams_.compute.synchronize();
}

void ShardedAdam::backward(std::span<int const> without) {
  expect_state();
  attempt([&] { run_backward(without, 0); });
}

void ShardedAdam::run_backward(std::span<int const> without, int sequence) {
  std::vector<bool> wanted(static_cast<std::size_t>(layout_.parameter_count()), true);
  for (int const parameter : without) {
    ADAMANT_REAL_ASSERT(parameter >= 0);
    ADAMANT_REAL_ASSERT(parameter < layout_.parameter_count());
    wanted[static_cast<std::size_t>(parameter)] = false;
  }
  backward_.run(wanted, scaling_.loss_scale(), sequence);
  gradients_changed();
}

void ShardedAdam::gradients_changed() {
  scaling_.gradients_changed();
  step_.gradients_changed(tensors_.have_gradients());
}

void ShardedAdam::run_step() {
  GradientFactors const factors = {.inverse = scaling_.inverse(),
                                   .coefficient = scaling_.coefficient()};
  CpuFactors on_host;
  if (hybrid_) on_host = scaling_.read_factors();
  step_.run(tensors_, factors, {.step = hybrid_.get(), .factors = on_host});
  across_.gather();
}

void ShardedAdam::step() {
  expect_state();
  attempt([&] {
    if (states_) states_->bring_back();
    if (capturable_)
      step_on_device();
    else
      step_eagerly();
    if (leaves_after_step_) states_->send_away();
  });
}

// Waits for the verdict, and then does not even launch what would do nothing.
void ShardedAdam::step_eagerly() {
  if (scaling_.looks()) {
    scaling_.look(tensors_);
    if (scaling_.overflowed()) return;
  }
  step_.count(tensors_);
  run_step();
}

void ShardedAdam::zero_grad(bool set_to_none) {
  expect_state();
  attempt([&] { run_zero_grad(set_to_none); });
}

void ShardedAdam::run_zero_grad(bool set_to_none) {
  if (set_to_none)
    tensors_.drop_gradients();
  else
    tensors_.zero_gradients();
  gradients_changed();
}

void ShardedAdam::synchronize() {
  attempt([&] {
    for (Stream const* stream : all_streams()) stream->synchronize();
  });
}

void ShardedAdam::offload() {
  expect_state();
  ADAMANT_REAL_ASSERT(hybrid_ == nullptr);
  attempt([&] {
    if (!states_) {
      copies_ = std::make_unique<OffloadStreams>();
      states_ = std::make_unique<StateOffload>(state_parts(), StateOffloadConfig{}, false);
    }
    states_->send_away();
  });
}

void ShardedAdam::reload() {
  expect_state();
  attempt([&] {
    if (states_) states_->bring_back();
  });
}

StateOffload::Parts ShardedAdam::state_parts() {
  return {.layout = layout_,
          .tensors = tensors_,
          .ledger = ledger_,
          .streams = streams_,
          .copies = *copies_};
}

std::vector<Stream const*> ShardedAdam::all_streams() const {
  std::vector<Stream const*> all = {&streams_.copy, &streams_.comm, &streams_.compute};
  if (copies_) all.insert(all.end(), {&copies_->down, &copies_->up});
  return all;
}

std::vector<NamedStream> ShardedAdam::streams() const {
  std::vector<NamedStream> named = {{streams_.compute.get(), "compute"},
                                    {streams_.comm.get(), "comm"},
                                    {streams_.copy.get(), "copy"}};
  if (copies_) {
    named.push_back({copies_->down.get(), "down"});
    named.push_back({copies_->up.get(), "up"});
  }
  return named;
}

}  // namespace adamant::real
