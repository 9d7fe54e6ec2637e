// The engine's one public door: Adam over sharded parameters, one Engine per rank.
//
// The host program of a rank calls these verbs one after another; all of them only enqueue work on
// the engine's streams unless they say that they wait. The engine knows nothing of scenarios,
// oracles or simulation: it says CUDA and NCCL and cannot tell which implementation answers.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "real/checkpoint/storage.h"
#include "real/offload/workers.h"
#include "real/quantise/quantised_view.h"
#include "real/scale/scaling_state.h"

namespace adamant::real {

/// One parameter of a unit, gathered: the whole tensor, row-major, on this rank's device, each part
/// in its own format; in `fsdp2` from a 16-byte boundary on. `gradient` is null where this backward
/// gives the parameter none.
struct WholeTensor {
  int parameter = 0;
  void const* value = nullptr;
  NumberFormat value_format = NumberFormat::fp32;
  std::optional<QuantisedView> quantised = {};  // in the place of `value`, which then is null
  void* gradient = nullptr;
  NumberFormat gradient_format = NumberFormat::fp32;
  std::int64_t numel = 0;
};

/// What a model's backward pass over one unit is asked for.
struct UnitBackward {
  int unit = 0;
  int microbatch = 0;       // index in the global batch
  bool accumulate = false;  // add to `gradient` instead of overwriting it
  std::span<WholeTensor const> tensors;
  float const* loss_scale = nullptr;  // on the device: what gradients are multiplied by; null: 1
  cudaStream_t stream = nullptr;      // order all work on it
  /// In a capture, how many backwards were recorded before this one; 0 outside.
  int sequence = 0;
};

/// Stands where a model's backward would: given whole parameters, enqueues work on the stream that
/// fills whole gradients of one microbatch.
class GradientSource {
 public:
  virtual ~GradientSource() = default;
  virtual void backward(UnitBackward const& request) = 0;
};

/// A meeting of all ranks of one world, given by the host program: returns when every rank has
/// arrived. The loop-back collectives exchange addresses and events through it.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual void arrive_and_wait(int rank) = 0;
};

/// Who carries the collectives.
enum class Transport {
  nccl,      // one device per rank
  loopback,  // ranks of one process share a device; needs `rendezvous` and `exchange`
};

/// Memory that all ranks of a loop-back world see; opaque to callers. Make one per world.
class LoopbackExchange;
std::shared_ptr<LoopbackExchange> make_loopback_exchange(int world_size);

/// How finely the CPU's part of a step is cut. No bit depends on it.
struct HybridGrain {
  std::int64_t window_numel = 1 << 20;  // copied and stepped as one, where copies overlap
  std::int64_t chunk_numel = 1 << 14;   // at least so many elements for a thread
};

struct EngineConfig {
  int rank = 0;
  Mesh mesh = {};
  int device = 0;
  LayoutKind layout = LayoutKind::fsdp2;
  std::vector<ParameterSpec> parameters;      // in registration order; units without gaps from 0
  std::vector<AdamConfig> groups;             // indexed by ParameterSpec::group
  std::vector<std::string> group_names = {};  // for checkpoints; empty: their numbers
  StepCounter step_counter = StepCounter::group;
  int microbatches = 1;  // of the global batch; of R ranks, r takes r, r + R, …
  LossScale loss_scale = {};
  std::optional<float> max_norm = {};  // what clip() scales to
  /// Everything that a replay needs lives on the device and never moves: settings and counters of
  /// the step, gradients from the beginning on, and the buffers of a backward.
  bool capturable = false;
  bool keep_cast_grad = false;  // cast copies of gradients live as long as the engine

  /// At most one of the two. States leave after each step, and before the first one they are away.
  std::optional<StateOffloadConfig> state_offload;
  std::optional<HybridConfig> hybrid;
  HybridGrain hybrid_grain = {};
  Workers* workers = nullptr;  // for the CPU's part; null: the calling thread. Outlives the engine

  Transport transport = Transport::nccl;
  ncclUniqueId nccl_id = {};                   // nccl: the same on every rank
  Rendezvous* rendezvous = nullptr;            // loopback: outlives the engine
  std::shared_ptr<LoopbackExchange> exchange;  // loopback: the same on every rank

  /// Bytes of a checkpoint's file that are moved at once and share a checksum; at most 1 MiB.
  /// Copies of this size stay in a core's second cache, and the checksum of what was just copied
  /// costs no memory traffic. A load reads a piece whole that it needs a part of: of GPT-2 124M on
  /// 3 ranks instead of 8 that is 5 % more than once, 10 % with pieces of twice the size.
  std::size_t checkpoint_piece_bytes = 128 * 1024;
};

