// Save and load: what an engine has to say about itself, and what it makes of what it is told.
#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/engine/sharded_adam.h"

namespace adamant::real {

// Host code is about to read or write what is in host memory: nothing may still be on its way.
CheckpointState ShardedAdam::checkpoint_state() {
  for (Stream const* stream : all_streams()) stream->synchronize();
  CheckpointState state = describe_engine(
      names(), [this](int parameter, TensorKind kind) { return placed(parameter, kind); }, step_);
  state.progress.numbers = numbers_of(scaling_.save());
  state.write_scale = [this](int parameter, TensorKind kind, float scale) {
    scales_.write(parameter, kind, scale);
  };
  state.write_scales = [this](int parameter, QuantisedScales const& scales) {
    quantised_.write(parameter, scales);
  };
  return state;
}

void ShardedAdam::save(Storage& storage, std::string const& directory) {
  expect_state();
  attempt([&] {
    Agreement agreement(communicators_.world(), ledger_, streams_.compute, where_);
    save_checkpoint(place(storage, directory, agreement), checkpoint_state());
  });
}

LoadReport ShardedAdam::load(Storage& storage, std::string const& directory,
                             LoadOptions const& options) {
  ADAMANT_REAL_ASSERT(options.may_round.empty() || options.may_round.size() == parameters_.size());
  Loaded loaded;
  attempt([&] {
    Agreement agreement(communicators_.world(), ledger_, streams_.compute, where_);
    loaded =
        load_checkpoint(place(storage, directory, agreement), checkpoint_state(), options, [&] {
          has_state_ = false;
          tensors_.drop_gradients();
          scaling_.gradients_changed();
        });
    follow_loaded_shards();
    for (int const parameter : loaded.quantise) start_quantised(parameter);
    scaling_.restore(scaling_of(loaded.progress.numbers));
  });
  restore_progress(names(), loaded.progress, step_);
  has_state_ = true;
  return {.notes = std::move(loaded.notes)};
}

void ShardedAdam::follow_loaded_shards() {
  if (states_) states_->note_written();
  if (!hybrid_) return;
  for (int p = 0; p < layout_.parameter_count(); ++p) {
    auto const main = layout_[p].formats.main;
    bool const is_part_of_weight = !main || *main == NumberFormat::remainder;
    if (is_part_of_weight && layout_[p].stepped_numel() > 0)
      hybrid_->write_weights(p, download_stepped(p));
  }
}

std::vector<float> ShardedAdam::download_stepped(int parameter) {
  NumberFormat const format = layout_[parameter].formats.parameter;
  std::byte const* const from = tensors_.stepped_at(TensorKind::parameter, parameter);
  auto const numel = static_cast<std::size_t>(layout_[parameter].stepped_numel());
  std::vector<std::byte> bytes(numel * bytes_of(format));
  ADAMANT_TRY(cudaMemcpyAsync(bytes.data(), from, bytes.size(), cudaMemcpyDeviceToHost,
                              streams_.compute.get()));
  streams_.compute.synchronize();
  return decoded(bytes, format);
}

}  // namespace adamant::real
