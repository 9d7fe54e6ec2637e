// A scenario as a plain value: everything that format version 1 can say, with defaults filled in.
// It compares by meaning and copies cheaply. It does not know YAML (scenarios/language/yaml does)
// and does not judge what an engine supports (seam/refusals.h does).
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/types.h"
#include "scenarios/language/program.h"
#include "scenarios/language/recipe.h"
#include "scenarios/language/world.h"

namespace adamant::scenarios {

/// One parameter as the file lists it, or another name of one that stands before it. An empty shape
/// is a scalar, which the engine refuses.
struct Param {
  std::string name = {};
  std::vector<std::int64_t> shape = {};  // of a tied one: empty, as all but its name
  std::string group = {};                // empty: none
  PrecisionOverride precision = {};
  std::vector<std::string> parts = {};  // equal parts of dimension 0, saved one by one; none: whole
  std::string tied = {};                // the parameter whose other name this is; empty: none
  SourceLine line = {};

  bool is_tied() const { return !tied.empty(); }

  friend bool operator==(Param const&, Param const&) = default;
};

/// The same program once more, with a change that must not matter. Which scenarios that makes is
/// further_runs.h.
///
/// What it does not say is as in the scenario.
struct Again {
  EngineOptions options = {};  // of the engine, before those of the same names
  /// After so many entries of the program everything is saved, and loaded into new worlds: one like
  /// each of `through`, which saves it again, and at last one like the world that was left.
  std::optional<std::int64_t> resumed_after = {};
  std::vector<World> through = {};
  ParamOrder order = ParamOrder::listed;  // reversed: so those worlds register the parameters

  friend bool operator==(Again const&, Again const&) = default;
};

/// What an engine may promise of two runs.
enum class Promise { worlds, repeated, options, resumed };
inline constexpr Promise all_promises[] = {Promise::worlds, Promise::repeated, Promise::options,
                                           Promise::resumed};

/// The boldest promise that a further run puts to the test.
inline Promise promise_of(Again const& again) {
  if (again.resumed_after) return Promise::resumed;
  return again.options.empty() ? Promise::repeated : Promise::options;
}

/// What a scenario expects of its run.
struct Expectation {
  enum class Kind { pass, violates, refused };
  Kind kind = Kind::pass;
  std::string id = {};  // a law or a reason, or a prefix of one up to a dot; "any" for any refusal

  friend bool operator==(Expectation const&, Expectation const&) = default;
};

/// Where keys outside params and program stand, for refusals; equal to any other, like every
/// SourceLine.
class KeyLines {
 public:
  /// REQUIRES: a key of a table (table.h), whose text lives for ever.
  void note(std::string_view key, SourceLine line) { lines_.emplace_back(key, line); }
  SourceLine operator[](std::string_view key) const {
    for (auto const& [noted, line] : lines_)
      if (noted == key) return line;
    return {};
  }

  friend bool operator==(KeyLines const&, KeyLines const&) { return true; }

 private:
  std::vector<std::pair<std::string_view, SourceLine>> lines_;
};

struct Scenario {
  std::string name = {};
  std::optional<std::string> about = {};
  std::optional<std::string> source = {};
  std::optional<std::uint64_t> seed = {};  // absent: drawn by whoever runs it

  World world = {};
  std::vector<World> other_worlds = {};  // in which the program has to come to the same
  Layout layout = Layout::fsdp2;
  std::optional<std::string> model = {};  // where params come from a model's list, its name
  std::vector<Param> params = {};         // never empty once read
  ParamOrder order = ParamOrder::listed;  // of registration; a file says it in a load alone
  std::vector<Group> groups = {};         // file order

  Precision precision = {};
  Optimizer optimizer = {};
  Offload offload = {};
  GradientClass gradients = GradientClass::exact;
  std::optional<std::int64_t> microbatches = {};  // absent: the ranks of `world`, also after a load

  std::vector<Operation> program = {};  // never empty once read

  std::vector<Again> again = {};  // further runs that have to come to the same

  EngineChoice engine = {};
  Schedule schedule = {};
  std::vector<Fault> faults = {};
  std::optional<std::string> bug = {};
  Expectation expect = {};

  KeyLines lines = {};

  /// The global batch: how many microbatches one backward covers.
  std::int64_t microbatch_count() const { return microbatches.value_or(world.rank_count()); }
  /// The recipe of one parameter, which is not tied: the scenario's with its own types.
  Precision precision_of(Param const& param) const { return with(precision, param.precision); }

  friend bool operator==(Scenario const&, Scenario const&) = default;
};

/// What loads change.
struct Setting {
  World world;
  Layout layout = Layout::fsdp2;
  Precision precision;
  Offload offload;
  ParamOrder order = ParamOrder::listed;

  friend auto operator<=>(Setting const&, Setting const&) = default;
};
Setting setting_of(Scenario const& scenario);
Scenario with(Scenario scenario, Setting const& setting);

/// What a load makes of it. `microbatches` stay as many.
Setting with(Setting setting, Load const& load);
Scenario with(Scenario scenario, Load const& load);

/// Visits the scenario, and what the loads of its program make of it, each setting once: of
/// thousands of loads most lead back and forth.
void for_each_setting(Scenario const& scenario, std::function<void(Scenario const&)> const& visit);

/// Do ranks have to be made anew for it, with all that they hold?
bool needs_new_world(Scenario const& before, Load const& load);

/// The parameters as oracle and engine take them, those that are not tied in the order of the file:
/// groups numbered as group_configs() numbers them, units by their blocks (language/registry.h). A
/// place in this list is a parameter's number; names have other numbers (language/registry.h).
/// Shapes: REQUIRES every shape to have at least one dimension (a scalar is refused before).
std::vector<ParameterSpec> parameter_specs(Scenario const& scenario);

/// The settings of every group before the first operation; see group_configs() for later ones.
std::vector<AdamConfig> adam_configs(Scenario const& scenario);

}  // namespace adamant::scenarios
