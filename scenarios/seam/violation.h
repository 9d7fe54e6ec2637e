// A broken law as values: which law and how it was broken, what it is about, where, and both sides.
// Text is here only where it was text before anybody judged, as an engine's error is. What people
// read is made of this by report/words/, and nothing is ever read out of those sentences.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oracle/interval/admissible.h"
#include "oracle/types.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/recipe.h"
#include "scenarios/language/world.h"
#include "sim/violation.h"

namespace adamant::scenarios {

/// How a law was broken. One law may be broken in several ways, and one way may break several laws:
/// another value breaks `values.bitwise` after a step and `checkpoint.roundtrip` after a load.
enum class JudgedBreach {
#define ADAMANT_BREACH(name, ...) name,
#include "scenarios/seam/breaches.inc"
#undef ADAMANT_BREACH
};

inline constexpr std::size_t judged_breach_count = 0
#define ADAMANT_BREACH(name, ...) +1
#include "scenarios/seam/breaches.inc"
#undef ADAMANT_BREACH
    ;

/// In a way that judges tell, or in one that a simulated world notices by itself: then the
/// violation's text is what the world says.
struct Breach : std::variant<JudgedBreach, sim::Breach> {
  using variant::variant;
  using enum JudgedBreach;
  using enum sim::Breach;
  friend constexpr auto operator<=>(Breach const&, Breach const&) = default;
};

/// What a breach is a statement about.
enum class BreachKind { number, value, memory, checkpoint, failure, further_run, world };
BreachKind kind_of(Breach breach);

inline bool is_of_world(Breach breach) {
  return std::holds_alternative<sim::Breach>(breach);
}

/// A part of a stored tensor: what files call it behind the tensor's name, and in words.
struct StoredPart {
  std::string_view key = "";
  std::string_view word = "value";
};
/// The part whose numbers are others. The tensor's own values where the breach says no other.
StoredPart part_of(Breach breach);

/// A word that documents and signatures of failures know it by. It never changes.
/// REQUIRES: not of_harness.
std::string_view name_of(Breach breach);
/// The inverse of name_of().
std::optional<Breach> breach_of(std::string_view name);

// ---- what a violation is about -----------------------------------------------------------------

struct Tensor {
  std::string parameter;
  TensorKind kind = TensorKind::parameter;
  bool whole = false;  // gathered by one rank, not its rows
  friend bool operator==(Tensor const&, Tensor const&) = default;
};

struct StepCount {
  std::string parameter;
  friend bool operator==(StepCount const&, StepCount const&) = default;
};

struct GroupSettings {
  int group = 0;
  friend bool operator==(GroupSettings const&, GroupSettings const&) = default;
};

/// A number of a rank's loss scale or clip; see RankScaling.
enum class ScalingNumber {
  loss_scale,
  skipped,
  inverse,
  norm,
  coefficient,
  max_norm,
  growth_tracker,
  hysteresis,
};
inline constexpr int scaling_number_count = 8;

struct Buffers {
  Purpose purpose = Purpose::parameters;
  friend bool operator==(Buffers const&, Buffers const&) = default;
};

/// How a call of an engine that failed came to its end.
enum class Ending { error, signal, exit, none };

struct Call {
  std::string verb = "";  // empty: the entry of the program tells
  Ending ending = Ending::error;
  std::string status = "";  // of a process that ended: the signal's number or the exit status
  friend bool operator==(Call const&, Call const&) = default;
};

/// What a simulated world names: a call of CUDA or NCCL, a kind of handle, a setting in a graph.
struct Named {
  std::string name;
  friend bool operator==(Named const&, Named const&) = default;
};

/// What was done to a file before a load.
struct FileDamage {
  std::string file;  // with its checkpoint's name
  Fault::Then how = Fault::Then::flip_byte;
  std::int64_t at = 0;  // flip_byte: the byte; truncate: how many bytes are left
  bool beside = false;  // stale_file: the save has no file of that name, so nobody has to read it
  friend bool operator==(FileDamage const&, FileDamage const&) = default;
};
using DamagedFiles = std::vector<FileDamage>;

using Subject = std::variant<std::monostate, Tensor, StepCount, GroupSettings, ScalingNumber,
                             Buffers, Call, Named, DamagedFiles>;

// ---- both sides --------------------------------------------------------------------------------

/// The bits of a number in binary32, into which every format widens without loss.
struct Number {
  std::uint32_t bits = 0;

