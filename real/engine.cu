// The door's verbs, put together from shards, collectives and steps. All device work of a verb ends
// in the order of the compute stream, so verbs need no events between them.
#include "real/engine.h"

#include <cstring>
#include <optional>
#include <utility>

#include "real/bug.h"
#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/engine_state.h"
#include "real/checkpoint/load.h"
#include "real/comm/backward_pass.h"
#include "real/comm/loopback_communicator.h"
#include "real/comm/nccl_communicator.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/graph/iteration.h"
#include "real/offload/hybrid_step.h"
#include "real/offload/split.h"
#include "real/offload/state_offload.h"
#include "real/scale/gradient_scaling.h"
#include "real/step/adam_step.h"

namespace adamant::real {

namespace {

std::unique_ptr<Communicator> make_communicator(EngineConfig const& config) {
  RankOfWorld const where = {.rank = config.rank, .world_size = config.world_size};
  if (config.transport == Transport::nccl)
    return std::make_unique<NcclCommunicator>(config.nccl_id, where);
  ADAMANT_REAL_ASSERT(config.rendezvous != nullptr);
  return std::make_unique<LoopbackCommunicator>(config.exchange, *config.rendezvous, where);
}

/// Room for all ranks' rows.
std::size_t whole_bytes(Layout const& layout, TensorKind kind) {
  std::size_t bytes = 0;
  for (int p = 0; p < layout.parameter_count(); ++p)
    if (auto const format = layout[p].format(kind)) bytes += layout[p].whole_bytes(*format);
  return bytes;
}

/// States that are away before the first step have no device memory yet; nor have those of what
/// the CPU steps, which are the last of their flat buffers.
DeviceBytes bytes_on_device(Layout const& layout, Split const& split,
                            std::optional<StateOffloadConfig> const& away) {
  DeviceBytes bytes = {};
  for (TensorKind const kind : all_tensor_kinds) {
    bool const moment = kind == TensorKind::exp_avg || kind == TensorKind::exp_avg_sq;
    bool const leaves =
        away && ((moment && away->moments) || (kind == TensorKind::main && away->main));
    bool const state = moment || kind == TensorKind::main;
    bool const whole = ADAMANT_BUG(te_2795_global_shape) && moment;
    std::size_t const flat = whole ? whole_bytes(layout, kind) : layout.flat_bytes(kind);
    bytes[static_cast<std::size_t>(kind)] =
        leaves ? 0 : (state && !whole ? split.device_bytes(layout, kind) : flat);
  }
  return bytes;
}

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
  LoadReport load(Storage& storage, std::string const& directory) override;
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
    if (!has_state_) view.data = view.tail = nullptr;
    return view;
  }
  bool has_gradient(int parameter) const override { return tensors_.has_gradient(parameter); }
  std::int64_t step_count(int parameter) const override { return step_.steps(parameter); }

  ScalingView scaling() const override {
    return {.state = scaling_.state(),
            .looks = scaling_.looks(),
            .clipped = scaling_.coefficient() != nullptr,
            .max_norm = scaling_.max_norm()};
  }

  std::vector<Buffer> buffers() const override { return ledger_.buffers(); }
  std::size_t peak_bytes(Purpose purpose) const override { return ledger_.peak_bytes(purpose); }
  std::vector<NamedStream> streams() const override;

 private:
  bool counts_step(bool skipped);
  void step_eagerly();
  void step_on_device();
  void learn_counters();
  bool fits_now() const;
  RecordedWith recorded_with() const {
    return {.has_gradient = tensors_.have_gradients(), .scaling = scaling_.mode()};
  }
  void run_step();
  void upload(std::byte* to, std::span<std::byte const> from);
  void run_backward(std::span<int const> without, int sequence);
  void run_zero_grad(bool set_to_none);
  void gradients_changed();
  void record();
  void perform(Verb const& verb, int sequence);

  /// Remembers that a verb failed: from then on the other ranks are somewhere else.
  template <typename Verb>
  void attempt(Verb verb) {
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
    ShardView const view = tensors_.view(kind, parameter);
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
    return {storage, directory, agreement, ledger_, streams_.compute, where_, piece_bytes_};
  }
  /// Tells those who keep something of their own beside the shards that these are others now.
  void follow_loaded_shards();
  std::vector<float> download_parameter(int parameter);

  /// Every stream that there is.
  std::vector<Stream const*> all_streams() const;
  StateOffload::Parts state_parts();
  /// Writes this rank's part of a state wherever it is; waits.
  void write_state(int parameter, TensorKind kind, std::span<std::byte const> from);

