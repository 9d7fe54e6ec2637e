// The seam between a scenario and whoever executes it. An engine runs a whole world of ranks and
// shows it to an observer after every operation; verdict and dumps look through this window alone
// and cannot tell a simulated world from GPUs or from another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/quantise/recipes.h"
#include "oracle/types.h"
#include "scenarios/language/capabilities.h"
#include "scenarios/language/scenario.h"
#include "scenarios/seam/capabilities.h"
#include "scenarios/seam/program_walk.h"
#include "scenarios/seam/result.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// What the numbers of a quantised parameter are read from.
struct QuantisedShard {
  Recipe recipe = Recipe::fp8_current;
  std::vector<std::uint8_t>
      codes;  // one of each of the rank's elements, also where two share a byte
  /// What reading multiplies a code by, one of each block: of mxfp8 in fsdp2, where states are not
  /// cut over replicas, of the rank's elements, else of the whole tensor.
  std::vector<float> scales;
  std::vector<std::uint8_t> scale_codes;  // e8m0 of mxfp8, e4m3 of nvfp4, one a scale; else empty
  float amax = 0;                         // of the whole tensor, where nvfp4 keeps it
  oracle::DelayedScale delayed;           // of fp8_delayed
  std::vector<float> values;              // what reading gives
};

/// One rank's elements of a tensor, as they are stored: those of one range after the other. Ranges
/// ascend and do not overlap. `bytes` is empty where there is no storage or no element; `address`
/// is where the engine keeps them, for laws about pointers.
struct Shard {
  std::span<ElementRange const> ranges = {};
  NumberFormat format = NumberFormat::fp32;
  std::span<std::byte const> bytes = {};  // numel() numbers of `format`, aligned for them
  void const* address = nullptr;
  float scale = 1;  // what reading multiplies each number by
  /// Of a quantised parameter; `bytes` are then its `values`.
  std::shared_ptr<QuantisedShard const> quantised = {};

  std::int64_t numel() const { return static_cast<std::int64_t>(bytes.size() / bytes_of(format)); }
};

/// A shard's numbers in fp32: in place where that is how they are stored, otherwise widened into
/// `room`, and multiplied by their scale. It then has to live as long as the result.
std::span<float const> values_of(Shard const& shard, std::vector<float>& room);

/// A number for digests that any bit of a shard or of its scale changes, but for those of a NaN:
/// any counts as the same one, because which it is follows from the order of operands, and that is
/// a compiler's choice.
std::uint64_t weighted_sum(Shard const& shard);

/// What a rank's engine says of loss scale and clipping.
struct RankScaling {
  float loss_scale = 1;   // of the next backward
  bool skipped = false;   // the last step, for what was not finite
  float inverse = 1;      // what the last step unscaled its gradients by
  float norm = 0;         // of the gradients that are there, if they were clipped
  float coefficient = 1;  // what follows from it
  int growth_tracker = 0;
  int hysteresis = 0;
  std::optional<float> max_norm = {};  // that clip scales to
  bool tells_max_norm = true;          // else it is what it was

  friend bool operator==(RankScaling const&, RankScaling const&) = default;
};

/// A live buffer as an engine lists it.
struct NamedBuffer {
  void const* address = nullptr;
  std::size_t bytes = 0;
  Purpose purpose = Purpose::parameters;
  bool on_host = false;
};

/// A live allocation as the world around the engine knows it.
struct WorldAllocation {
  void const* address = nullptr;
  std::size_t bytes = 0;
  int rank = 0;
  bool on_host = false;
};

/// Handles of one kind (events, graphs) that nobody has destroyed.
struct LiveHandles {
  std::string kind;
  std::int64_t count = 0;
};

/// What engines that are gone have left in their world; should be nothing.
struct Leftovers {
  std::vector<WorldAllocation> allocations;
  std::vector<LiveHandles> handles;
};

/// A file of a checkpoint.
struct StoredFile {
  std::string name;
  std::span<std::byte const> bytes;
};

/// What a world shows beside values, counters and settings. Judges pass over the rest.
struct Shown {
  bool addresses = true;  // of tensors
  bool memory = true;     // buffers and peaks
};

/// A number for each file of a checkpoint, by its name, that any of its bytes changes.
using FileDigests = std::map<std::string, std::uint64_t>;

/// Copies of a checkpoint's files, by name.
using KeptFiles = std::map<std::string, std::vector<std::byte>>;

/// For one run of this program alone.
std::uint64_t digest_of(std::span<std::byte const> bytes);

