// Law:        final_state(s; save a; t; save a crashes; load a) is that of s or that of s; t
// Sense:      bitwise, at any byte of any rank and any file operation, under any schedule, for what
//             a disk may keep or lose of what was not synced.
// Not said:   which of the two it is; nor what happens when a disk lies about a sync.
// Must catch: bugs `saved_files_not_synced` and `old_checkpoint_removed_first`.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"

namespace adamant::properties {
namespace {

using scenarios::Scenario;

struct Crash {
  std::int64_t rank = 0;
  std::int64_t after_bytes = 0;
};

std::string old_or_new(Scenario const& scenario, Crash const& crash, std::string const& bug) {
  Scenario older = scenario;
  Scenario newer = scenario;
  Scenario crashing = scenario;
  for (Scenario* s : {&newer, &crashing}) {
    if (s == &crashing) add(*s, scenarios::Save{.checkpoint = "a"});
    add(*s, scenarios::Backward{});
    add(*s, scenarios::Step{});
    if (s == &crashing) add(*s, scenarios::Save{.checkpoint = "a"});
  }
  add(older, scenarios::ZeroGrad{});
  add(newer, scenarios::ZeroGrad{});
  add(crashing, scenarios::Load{.from = "a"});
  crashing.faults = {{.at = scenarios::Fault::Where::save,
                      .then = scenarios::Fault::Then::crash,
                      .rank = crash.rank,
                      .nth = 2,
                      .after_bytes = crash.after_bytes}};
  FinalState const left = execute(crashing, {.bug = bug}).state;
  std::string const from_new = first_difference(execute(newer, {}).state, left);
  if (from_new == no_difference) return no_difference;
  return first_difference(execute(older, {}).state, left);
}

/// Of these the law's own saves are the first.
scenarios::GenerateOptions without_saves() {
  auto options = exact_that_can_save();
  options.off |= scenarios::set_of(scenarios::Feature::save);
  return options;
}

RC_GTEST_PROP(Crash, LeavesTheOldCheckpointOrTheNewOne, ()) {
  auto const scenario = *scenarios::scenario_gen(without_saves()).as("scenario");
  auto const ranks = scenario.world.rank_count();
  Crash crash;
  crash.rank = *rc::gen::inRange<std::int64_t>(0, ranks).as("rank");
  crash.after_bytes = *rc::gen::inRange<std::int64_t>(0, 8000).as("bytes");
  classify(scenario);
  RC_ASSERT(old_or_new(scenario, crash, "") == no_difference);
}

/// Crashes right behind the save, and at a byte that follows from the seed.
std::string behind_or_within(Scenario const& scenario, std::string const& bug) {
  std::string const behind = old_or_new(scenario, {.rank = 0, .after_bytes = 1 << 30}, bug);
  if (behind != no_difference) return behind;
  auto const bytes = static_cast<std::int64_t>(scenario.seed.value_or(0) % 500);
  return old_or_new(scenario, {.rank = 0, .after_bytes = bytes}, bug);
}

TEST(Crash, CatchesBytesThatWereNotSynced) {
  expect_caught(behind_or_within, "saved_files_not_synced", without_saves());
}

TEST(Crash, CatchesAnOldCheckpointThatGoesFirst) {
  expect_caught(behind_or_within, "old_checkpoint_removed_first", without_saves());
}

}  // namespace
}  // namespace adamant::properties