/// A verb of an iteration, to be recorded; see Engine.
struct Verb {
  enum class Kind { backward, clip, step, zero_grad };
  Kind kind = Kind::step;
  std::vector<int> without = {};  // backward
  bool set_to_none = true;        // zero_grad
};

/// A live allocation of the engine.
struct Buffer {
  void const* address = nullptr;
  std::size_t bytes = 0;  // asked for, padding included
  Purpose purpose = Purpose::parameters;
  bool on_host = false;  // pinned host memory
};

/// This rank's elements of one tensor: where they are, one range after the other, how they are
/// stored and which they are. `data` is null where the tensor has no storage now: a gradient after
/// zero_grad, an empty shard, a main weight or a cast gradient that the parameter's formats do not
/// ask for.
///
/// A state that is away, or that the CPU steps, is in host memory. Of a parameter that device and
/// CPU share, the last `tail_numel` elements of a state are at `tail`, in host memory, and only the
/// others at `data`.
///
/// Remainders are of weights whose other halves are at `upper`.
///
/// States in 16-bit and 8-bit floats are worth what is stored times their scale. A quantised
/// parameter has codes and scales, on the device, in the place of `data`; where the shard is empty,
/// the scales alone.
struct ShardView {
  void* data = nullptr;
  bool on_host = false;  // `data`
  void* tail = nullptr;
  std::int64_t tail_numel = 0;
  NumberFormat format = NumberFormat::fp32;
  float const* scale = nullptr;          // one number on the device; null for 1
  std::span<ElementRange const> ranges;  // they ascend and do not overlap; the engine outlives them
  std::int64_t numel = 0;                // of all ranges, without padding
  /// Of remainders: the parameters of the same elements, on the device.
  void* upper = nullptr;
  std::optional<QuantisedView> quantised = {};
};

/// Kinds of one parameter's tensors of which a load may round the numbers, where they were saved in
/// another type than the engine's. Of the others every number has to be kept.
struct MayRound {
  bool parameter = false;
  bool main = false;  // also where it appears or goes
  bool exp_avg = false;
  bool exp_avg_sq = false;
};

struct LoadOptions {
  std::vector<MayRound> may_round = {};  // by parameter; empty: nothing of any
};

/// What a load has to say beside its success.
struct LoadReport {
  std::vector<std::string> notes;  // of what was not in the files, or not looked at
};

/// What the engine knows of loss scale and clipping now.
struct ScalingView {
  ScalingState const* state = nullptr;  // on the device; null where neither was ever asked for
  bool looks = false;                   // for gradients that are not finite
  bool clipped = false;                 // the state's norm and coefficient are of these gradients,
                                        // or 0 and 1
  std::optional<float> max_norm = {};
};

/// A number of steps: `count`, or, where the device alone knows how many were not skipped, what
/// `on_device` points to once all work is done.
struct StepCountView {
  std::int64_t count = 0;
  std::int64_t const* on_device = nullptr;
};

struct NamedStream {
  cudaStream_t stream = nullptr;
  std::string name;
};

