// The engine behind the door real/engine.h: shards, collectives and steps put together. All device
// work of a verb ends in the order of the compute stream, so verbs need no events between them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/engine_state.h"
#include "real/checkpoint/load.h"
#include "real/comm/across_replicas.h"
#include "real/comm/backward_pass.h"
#include "real/comm/mesh_communicators.h"
#include "real/engine.h"
#include "real/graph/iteration.h"
#include "real/offload/hybrid_step.h"
#include "real/offload/split.h"
#include "real/offload/state_offload.h"
#include "real/quantise/quantised_parameters.h"
#include "real/scale/gradient_scaling.h"
#include "real/step/adam_step.h"
#include "real/step/state_scales.h"

namespace adamant::real {

class ShardedAdam final : public Engine {
 public:
  ShardedAdam(EngineConfig const& config, GradientSource& source);
  ~ShardedAdam() override;

  void write_parameter(int parameter, std::span<float const> values) override;
  void backward(std::span<int const> without) override;
  void clip() override {
    expect_state();
    attempt([&] { scaling_.clip(tensors_); });
  }
  void step() override;
  void capture(std::span<Verb const> verbs) override;
  void replay() override;
  bool has_graph() const override { return iteration_.has_value(); }
  void zero_grad(bool set_to_none) override;
  void offload() override;
  void reload() override;
  void set_group(int group, AdamConfig const& config) override {
    expect_state();
    attempt([&] { step_.set_group(group, config); });
  }
  AdamConfig group(int group) const override { return step_.group(group); }
  void save(Storage& storage, std::string const& directory) override;
  LoadReport load(Storage& storage, std::string const& directory,
                  LoadOptions const& options) override;
  bool has_state() const override { return has_state_; }
  void set_loss_scale(LossScale const& loss_scale) override {
    expect_state();
    attempt([&] { scaling_.set_loss_scale(loss_scale); });
  }
  void set_max_norm(std::optional<float> max_norm) override {
    expect_state();
    attempt([&] { scaling_.set_max_norm(max_norm); });
  }
  void synchronize() override;

  ShardView shard(int parameter, TensorKind kind) const override {
    ShardView view = placed(parameter, kind);
    if (!has_state_) {
      view.data = view.tail = nullptr;
      view.quantised.reset();
    }
    return view;
  }
  bool has_gradient(int parameter) const override { return tensors_.has_gradient(parameter); }
  std::int64_t step_count(int parameter) const override {
    std::int64_t count = 0;
    attempt([&] { count = step_.steps(parameter); });
    return count;
  }
  StepCountView step_count_view(int parameter) const override {
    return step_.steps_view(parameter);
  }

  ScalingView scaling() const override {
    return {.state = scaling_.state(),
            .looks = scaling_.looks(),
            .clipped = scaling_.coefficient() != nullptr,
            .max_norm = scaling_.max_norm()};
  }

  std::vector<Buffer> buffers() const override { return ledger_.buffers(); }
  std::size_t peak_bytes(Purpose purpose) const override { return ledger_.peak_bytes(purpose); }
  std::size_t peak_bytes(Purpose purpose, bool on_host) const override {
    return ledger_.peak_bytes(purpose, on_host);
  }
  std::vector<NamedStream> streams() const override;

 private:
  void step_eagerly();
  void step_on_device();
  void run_step();
  void upload(std::byte* to, std::span<std::byte const> from);
  void run_backward(std::span<int const> without, int sequence);
  void run_zero_grad(bool set_to_none);
  void gradients_changed();
  void record();
  void perform(Verb const& verb, int sequence);

  /// Remembers that a verb failed: from then on the other ranks are somewhere else.
  template <typename Verb>
  void attempt(Verb verb) const {
    try {
      verb();
    } catch (StorageError const&) {  // these two reach all ranks alike, which stay in step
      throw;
    } catch (CheckpointError const&) {
      throw;
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  ShardView placed(int parameter, TensorKind kind) const {
    ShardView view = tensors_.view(kind, parameter);
    view.scale = scales_.at(parameter, kind);
    if (kind == TensorKind::parameter && layout_[parameter].quantised) {
      view.data = nullptr;
      view.quantised = quantised_.view(parameter);
      return view;
    }
    if (hybrid_) return hybrid_->placed(view, kind, parameter);
    return states_ ? states_->placed(view, kind, parameter) : view;
  }

  void expect_state() const {
    if (!has_state_)
      throw NoStateError("the engine holds no state since a load failed; only load is allowed");
  }
  EngineNames names() const { return {parameters_, group_names_, step_counter_}; }
  CheckpointState checkpoint_state();
  CheckpointPlace place(Storage& storage, std::string const& directory, Agreement& agreement) {
    return {storage,          directory, agreement,    ledger_,
            streams_.compute, where_,    piece_bytes_, layout_.where().mesh};
  }
  /// Tells those who keep something of their own beside the shards that these are others now.
  void follow_loaded_shards();
  std::vector<float> download_stepped(int parameter);

  /// Every stream that there is.
  std::vector<Stream const*> all_streams() const;
  StateOffload::Parts state_parts();
  QuantisedParameters::Parts quantised_parts();
  AdamStep::Parts step_parts();
  BackwardParts backward_parts(EngineConfig const& config, GradientSource& source);
  /// What the configuration takes off the device.
  void make_offload(EngineConfig const& config);
  /// The main weight becomes what the parameter can hold of a whole tensor; waits.
  void write_main(int parameter, std::span<float const> values);
  /// The main weight becomes the values themselves, and codes are made of it; waits.
  void write_quantised(int parameter, std::span<float const> values);
  /// Makes codes of a main weight that was not stepped but written; waits.
  void start_quantised(int parameter);
  /// Writes this rank's part of a state wherever it is; waits.
  void write_state(int parameter, TensorKind kind, std::span<std::byte const> from);

  int const exceptions_at_birth_;
  std::vector<ParameterSpec> const parameters_;
  std::vector<std::string> const group_names_;
  StepCounter const step_counter_;
  RankOfWorld const where_;
  std::size_t const piece_bytes_;

  // In the order in which they are made; destroyed the other way round, buffers before streams, and
  // the graph before the communicators of its calls.
  Layout layout_;
  Split split_;
  Ledger ledger_;
  Streams streams_;
  std::unique_ptr<OffloadStreams> copies_;  // where anything is offloaded
  MeshCommunicators communicators_;
  Tensors tensors_;
  GradientScaling scaling_;
  StateScales scales_;
  QuantisedParameters quantised_;
  AdamStep step_;
  AcrossReplicas across_;
  BackwardPass backward_;
  std::unique_ptr<StateOffload> states_;
  bool leaves_after_step_;
  NoWorkers no_workers_;
  std::unique_ptr<HybridStep> hybrid_;
  bool capturable_;
  std::optional<Iteration> iteration_;  // what was captured
  mutable bool failed_ = false;         // whoever asks for a counter may wait for the device
  bool has_state_ = true;
};

}  // namespace adamant::real
