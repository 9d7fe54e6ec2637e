// A scenario's program as the sequence of primitive operations that engine and oracle both execute:
// `train` unrolled on the way, `set` told apart by groups, names into numbers, a `load` into the
// setting that it leads to. Who executes them is not known here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/registry.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// What a `set` changes of each group, by number: a group's own value wins. Views of both.
class SetByGroup {
 public:
  SetByGroup() = default;
  SetByGroup(AdamOverride const& change, std::vector<Group> const& groups)
      : change_(&change), groups_(&groups) {}

  std::size_t size() const { return groups_ == nullptr ? 0 : groups_->size() + 1; }
  AdamOverride operator[](std::size_t group) const;

 private:
  AdamOverride const* change_ = nullptr;
  std::vector<Group> const* groups_ = nullptr;
};

/// One operation that an engine executes. Spans point into the Program it was read from.
struct Primitive {
  enum class Kind {
    backward,
    clip,
    step,
    zero_grad,
    set,
    overflow,
    capture,
    replay,
    check,
    offload,
    reload,
    save,
    load
  };
  Kind kind = Kind::check;
  int entry = 0;                      // index of the program's entry
  std::span<int const> without = {};  // backward: parameters that get no gradient
  /// backward: places of the names that give none (language/registry.h), in order. All names of
  /// the parameters in `without`, and of others some.
  std::span<int const> left_out = {};
  std::int64_t backward_index = 0;  // backward, replay: how many came before it in the program
  bool overflow = false;            // backward: one rank's gradient is not finite; replay: that
                                    // of its first backward
  std::span<Primitive const> captured = {};  // capture: what is recorded; replay: what is executed
  bool set_to_none = true;                   // zero_grad
  std::optional<LossScale> loss_scale = {};  // set: a scaler starts afresh with it
  std::optional<Clip> clip = {};  // set: the norm of later clips, or none; load: in force before it
  SetByGroup set = {};            // set: what it changes of every group
  std::string_view checkpoint = {};  // save, load: its name
  int setting = 0;                   // load: Program::setting() from here on
  bool sets_anew = false;            // load: into a new world
  bool anew = false;                 // load: the program itself says so
  Offload const* offload = nullptr;  // load: from here on; null: as the scenario says
  /// load: by number of the parameter, kinds of tensors of which it may round what is saved in
  /// another type.
  std::span<std::vector<TensorKind> const> may_round = {};
};

/// "backward", "zero_grad".
std::string_view name_of(Primitive::Kind kind);

/// Does it scale gradients to a norm, or record or replay what does?
bool clips(Primitive const& operation);

/// How many of them are backwards.
int backward_count(std::span<Primitive const> operations);

/// What a replay executes, each operation with what the replay knows of it: numbers of backwards,
/// and the overflow of the first of them.
std::vector<Primitive> replayed(Primitive const& replay);

/// A program that refuse() let pass, ready to be walked by any number of walkers.
class Program {
 public:
  explicit Program(Scenario const& scenario);

  /// What a `load` changed of the scenario: world, layout, precision, offload, order of
  /// registration. It has no program. Number 0 is the scenario itself, which the program does not
  /// keep: REQUIRES: number >= 1.
  Scenario setting(int number) const;

  /// Checkpoints that are loaded and that no save before has made, each once.
  std::vector<std::string> const& foreign_checkpoints() const { return foreign_; }

 private:
  friend class ProgramWalk;
  struct Captured;
  using Kinds = std::vector<TensorKind>;
  /// What a backward leaves out, as names and as what this does to parameters.
  struct LeftOut {
    std::vector<int> names;
    std::vector<int> parameters;
  };
  /// What a capture records: where a norm is in force, `train` clips.
  struct Bodies {
    std::shared_ptr<Captured const> unclipped;
    std::shared_ptr<Captured const> clipped;
  };
  struct Entry {
    bool train = false;
    Primitive::Kind kind = Primitive::Kind::check;
    std::int64_t count = 1;
    bool set_to_none = true;
    LeftOut left_out;
    SettingsChange change;  // set
    std::string checkpoint;
    int setting = 0;
    bool sets_anew = false;
    bool anew = false;
    std::shared_ptr<std::vector<Kinds> const> may_round;
    Bodies captured;  // capture: its body
  };
  void add_load(Entry& entry, Load const& load, Scenario const& scenario);
  void change(Load const& load, Scenario const& scenario);
  std::shared_ptr<std::vector<Kinds> const> may_round(PrecisionOverride const& types,
                                                      std::vector<Param> const& params);
  /// Null for the scenario's own.
  Offload const* offload_of(int setting) const {
    return setting > 0 ? &settings_[static_cast<std::size_t>(setting) - 1].offload : nullptr;
  }
  LeftOut left_out_of(Backward const& backward, std::vector<Param> const& params) const;
  /// The body of a capture, unrolled, and what its spans point to.
  struct Captured {
    std::vector<LeftOut> left_out;
    std::vector<Primitive> primitives;
  };
  std::shared_ptr<Captured const> unrolled(Capture const& capture, std::vector<Param> const& params,
                                           bool clips) const;

  Registry registry_;
  std::vector<Entry> entries_;
  std::vector<Group> groups_;
  std::optional<Scenario> last_;   // the last of the settings, where there is one
  std::vector<Setting> settings_;  // from number 1 on: of thousands each may be another
  // What loads may round, by the kinds of tensors that they name the types of.
  std::map<Kinds, std::shared_ptr<std::vector<Kinds> const>> may_round_;
  std::set<std::string> known_;  // checkpoints that are saved or loaded
  std::vector<std::string> foreign_;
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
  Program const* program_;
  std::size_t entry_ = 0;
  std::int64_t done_ = 0;  // primitives of this entry that were handed out
  std::int64_t backwards_ = 0;
  bool overflow_ = false;  // due in the next backward
  Clip clip_;
  std::shared_ptr<Program::Captured const> captured_;  // the last one
};

}  // namespace adamant::scenarios