/// All ranks of a world at rest between two operations. Spans live until the callback returns.
class WorldView {
 public:
  virtual ~WorldView() = default;
  virtual Shown shown() const { return {}; }
  virtual Arithmetic arithmetic() const { return Arithmetic::own_order; }
  virtual int rank_count() const = 0;
  /// Over so many ranks each parameter is cut; with fewer than all of them there are replicas, and
  /// rank = replica * shard_count + index of its shard.
  virtual int shard_count() const { return rank_count(); }
  /// So many ranks, from 0 on, hold one copy of everything of that kind: more than shards where
  /// gradients and states are cut over replicas, too.
  virtual int holder_count(TensorKind /*kind*/) const { return shard_count(); }
  virtual Shard shard(int rank, int parameter, TensorKind kind) const = 0;
  /// The same shard's address alone, which may be cheaper than its values.
  virtual void const* address(int rank, int parameter, TensorKind kind) const {
    return shard(rank, parameter, kind).address;
  }
  /// The whole tensor as this rank sees it, without ranges; nothing where the world does not show
  /// that.
  virtual std::optional<Shard> whole(int /*rank*/, int /*parameter*/, TensorKind /*kind*/) const {
    return {};
  }
  virtual bool has_gradient(int rank, int parameter) const = 0;
  virtual std::int64_t step_count(int rank, int parameter) const = 0;
  /// The settings of a group as this rank's engine has them.
  virtual AdamConfig group(int rank, int group) const = 0;
  virtual RankScaling scaling(int rank) const = 0;
  virtual std::vector<NamedBuffer> buffers(int rank) const = 0;
  virtual std::size_t peak_bytes(int rank, Purpose purpose) const = 0;
  /// The same of device and pinned memory each by itself; nothing where the world does not tell.
  virtual LiveBytes peaks(int /*rank*/, Purpose /*purpose*/) const { return {}; }
  /// Every live allocation of the engines, or nothing where the world cannot tell.
  virtual std::optional<std::vector<WorldAllocation>> allocations() const = 0;
  /// What the last backward saw of a gathered parameter (gradients/values.h), or nothing where this
  /// rank computed no microbatch.
  virtual std::optional<std::uint64_t> gathered_fingerprint(int rank, int parameter) const = 0;
  /// The whole gradient that this rank was fed in the last backward, before reduction and without
  /// loss scale, or nothing: then it had all of its microbatches one by one.
  virtual std::optional<std::span<float const>> fed(int /*rank*/, int /*parameter*/) const {
    return {};
  }
  /// Has a load of damaged files to be refused, whatever it read? Only checksums of everything let
  /// an engine promise that; the others are held to what they have loaded.
  virtual bool refuses_damage(Fault::Then /*how*/) const { return true; }
  /// Has a load to be refused that would round numbers of a type which it does not name? Engines
  /// outside the process convert as they do.
  virtual bool refuses_rounding() const { return true; }
  /// What the format of the last save or load cannot carry: "groups", "steps", "scaler", "clip".
  virtual std::vector<std::string> not_carried() const { return {}; }
  /// The files of a checkpoint as they are on the world's disk, by name.
  virtual std::vector<StoredFile> checkpoint(std::string_view name) const = 0;
  /// All that lies there, also where the engine alone knows what it holds, and copies of it.
  virtual FileDigests file_digests(std::string_view name) const;
  virtual KeptFiles files(std::string_view name) const;
  /// May its files have a format that nobody else reads?
  virtual bool has_own_formats() const { return false; }
};

/// Why an engine gave up.
struct EngineFailure {
  std::string reason = "";  // the id of a refusal; empty: it had no business to fail
  int rank = 0;
  int operation = -1;
  Call call = {};            // of an engine outside the process: what it was asked
  std::string message = "";  // what it said
  Thrown thrown = {};
  /// A device does not forget: whatever this process asks of it from now on fails, too.
  bool spoilt = false;
};

/// It has come to a clip, and what was loaded has left no norm in force.
inline EngineFailure clip_without_norm(Primitive const& operation) {
  return {.reason = "unsupported.clip_without_norm",
          .operation = operation.entry,
          .message = "clip needs a norm in force, and what was loaded has none"};
}

/// Who looks at the world. Calls come from one thread at a time.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Engines stand, parameters are written, no operation was executed. False: end the run.
  virtual bool started(WorldView const& world) = 0;
  /// After an operation. False: end the run.
  virtual bool after(Primitive const& operation, WorldView const& world) = 0;
  /// After the last operation that was executed, before the engines go.
  virtual void finished(WorldView const& world) = 0;
  /// All engines of a world are gone.
  virtual void ended(Leftovers const& left) = 0;

  // ---- checkpoints: what happens between operations and between worlds ----
  /// A new world stands in the place of the one before, and is about to load. Its parameters have
  /// values unlike any that were saved. False: end the run.
  virtual bool restarted(Primitive const& /*load*/, WorldView const& /*world*/) { return true; }
  /// The world crashed at a save, which had returned on every rank or not; there is no after().
  virtual void crashed(Primitive const& /*save*/, bool /*returned*/) {}
  /// Somebody damages files of a checkpoint that is about to be loaded.
  virtual void damaged(Primitive const& /*load*/, DamagedFiles const& /*files*/) {}
  /// All ranks refused to load, for a reason of the contract's; there is no after(). `world` is
  /// null where the engines say that they hold no state now; else nothing has changed.
  virtual void refused(Primitive const& /*load*/, EngineFailure const& /*why*/,
                       WorldView const* /*world*/) {}
};

