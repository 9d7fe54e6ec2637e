// The further runs that a scenario asks for, each as a scenario: its program in another world, or
// once more with a change that must not matter. Who runs and compares them is scenarios/runner.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/language/laws.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// What is broken where two runs of which this is promised come to different things.
inline Law law_of(Promise promise) {
  constexpr Law laws[] = {Law::runs_worlds, Law::runs_repeated, Law::runs_options,
                          Law::runs_resumed};
  return laws[static_cast<int>(promise)];
}

struct FurtherRun {
  Scenario scenario;  // has no further runs
  Promise promise = Promise::repeated;
  std::size_t number = 0;  // among the scenario's `other_worlds`, or in its `again`
  /// Entries that only this program has, numbered as a report does: the first, and how many.
  int inserted_at = 0;
  int inserted = 0;

  bool has_inserted(int entry) const {
    return entry >= inserted_at && entry < inserted_at + inserted;
  }
  /// The number that an entry has in the program of the scenario; of an inserted one that of the
  /// entry before it.
  int original(int entry) const;
};

/// Those in other worlds first. They run in the order `fifo`, because the choices of a schedule
/// count the operations of one program. REQUIRES: `resumed_after` is not behind the program.
std::vector<FurtherRun> further_runs(Scenario const& scenario);

/// Adds the others, in the place of those of the same name.
void replace_options(EngineOptions& options, EngineOptions const& others);

}  // namespace adamant::scenarios
