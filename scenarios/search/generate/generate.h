// Generated scenarios: every one is well-formed and supported by an engine with the capabilities
// that it is drawn for, and meets its expectation: to pass, or where a checkpoint is damaged on
// purpose, to be refused. A scenario is a function of capabilities, a seed and an index, so a
// search can name what it found by two numbers. It executes nothing.
#pragma once

#include <rapidcheck/Gen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/capabilities.h"
#include "scenarios/search/generate/features.h"

namespace adamant::scenarios {

/// An option of the engine that keeps scenarios from meeting a defect.
struct UsualOption {
  std::string name;
  std::string value;
  /// Few scenarios without it meet the defect, so that half of them do without.
  bool seldom_needed = false;

  bool operator==(UsualOption const&) const = default;
};

/// How large generated scenarios get, and what they leave out.
struct GenerateOptions {
  int size = 100;  // 0 … 100, as RapidCheck counts: 0 gives one rank, one row, one operation
  std::int64_t ranks_max = 8;
  std::int64_t params_max = 6;
  std::int64_t operations_max = 13;
  /// So many in a row have the same parameters and world, and mostly the same types and the same
  /// worlds to load on. Where what is new costs an engine more than steps do, it runs more
  /// scenarios in the same time.
  std::uint64_t scenarios_of_model = 1;
  /// Things that go wrong on purpose, crashes and damage: off unless asked for, because a run with
  /// them does not come to the same end in every world and under every schedule.
  bool faults = false;
  /// Features that no scenario may have. Only what can be left out by itself is: settings,
  /// gradients, schedules and operations; not `one_rank` or `ragged_end`, which follow from sizes.
  FeatureSet off = {};
  /// What the engine that will run them can do, by which they are drawn (profile.h).
  Capabilities capabilities = capabilities_of_simulation();
  /// Options of the engine that most scenarios have, all of them together, and others each by
  /// chance; those that are seldom needed always by chance.
  std::vector<UsualOption> usual_options = {};
};

/// The scenario number `index` of `seed`.
Scenario generate_scenario(std::uint64_t seed, std::uint64_t index,
                           GenerateOptions const& options = {});

/// The same scenarios for properties, growing with RapidCheck's size and shrinking by simpler()
/// (scenarios/search/minimize/passes.h).
rc::Gen<Scenario> scenario_gen(GenerateOptions options = {});

}  // namespace adamant::scenarios