/// What an engine watches for in a second run, to name the lines of the violations of a first one.
/// Only the engine that made it knows what it is.
class LinesSought {
 public:
  virtual ~LinesSought() = default;
};

/// What an engine is asked to execute. Everything referred to outlives the execution.
struct EngineTask {
  Scenario const& scenario;
  Program const& program;
  std::vector<ParameterSpec> const& parameters;
  std::uint64_t seed = 0;
  Schedule schedule;
  std::function<std::span<float const>(int parameter)> initial_values;  // whole tensors
  std::size_t device_bytes = 0;
  bool loopback = false;
  /// Where the checkpoints are that the program loads without having saved them.
  std::filesystem::path foreign_checkpoints = "";
  /// Of an earlier run with the same choices, whose violations shall have lines.
  std::shared_ptr<LinesSought const> lines_sought = nullptr;
  bool timeline = false;  // keep one, if the engine has a clock of its own

  /// The scenario as a load left it; see Program::setting().
  Scenario setting(int number) const { return number == 0 ? scenario : program.setting(number); }
};

/// What the world noticed while the engine executed.
struct EngineEnd {
  std::vector<Violation> violations;
  std::vector<Violation> warnings;
  std::optional<EngineFailure> failure;  // the first
  std::vector<std::string> notes;        // for the reader of a result, each once
  std::vector<std::uint32_t> choices;
  std::shared_ptr<LinesSought const> lines_sought;  // null where the engine cannot name lines
  Timeline timeline;
  std::uint64_t digest = 0;
  std::uint64_t values_digest = 0;  // of values alone, whatever was chosen; 0 where nobody knows
  double simulated_seconds = 0;
  std::size_t device_peak_bytes = 0;
  std::size_t pinned_peak_bytes = 0;
  /// The least chance with which the schedule meets a bug of its depth, whatever it is; 0 where
  /// nothing is known of that. See sim::pct_chance().
  double schedule_chance = 0;
  /// What the simulated hardware did, a bit for each of sim/marks.h; 0 where there is none.
  std::uint64_t marks = 0;
};

/// This machine, or this program, lacks what was asked for: a GPU, an engine, the catalogue of
/// bugs.
class MachineLacks : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Why a checkpoint cannot be loaded that no save of the program makes.
inline std::string no_directory(std::string const& checkpoint) {
  return "nothing to load: no directory `" + checkpoint + "` is beside the scenario file";
}

class ScenarioEngine {
 public:
  virtual ~ScenarioEngine() = default;
  virtual std::string_view name() const = 0;
  /// What it executes; refuse_to_run() has nothing against what it is given.
  virtual Capabilities capabilities() const = 0;
  /// Executes the whole program in a fresh world, or as much of it as the observer wants.
  ///
  /// Errors: MachineLacks; what the observer throws. A failing engine is a result.
  virtual EngineEnd execute(EngineTask const& task, Observer& observer) = 0;
};

/// The engine of that name, of those that this program was linked with.
///
/// Errors: MachineLacks.
std::unique_ptr<ScenarioEngine> make_scenario_engine(std::string_view name);

/// Can bugs be switched on in the engines that this program was linked with?
bool engines_have_bugs();

/// What the engine of that name executes, whether or not this program was linked with it: who
/// refuses and who generates has no need to run anything. An engine that is not known executes
/// nothing.
///
/// Errors: MachineLacks, where an engine that has to be asked is not there.
Capabilities capabilities_of(std::string_view engine);

/// What this program's engine needs of the machine beside a processor and memory.
struct EngineMachine {
  std::string found = "";  // in one line; empty: it needs nothing
  /// What was found, what is needed and what to do; empty: nothing is missing.
  std::string lacks = "";
};
EngineMachine machine_of_engine();

/// What is left on this machine of what an engine can do.
Capabilities on_this_machine(Capabilities capabilities);

/// The engine that a scenario's own choice leads to in this program: `sim` is `cuda` where only
/// that is linked.
std::string engine_here(std::string const& name);

}  // namespace adamant::scenarios