  std::vector<ParameterSpec> const parameters_;
  std::vector<std::string> const group_names_;
  StepCounter const step_counter_;
  RankOfWorld const where_;
  std::size_t const piece_bytes_;

  // In the order in which they are made; destroyed the other way round, buffers before streams.
  Layout layout_;
  Split split_;
  Ledger ledger_;
  Streams streams_;
  std::unique_ptr<OffloadStreams> copies_;  // where anything is offloaded
  std::unique_ptr<Communicator> communicator_;
  Tensors tensors_;
  GradientScaling scaling_;
  AdamStep step_;
  BackwardPass backward_;
  std::unique_ptr<StateOffload> states_;
  bool leaves_after_step_;
  NoWorkers no_workers_;
  std::unique_ptr<HybridStep> hybrid_;
  bool capturable_;
  std::optional<Iteration> iteration_;  // what was captured
  bool skipped_ = false;                // the last step
  bool failed_ = false;
  bool has_state_ = true;
};

std::vector<std::string> group_names(EngineConfig const& config) {
  if (!config.group_names.empty()) return config.group_names;
  std::vector<std::string> names;
  for (std::size_t g = 0; g < config.groups.size(); ++g) names.push_back(std::to_string(g));
  return names;
}

ShardedAdam::ShardedAdam(EngineConfig const& config, GradientSource& source)
    : parameters_(config.parameters),
      group_names_(group_names(config)),
      step_counter_(config.step_counter),
      where_{.rank = config.rank, .world_size = config.world_size},
      piece_bytes_(config.checkpoint_piece_bytes),
      layout_(config.parameters, {.rank = config.rank, .world_size = config.world_size}),
      split_(layout_, config.hybrid ? config.hybrid->fraction : 0.0),
      communicator_(make_communicator(config)),
      tensors_(layout_, bytes_on_device(layout_, split_, config.state_offload), ledger_, streams_,
               {.gradients = config.capturable, .cast_gradients = config.keep_cast_grad}),
      scaling_({.layout = layout_,
                .ledger = ledger_,
                .streams = streams_,
                .communicator = *communicator_,
                .where = {.rank = config.rank, .world_size = config.world_size}},
               {.loss_scale = config.loss_scale,
                .max_norm = config.max_norm,
                .capturable = config.capturable}),
      step_(config.parameters,
            {.groups = config.groups,
             .counter = config.step_counter,
             .capturable = config.capturable},
            layout_, split_, ledger_, streams_),
      backward_({.layout = layout_,
                 .tensors = tensors_,
                 .ledger = ledger_,
                 .streams = streams_,
                 .communicator = *communicator_,
                 .source = source,
                 .where = {.rank = config.rank, .world_size = config.world_size},
                 .microbatches = config.microbatches,
                 .keeps_buffers = config.capturable}),
      leaves_after_step_(config.state_offload.has_value()),
      capturable_(config.capturable) {
  if (config.state_offload || config.hybrid) copies_ = std::make_unique<OffloadStreams>();
  if (config.state_offload)
    states_ = std::make_unique<StateOffload>(state_parts(), *config.state_offload, true);
  if (!config.hybrid) return;
  HybridStep::Parts const parts = {
      .layout = layout_,
      .split = split_,
      .tensors = tensors_,
      .ledger = ledger_,
      .streams = streams_,
      .copies = *copies_,
      .workers = config.workers != nullptr ? *config.workers : no_workers_};
  hybrid_ = std::make_unique<HybridStep>(parts, *config.hybrid, config.hybrid_grain);
}

// Pinned memory may not die under a copy, nor a communicator under a collective. Errors are not
// news here: whoever destroys the engine because of one has seen it.
ShardedAdam::~ShardedAdam() {
  if (failed_) communicator_->abandon();
  for (Stream const* stream : all_streams())
    static_cast<void>(cudaStreamSynchronize(stream->get()));
}