  Number() = default;
  explicit Number(float value) : bits(std::bit_cast<std::uint32_t>(value)) {}
  float value() const { return std::bit_cast<float>(bits); }
  friend bool operator==(Number const&, Number const&) = default;
};

using Interval = oracle::Admissible;

/// A shard of a tensor: which elements of the whole, and how they are stored.
struct Elements {
  std::vector<ElementRange> ranges = {};
  std::int64_t row_numel = 1;  // of the tensor
  NumberFormat format = NumberFormat::fp32;
  std::optional<Recipe> recipe = {};  // of a quantised parameter: then `format` is unused
  friend bool operator==(Elements const&, Elements const&) = default;
};

struct Count {
  std::int64_t count = 0;
  friend bool operator==(Count const&, Count const&) = default;
};

struct Presence {
  bool there = false;
  friend bool operator==(Presence const&, Presence const&) = default;
};

struct LiveBytes {
  std::int64_t device = 0;
  std::int64_t pinned = 0;
  friend bool operator==(LiveBytes const&, LiveBytes const&) = default;
};

struct Allocated {
  std::int64_t bytes = 0;
  bool on_host = false;
  friend bool operator==(Allocated const&, Allocated const&) = default;
};

/// Of a whole tensor, or of a run.
struct Digest {
  std::uint64_t digest = 0;
  friend bool operator==(Digest const&, Digest const&) = default;
};

using Value = std::variant<std::monostate, Number, Interval, Elements, Count, Presence, AdamConfig,
                           LiveBytes, Allocated, Digest>;

using sim::Access;
using sim::Location;
using sim::Related;
using sim::Waiting;

/// All elements of a tensor that are wrong, and what of it they are: that holds for exactly these.
struct WrongElements {
  enum class Part {
    some,  // of what `ranks` hold, where these are not all
    whole,
    shards,        // all that `ranks` hold
    saved_shards,  // all that `ranks` held when the tensor was saved
    block,         // those that share a scale by its recipe
    last_block,
  };
  static constexpr std::size_t ranges_kept = 16;

  std::vector<ElementRange> ranges = {};  // ascending, apart: the first few
  std::int64_t count = 0;                 // of elements
  Part part = Part::some;
  std::vector<int> ranks = {};
  friend bool operator==(WrongElements const&, WrongElements const&) = default;
};

/// What an engine outside the process knows of an exception in it.
struct Thrown {
  std::string kind = "";       // its class
  std::string where = "";      // the line that threw it
  std::string traceback = "";  // as its language prints it
  friend bool operator==(Thrown const&, Thrown const&) = default;
};

/// The last so many lines of a text, without the end of the last one.
std::string_view last_lines(std::string_view text, int count);

/// The counterexample. One mistake is one: of what shows alike on several ranks, in several steps
/// or buffers it is the first.
struct Violation {
  Law law = Law::values_bitwise;
  Breach breach = Breach::other_value;
  int operation = -1;  // index of the program's entry, from 0; -1: outside of every operation
  int rank = 0;        // -1: a thread that belongs to none
  Subject subject = {};
  std::int64_t index = -1;  // row-major in the whole tensor; -1: no element is concerned
  std::optional<WrongElements> elements = {};  // of the first rank or parameter that is concerned
  Value expected = {};
  Value actual = {};
  std::optional<std::uint64_t> ulp = {};  // between two numbers
  std::string run = "";                   // the further run that it is of, as a file says it
  std::string reason = "";                // of a refusal that the engine gave, as laws.h lists them
  std::string text = "";                  // what the engine or the world said, in its own words
  Thrown thrown = {};
  std::vector<Access> accesses = {};
  std::string missing = "";  // what would have ordered them, in the world's words
  Location at = {};          // of the call that it is about, where there are no accesses
  std::vector<Related> related = {};
  std::vector<Waiting> waiting = {};
  std::vector<int> ranks = {};  // all for which it was found, ascending; empty: `rank` alone
  std::int64_t count = 1;       // how often it was found
  std::int64_t event = -1;      // of the timeline, where there are no accesses

  friend bool operator==(Violation const&, Violation const&) = default;
};

/// All ranks for which it was found, ascending.
std::vector<int> ranks_of(Violation const& violation);

/// It was found once more. REQUIRES: `again` is of the same mistake.
void fold(Violation& into, Violation const& again);

/// What `violation` is about, where that is a `Kind`; else null.
template <typename Kind>
Kind const* about(Violation const& violation) {
  return std::get_if<Kind>(&violation.subject);
}

/// The first setting in which both sides of Breach::other_settings differ, by its key in a file.
struct SettingDifference {
  std::string_view key;
  int beta = -1;  // of betas: which of them
  float expected = 0;
  float actual = 0;
};
std::optional<SettingDifference> setting_difference(Violation const& violation);

/// "embed.weight" for the parameter itself, "embed.weight/exp_avg" for what belongs to it.
std::string tensor_name(std::string_view parameter, TensorKind kind);

}  // namespace adamant::scenarios