/// Adam over this rank's shards.
///
/// Errors: CudaError or NcclError (real/cuda/error.h) when the world refuses; after one the engine
/// may only be destroyed. NoStateError (real/checkpoint/checkpoint_error.h) of all verbs but load
/// and synchronize while the engine holds no state. A misuse of the door asserts.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Copies this rank's shard of a parameter from the host; waits. `values` is the WHOLE tensor,
  /// row-major, of which the engine takes its own part, rounded to the parameter's format. A main
  /// weight becomes equal to the rounded value. Of a quantised parameter the main weight becomes
  /// the value itself, of which codes and scales are made; all ranks call it in the same order.
  virtual void write_parameter(int parameter, std::span<float const> values) = 0;

  /// Gathers parameters and reduces gradients unit by unit, last unit first. The shard of a
  /// gradient becomes (or grows by) the mean over the global batch: the sum of all microbatches,
  /// divided once. Parameters in `without` get no gradient from this call.
  virtual void backward(std::span<int const> without) = 0;

  /// Takes the global norm of all gradients, without their loss scale, and from it what later steps
  /// multiply them by, so that it is at most the maximal norm. The gradients stay as they are; the
  /// factor holds until they change. The same bits on every rank and in every world.
  /// REQUIRES: a maximal norm.
  virtual void clip() = 0;

  /// One optimizer step over every parameter that has a gradient: one kernel, two where states have
  /// scales, and the CPU's part of a hybrid step, for which it waits. Under a loss scale it first
  /// waits for all ranks' word that every gradient is finite; otherwise that scale alone changes.
  virtual void step() = 0;

  /// set_to_none: no parameter has a gradient any more, and the memory is given back. Otherwise
  /// every parameter has a gradient of zeros, at the same address if it had one.
  virtual void zero_grad(bool set_to_none) = 0;

  /// Moments and main weights (those that the configuration names; all where it names none) leave
  /// for pinned memory and their device memory is given back, unless they are away already.
  /// Returns before that is done. REQUIRES: no hybrid step.
  virtual void offload() = 0;
  /// They come back, to other addresses, unless they are there. A step does so by itself.
  virtual void reload() = 0;

  /// Replaces one group's settings; the next step uses them.
  virtual void set_group(int group, AdamConfig const& config) = 0;

  /// The maximal norm of later clips, those in replays included, or none.
  virtual void set_max_norm(std::optional<float> max_norm) = 0;
  /// Gradients of later backwards are multiplied by it. A dynamic scale starts afresh.
  virtual void set_loss_scale(LossScale const& loss_scale) = 0;
  /// Writes a checkpoint of the whole world into `directory`, whose parent exists; all ranks call
  /// it. An older checkpoint there is replaced in one moment, or left whole. Nothing of the engine
  /// changes. Format: real/checkpoint/README.md.
  ///
  /// Stream: returns when the checkpoint survives a crash.
  /// Errors: StorageError, on all ranks; the engine goes on.
  virtual void save(Storage& storage, std::string const& directory) = 0;

  /// Replaces parameters, main weights, moments, step counters, the settings of groups, loss scaler
  /// and norm by those of a checkpoint, whatever the world that saved it; all ranks call it. No
  /// parameter has a gradient afterwards. What is in host memory stays there. Files without
  /// adamant's manifest (PyTorch's) leave settings as they are.
  ///
  /// Formats may be others than those that were saved, main weights come or go: the weight is the
  /// saved main one, or the parameter where there is none.
  ///
  /// Rounding: numbers in the type that the engine has for them keep their bits and scales, where
  ///           the same elements share a scale as did; others are rounded once from their fp32
  ///           values, as a step stores them. Where `options` allow no rounding every number has to
  ///           be kept.
  ///
  ///           A quantised parameter keeps codes, scales and history where the recipe is the same;
  ///           otherwise it is quantised from its main weight, as if it had been written.
  ///
  /// Errors: CheckpointError (real/checkpoint/checkpoint_error.h) or StorageError, the same on all
  ///         ranks. What can be known beforehand is, and then nothing has changed; bytes that turn
  ///         out wrong on the way leave the engine without state, see has_state().
  virtual LoadReport load(Storage& storage, std::string const& directory,
                          LoadOptions const& options) = 0;
  /// The same, and nothing may be rounded.
  LoadReport load(Storage& storage, std::string const& directory) {
    return load(storage, directory, LoadOptions());
  }

  /// False after a load that failed midway, until one succeeds.
  virtual bool has_state() const = 0;

  /// The settings of a group that the next step uses.
  virtual AdamConfig group(int group) const = 0;

  /// Records verbs as a graph, in place of one that was recorded before, and executes nothing.
  /// REQUIRES: a capturable engine, NCCL as transport, and verbs that can_be_captured() allows.
  virtual void capture(std::span<Verb const> verbs) = 0;
  /// Executes what was captured, as the same verbs would now: where a parameter has a gradient that
  /// had none at the capture, or the other way round, or where loss scale or norm have come or gone
  /// since, the verbs are captured anew before. It waits for nothing, as no step of a capturable
  /// engine does.
  virtual void replay() = 0;
  virtual bool has_graph() const = 0;

  /// Waits until everything enqueued is done.
  virtual void synchronize() = 0;

  /// This rank's part of a tensor; see ShardView. What is in host memory may be read after
  /// synchronize().
  virtual ShardView shard(int parameter, TensorKind kind) const = 0;
  virtual bool has_gradient(int parameter) const = 0;
  /// Steps executed so far as the counter of this parameter sees them (group or parameter). Waits
  /// where the device may have skipped some since the counters were known last.
  virtual std::int64_t step_count(int parameter) const = 0;
  /// The same without waiting.
  virtual StepCountView step_count_view(int parameter) const = 0;
  virtual ScalingView scaling() const = 0;

  /// Every live allocation, each once.
  virtual std::vector<Buffer> buffers() const = 0;
  /// The largest number of bytes that were live at once for a purpose since construction, counted
  /// in the order in which the host allocated and freed.
  virtual std::size_t peak_bytes(Purpose purpose) const = 0;
  /// The same of device memory, or of pinned memory, by itself.
  virtual std::size_t peak_bytes(Purpose purpose, bool on_host) const = 0;
  virtual std::vector<NamedStream> streams() const = 0;
};

/// Makes this rank's engine: creates streams, joins the communicator (waits for the other ranks),
/// allocates shards and zeroes the moments.
std::unique_ptr<Engine> make_engine(EngineConfig const& config, GradientSource& source);

}  // namespace adamant::real
