// The same program once more, with a change that must not matter. Values only: which scenarios that
// makes is further_runs.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/language/laws.h"
#include "scenarios/language/world.h"

namespace adamant::scenarios {

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

/// What is broken where two runs of which this is promised come to different things.
inline Law law_of(Promise promise) {
  constexpr Law laws[] = {Law::runs_worlds, Law::runs_repeated, Law::runs_options,
                          Law::runs_resumed};
  return laws[static_cast<int>(promise)];
}

/// The boldest promise that a further run puts to the test.
inline Promise promise_of(Again const& again) {
  if (again.resumed_after) return Promise::resumed;
  return again.options.empty() ? Promise::repeated : Promise::options;
}

}  // namespace adamant::scenarios