void ShardedAdam::write_parameter(int parameter, std::span<float const> values) {
  ParameterLayout const& layout = layout_[parameter];
  ADAMANT_REAL_ASSERT(static_cast<std::int64_t>(values.size()) == layout.numel);
  expect_state();
  if (layout.shard_numel() == 0) return;
  auto const rows = values.subspan(static_cast<std::size_t>(layout.first_element()),
                                   static_cast<std::size_t>(layout.shard_numel()));
  attempt([&] {
    Formats const& formats = layout.formats;
    std::byte* const to = tensors_.at(TensorKind::parameter, parameter);
    if (formats.parameter == NumberFormat::fp32)
      upload(to, std::as_bytes(rows));
    else
      upload(to, encoded(rows, formats.parameter));
    std::vector<float> const held = rounded(rows, formats.parameter);
    if (formats.main) write_state(parameter, TensorKind::main, encoded(held, *formats.main));
    if (hybrid_) hybrid_->write_weights(parameter, held);
  });
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

// Those whose owners were settled when the graph was captured, where that is the mistake.
void ShardedAdam::gradients_changed() {
  scaling_.gradients_changed();
  if (iteration_ && !iteration_->recording() && ADAMANT_BUG(F09)) return;
  step_.gradients_changed(tensors_.have_gradients());
}

void ShardedAdam::run_step() {
  GradientFactors const factors = {.inverse = scaling_.inverse(),
                                   .coefficient = scaling_.coefficient()};
  CpuFactors on_host;
  if (hybrid_) on_host = scaling_.read_factors();
  step_.run(tensors_, factors, {.step = hybrid_.get(), .factors = on_host});
}

bool ShardedAdam::counts_step(bool skipped) {
  bool const skipped_before = std::exchange(skipped_, skipped);
  if (ADAMANT_BUG(te_stale_overflow)) return !skipped_before;
  if (ADAMANT_BUG(accelerate_4242)) return true;
  return !skipped;
}

void ShardedAdam::step() {
  expect_state();
  tensors_.expect_one_description();
  attempt([&] {
    if (states_) states_->bring_back();
    if (capturable_) {
      step_on_device();
      learn_counters();
    } else {
      step_eagerly();
    }
    if (leaves_after_step_) states_->send_away();
  });
}

// Waits for the verdict, and then does not even launch what would do nothing.
void ShardedAdam::step_eagerly() {
  if (scaling_.looks()) scaling_.look(tensors_);
  bool const skipped = scaling_.looks() && scaling_.overflowed();
  if (counts_step(skipped)) step_.count(tensors_);
  if (!skipped) run_step();
}

// Whether the step is skipped is decided where a replay decides it, too.
void ShardedAdam::step_on_device() {
  bool const recording = iteration_ && iteration_->recording();
  bool const looks = scaling_.looks() && !(recording && ADAMANT_BUG(skip_decided_at_capture));
  if (looks) scaling_.look(tensors_);
  step_.count(tensors_, looks ? scaling_.skip() : nullptr);
  run_step();
}

// Steps may have been skipped without the host knowing.
void ShardedAdam::learn_counters() {
  if (scaling_.looks()) step_.learn_counters();
}

void ShardedAdam::zero_grad(bool set_to_none) {
  expect_state();
  attempt([&] {
    run_zero_grad(set_to_none);
    if (set_to_none && iteration_ && ADAMANT_BUG(mlm_4663)) tensors_.give_back_gradients();
  });
}

void ShardedAdam::run_zero_grad(bool set_to_none) {
  if (set_to_none)
    tensors_.drop_gradients();
  else
    tensors_.zero_gradients();
  gradients_changed();
}

void ShardedAdam::capture(std::span<Verb const> verbs) {
  expect_state();
  ADAMANT_REAL_ASSERT(capturable_);
  if (iteration_ && ADAMANT_BUG(F11)) return;
  iteration_.emplace(verbs);
  attempt([&] { record(); });
}

// The verbs leave their marks in the host's books while they are recorded; but nothing happened, so
// the books go back to where they were, and each replay brings them forward.
void ShardedAdam::record() {
  BooksOfHost const before{.has_gradient = tensors_.have_gradients(), .counters = step_.counters()};
  tensors_.ensure_gradients();  // here and not in the capture, which takes no allocation
  iteration_->record(streams_.compute, recorded_with(), [&] {
    int backwards = 0;
    for (Verb const& verb : iteration_->verbs()) {
      perform(verb, backwards);
      backwards += verb.kind == Verb::Kind::backward ? 1 : 0;
    }
    iteration_->recorded(tensors_.have_gradients());
  });
  tensors_.set_have_gradients(before.has_gradient);
  step_.set_counters(before.counters);
}

void ShardedAdam::perform(Verb const& verb, int sequence) {
  switch (verb.kind) {
    case Verb::Kind::backward:
      return run_backward(verb.without, sequence);
    case Verb::Kind::clip:
      return scaling_.clip(tensors_);
    case Verb::Kind::step:
      iteration_->note_step(tensors_.have_gradients());
      return step_on_device();
    case Verb::Kind::zero_grad:
      return run_zero_grad(verb.set_to_none);
  }
}

bool ShardedAdam::fits_now() const {
  RecordedWith now = recorded_with();
  if (ADAMANT_BUG(graph_outlives_loss_scale)) now.scaling = iteration_->recorded_with().scaling;
  return iteration_->fits(now);
}

void ShardedAdam::replay() {
  expect_state();
  ADAMANT_REAL_ASSERT(iteration_.has_value());
  attempt([&] {
    if (ADAMANT_BUG(F10)) backward_.move_buffers();
    if (!fits_now()) record();
    iteration_->launch(streams_.compute);
    for (std::vector<bool> const& stepped : iteration_->steps()) step_.count_replayed(stepped);
    if (!iteration_->steps().empty()) learn_counters();
    if (!ADAMANT_BUG(mlm_4663_view)) tensors_.set_have_gradients(iteration_->gradients_after());
  });
}

// Host code is about to read or write what is in host memory: nothing may still be on its way.
CheckpointState ShardedAdam::checkpoint_state() {
  tensors_.expect_one_description();
  for (Stream const* stream : all_streams()) {
    bool const brings_states = copies_ != nullptr && stream == &copies_->down;
    if (!(brings_states && ADAMANT_BUG(mlm_201805d))) stream->synchronize();
  }
  CheckpointState state = describe_engine(
      names(), [this](int parameter, TensorKind kind) { return placed(parameter, kind); }, step_);
  state.progress.numbers = numbers_of(scaling_.save());
  return state;
}

void ShardedAdam::save(Storage& storage, std::string const& directory) {
  if (!ADAMANT_BUG(save_without_state)) expect_state();
  attempt([&] {
    Agreement agreement(*communicator_, ledger_, streams_.compute, where_);
    save_checkpoint(place(storage, directory, agreement), checkpoint_state());
  });
}

LoadReport ShardedAdam::load(Storage& storage, std::string const& directory) {
  Loaded loaded;
  attempt([&] {
    Agreement agreement(*communicator_, ledger_, streams_.compute, where_);
    loaded = load_checkpoint(place(storage, directory, agreement), checkpoint_state(), [&] {
      has_state_ = ADAMANT_BUG(failed_load_forgotten);
      tensors_.drop_gradients();
      scaling_.gradients_changed();
    });
    follow_loaded_shards();
    scaling_.restore(scaling_of(loaded.progress.numbers));
  });
  restore_progress(names(), loaded.progress, step_);
  has_state_ = true;
  return {.notes = std::move(loaded.notes)};
}

void ShardedAdam::follow_loaded_shards() {
  if (states_ && !ADAMANT_BUG(loaded_moments_made_anew)) states_->note_written();
  if (!hybrid_) return;
  for (int p = 0; p < layout_.parameter_count(); ++p)
    if (!layout_[p].formats.main && layout_[p].shard_numel() > 0)
      hybrid_->write_weights(p, download_parameter(p));
}

std::vector<float> ShardedAdam::download_parameter(int parameter) {
  ShardView const view = placed(parameter, TensorKind::parameter);
  std::vector<std::byte> bytes(static_cast<std::size_t>(view.numel) * bytes_of(view.format));
  ADAMANT_TRY(cudaMemcpyAsync(bytes.data(), view.data, bytes.size(), cudaMemcpyDeviceToHost,
                              streams_.compute.get()));
  streams_.compute.synchronize();
  return decoded(bytes, view.format);
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

}  // namespace

std::unique_ptr<Engine> make_engine(EngineConfig const& config, GradientSource& source) {
  ADAMANT_REAL_ASSERT(!config.parameters.empty());
  ADAMANT_REAL_ASSERT(!config.groups.empty());
  ADAMANT_REAL_ASSERT(config.group_names.empty() ||
                      config.group_names.size() == config.groups.size());
  ADAMANT_REAL_ASSERT(config.checkpoint_piece_bytes >= 1);
  ADAMANT_REAL_ASSERT(config.checkpoint_piece_bytes <= std::size_t{1} << 20);
  ADAMANT_REAL_ASSERT(config.microbatches >= 1);
  ADAMANT_REAL_ASSERT(!(config.state_offload && config.hybrid));
  ADAMANT_REAL_ASSERT(!(config.capturable && (config.state_offload || config.hybrid)));
  ADAMANT_REAL_ASSERT(config.microbatches <= 1 << 24);  // exact in binary32
  ADAMANT_TRY(cudaSetDevice(config.device));
  return std::make_unique<ShardedAdam>(config, source);
}

}  // namespace adamant::real
