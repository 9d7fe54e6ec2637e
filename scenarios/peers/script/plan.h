// What a script has to do, in the order in which it does it: worlds, and in each of them operations
// with numbers of gradients, damage and crashes settled. It is the scenario up to the operation
// that broke the law, and knows no Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/gradients/keys.h"
#include "scenarios/language/scenario.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios::script {

/// One operation with what it needs to know.
struct Act {
  enum class Kind { backward, clip, step, zero_grad, set, save, load };
  Kind kind = Kind::step;
  std::int64_t backward = 0;              // backward: its number, from 0
  std::vector<std::string> without = {};  // backward: parameters without gradient
  bool has_gradients = true;              // backward, step: is there any?
  LossScale loss_scale = {};              // backward, clip, step: what is in force
  bool unscaled = false;                  // …: the gradients that are there bear no loss scale
  Clip clip = {};                         // clip: the norm
  bool set_to_none = true;                // zero_grad
  SettingsChange change = {};             // set
  std::string checkpoint = "";            // save, load
  std::vector<Fault> faults = {};         // save: its crash; load: damage before it
  bool into_new_world = false;            // load: its values are to be unlike any saved ones
  bool lacks_states = false;              // load: no parameter has moments yet
  bool drops_gradients = false;           // load: there are some
  bool keeps_older = false;               // save: a stale file will be taken from what is there

  friend bool operator==(Act const&, Act const&) = default;
};

/// `count` times the same operations, numbers of gradients apart. Most are there once.
struct Passage {
  std::int64_t count = 1;
  std::vector<Act> acts = {};

  friend bool operator==(Passage const&, Passage const&) = default;
};

/// A model and an optimizer on some ranks, from their making on.
struct World {
  Scenario setting = {};      // world and precision are its own
  bool new_processes = true;  // false: in those of the world before
  bool crashes = false;
  bool in_main = false;      // it has one rank, the last one: the script's own process
  bool of_second = false;    // of two runs: it is of the second
  bool shows_first = false;  // likewise: it is the last of the first
  std::vector<Passage> passages = {};

  int ranks() const { return static_cast<int>(setting.world.rank_count()); }
};

/// One backward: which world's ranks share the microbatches. Two runs have one together where as
/// many ranks do.
struct BackwardOf {
  std::size_t world = 0;
  std::int64_t number = 0;  // in its run
  std::vector<std::string> without = {};
  std::optional<OverflowElement> overflow = {};  // what one of its microbatches brings in
};

struct Plan {
  Scenario scenario = {};
  Violation violation = {};
  std::vector<World> worlds = {};
  std::vector<BackwardOf> backwards = {};  // by number; those of a second run behind them
  bool two_runs = false;                   // they are compared, and no oracle is asked
  bool repeated = false;  // they are one and the same, and all that they show is compared
  /// Both of them do what the passages of the first world say, in processes of their own.
  bool one_program = false;
  /// One function does what each of the worlds does, which differ in what it is told.
  bool in_chain = false;
  /// Of one program: the number of the second one's first backward; 0: they have the same ones.
  std::int64_t second_backwards = 0;
  /// The last world, where it only loads from damaged files and what it gets wrong is one
  /// saved tensor: that tensor alone is read, without a model.
  std::optional<World> reading = {};

  std::vector<Act const*> all(Act::Kind kind) const;
  /// One process is enough: all worlds have one rank, none dies, and none is waited for in vain,
  /// and nothing is repeated.
  bool alone() const;
};

/// Some rank does not come back: a violation that is seen from outside of the ranks alone.
bool hangs(Violation const& violation);
/// Some rank's process ended by itself.
bool has_died(Violation const& violation);

/// Errors: NoScript where the scenario has what PyTorch has no word for, or not the run that the
///         violation is of.
Plan plan_of(Scenario const& scenario, Violation const& violation);

/// The value of one of the engine's options, or its default.
std::string_view option(Scenario const& scenario, std::string_view name,
                        std::string_view otherwise);

}  // namespace adamant::scenarios::script
