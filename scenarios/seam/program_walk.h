// A scenario's program as the sequence of primitive operations that engine and oracle both execute:
// `train` unrolled on the way, `set` told apart by groups, names into numbers, a `load` into the
// setting that it leads to. Who executes them is not known here.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "scenarios/language/match.h"
#include "scenarios/language/registry.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// What verbs become that name something, or that hang on what came before. Spans and pointers lead
/// into the Program they were read from.
namespace resolved {

struct Backward {
  std::span<int const> without = {};  // parameters that get no gradient
  /// Places of the names that give none (language/registry.h), in order. All names of the
  /// parameters in `without`, and of others some.
  std::span<int const> left_out = {};
  std::int64_t index = 0;  // how many came before it in the program
  bool overflow = false;   // one rank's gradient is not finite
};

struct Set {
  SettingsChange change = {};  // with a loss scale a scaler starts afresh
  std::span<Group const> groups = {};

  std::size_t group_count() const { return groups.size() + 1; }
  /// What it changes of a group, by number: a group's own value wins.
  AdamOverride of_group(std::size_t group) const {
    return group == 0 ? change.adam : without(change.adam, groups[group - 1].settings);
  }
};

/// What a graph may hold.
using Recorded = std::variant<Backward, ClipNorm, Step, ZeroGrad>;

struct Capture {
  std::span<Recorded const> body = {};
};

struct Replay {
  std::span<Recorded const> body = {};
  std::int64_t index = 0;  // of its first backward
  bool overflow = false;   // of its first backward
};

struct Load {
  std::string checkpoint = {};
  int setting = 0;                   // Program::setting() from here on
  bool sets_anew = false;            // into a new world
  bool anew = false;                 // the program itself says so
  Clip clip = {};                    // the norm in force before it
  Offload const* offload = nullptr;  // from here on; null: as the scenario says
  /// By number of the parameter, kinds of tensors of which it may round what is saved in another
  /// type.
  std::span<std::vector<TensorKind> const> may_round = {};
  std::optional<FoundManifest> found = {};  // see scenarios::Load
};

}  // namespace resolved

using resolved::Recorded;

/// Any operation that is executed, in the order of the verbs: all but `train`, which is several.
using Resolved = std::variant<resolved::Backward, ClipNorm, Step, ZeroGrad, resolved::Set, Overflow,
                              OffloadStates, ReloadStates, resolved::Capture, resolved::Replay,
                              Save, resolved::Load, Check>;

// Lists of verbs that have a name. A new verb joins them, or each judge says what it does to
// numbers and to memory.

/// Is executed as the file says it.
template <typename Verb>
concept AsWritten =
    std::is_constructible_v<Action, Verb> && std::is_constructible_v<Resolved, Verb>;

/// Leaves every number of a tensor, a counter and a setting as it is.
template <typename Verb>
concept LeavesNumbers =
    OneOf<Verb, Overflow, OffloadStates, ReloadStates, resolved::Capture, Save, Check>;

/// Sets no loss scale, no norm and no group; a step may move a dynamic scale.
template <typename Verb>
concept SetsNothing = LeavesNumbers<Verb> ||
    OneOf<Verb, resolved::Backward, ClipNorm, Step, ZeroGrad, resolved::Replay>;

/// No tensor comes, goes or moves, and nothing that a budget counts is needed for the first time.
template <typename Verb>
concept LeavesMemory = OneOf<Verb, ClipNorm, Overflow, resolved::Capture, Save, Check>;

/// One operation that an engine executes.
struct Primitive {
  int entry = 0;  // index of the program's entry
  Resolved what = Check{};

  /// Null where it is something else.
  template <typename Verb>
  Verb const* as() const {
    return std::get_if<Verb>(&what);
  }
};

/// "backward", "zero_grad".
std::string_view name_of(Primitive const& operation);

/// Is it a load into a new world?
bool sets_anew(Primitive const& operation);

/// What is recorded, or executed from a record; of others nothing.
std::span<Recorded const> body_of(Primitive const& operation);

/// Does it scale gradients to a norm, or record or replay what does?
bool clips(Primitive const& operation);

/// How many of them are backwards.
int backward_count(std::span<Recorded const> operations);

/// What a replay executes, each operation with what the replay knows of it: numbers of backwards,
/// and the overflow of the first of them.
std::vector<Recorded> replayed(resolved::Replay const& replay);

/// The same executed by itself.
Resolved executed(Recorded const& operation);

/// A program that refuse() let pass, ready to be walked by any number of walkers. Primitives lead
/// into it, so it may be moved, and not copied.
class Program {
 public:
  explicit Program(Scenario const& scenario);
  Program(Program&&) = default;
  Program& operator=(Program&&) = default;

  /// What a `load` changed of the scenario: world, layout, precision, offload, order of
  /// registration. It has no program. Number 0 is the scenario itself, which the program does not
  /// keep: REQUIRES: number >= 1.
  Scenario setting(int number) const;

  /// The most backwards that one capture holds.
  int captured_backwards() const;

 private:
  friend class ProgramWalk;
  using Kinds = std::vector<TensorKind>;
  /// An operation, so many times.
  struct Repeated {
    std::optional<Resolved> what = {};  // none: an iteration of `train`
    std::int64_t count = 1;
    std::span<Recorded const> clipped = {};  // capture: its body where a norm is in force
  };
  resolved::Backward resolve(Backward const& backward, std::vector<Param> const& params);
  Repeated resolve(Capture const& capture, std::vector<Param> const& params);
  resolved::Load resolve(Load const& load, Scenario const& scenario);
  void change(Load const& load, Scenario const& scenario);
  std::span<Kinds const> may_round(PrecisionOverride const& types,
                                   std::vector<Param> const& params);

  Registry registry_;
  std::vector<Repeated> operations_;
  std::vector<Group> groups_;
  std::vector<std::vector<int>> left_out_;     // what backwards point to
  std::vector<std::vector<Recorded>> bodies_;  // of captures
  std::optional<Scenario> last_;               // the last of the settings, where there is one
  std::deque<Setting> settings_;               // from number 1 on: of thousands each may be another
  // What loads may round, by the kinds of tensors that they name the types of.
  std::map<Kinds, std::vector<Kinds>> may_round_;
  Clip clip_;  // of the scenario
};

/// A cursor. REQUIRES: the program outlives it.
class ProgramWalk {
 public:
  explicit ProgramWalk(Program const& program) : program_(&program), clip_(program.clip_) {}
  std::optional<Primitive> next();

  /// The norm in force behind what next() gave: the scenario's, then what `set` or a load has put
  /// there. Where there is one, `train` clips.
  Clip const& clip() const { return clip_; }
  /// What a load brought, which its files alone say.
  void put_in_force(Clip clip) { clip_ = clip; }
  /// A world has ended with its settings: in force is the scenario's norm again. Returns it.
  Clip const& forget_settings() { return clip_ = program_->clip_; }

 private:
  /// What it knows, and what follows for the operations behind.
  void take(Resolved& operation, Program::Repeated const& of);

  Program const* program_;
  std::size_t entry_ = 0;
  std::int64_t done_ = 0;  // primitives of this entry that were handed out
  std::int64_t backwards_ = 0;
  bool overflow_ = false;  // due in the next backward
  Clip clip_;
  std::span<Recorded const> captured_;  // the last one
};

}  // namespace adamant::scenarios
