// Every catalogued bug has a scenario of its own in the corpus: there its law must be reported, and
// without the bug the same scenario must be silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "sim/sim.h"

namespace adamant::bugs {

void PrintTo(Bug const& bug, std::ostream* out) {
  *out << bug.id << ", which breaks " << bug.law;
}

}  // namespace adamant::bugs

namespace adamant::properties {
namespace {

using scenarios::RunResult;
using scenarios::Scenario;
using scenarios::Schedule;
using LawSet = std::set<std::string>;

// Laws that cannot hold in a bug's scenario once its own has fallen.
std::map<std::string_view, LawSet> const fall_with_it = {
    {"moments_not_zeroed", {"values.bitwise"}},
    {"mlm_2811", {"access.lifetime"}},
    {"mlm_2811_first", {"values.bitwise"}},
    {"mlm_2811_partial", {"values.bitwise"}},
    {"mlm_4623_copy", {"memory.budget"}},
    {"mlm_5071", {"access.uninitialized"}},
    {"hybrid_sends_before_step", {"values.bitwise"}},
    {"idle_rank_sends_garbage", {"values.bitwise"}},
    {"zero_grad_moves_gradients", {"memory.budget"}},
    {"gradient_used_after_zero_grad", {"values.bitwise"}},
    {"compute_skips_wait_for_gather", {"access.lifetime"}},
    {"reduce_skips_wait_for_compute", {"access.lifetime"}},
    {"te_3136", {"order.race"}},
    {"mlm_4663", {"memory.budget"}},
    {"te_2951", {"memory.budget"}},  // the old storage is there until the new one is filled
    {"mlm_4663_twice", {"pointers.stable"}},
    {"learning_rate_frozen_in_graph", {"values.bitwise"}},
    {"weight_decay_frozen_in_graph", {"values.bitwise"}},
    {"norm_kept_in_graph", {"values.bitwise"}},
    {"graph_buffers_move", {"values.bitwise"}},
    {"ds_7898", {"access.lifetime"}},
    {"mxfp8_scales_not_gathered", {"values.bitwise"}},
    {"bucketed_fragments_unaligned", {"memory.budget"}},
    {"bucketed_not_sorted", {"memory.budget"}},
    {"amax_of_own_shard", {"ranks.agree"}},
    {"replicas_not_summed", {"ranks.agree"}},
    {"stepped_not_gathered_across", {"ranks.agree"}},
    {"codes_not_gathered_across", {"ranks.agree"}},
    {"mlm_6920", {"ranks.agree"}},
    {"scales_beside_codes_across", {"values.bitwise", "ranks.agree", "memory.budget"}},
};

LawSet laws_of(bugs::Bug const& bug) {
  auto const others = fall_with_it.find(bug.id);
  LawSet laws = others == fall_with_it.end() ? LawSet() : others->second;
  laws.emplace(bug.law);
  return laws;
}

Scenario scenario_of(bugs::Bug const& bug) {
  return scenarios::load_scenario_file("scenarios/corpus/bugs/" + std::string(bug.id) + ".yaml");
}

Scenario without_bug(Scenario scenario) {
  scenario.bug.reset();
  scenario.expect = {};
  return scenario;
}

/// A checkpoint that is damaged on purpose has to be refused, and so has what finds no memory.
bool is_due(RunResult const& result, Scenario const& scenario) {
  using scenarios::Fault;
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [&](Fault const& fault) {
    if (fault.at == Fault::Where::load) return result.reason == "damaged_checkpoint";
    return fault.at == Fault::Where::malloc && result.reason == "out_of_memory";
  });
}

LawSet broken_laws(Scenario const& scenario, std::optional<Schedule> const& schedule = {}) {
  scenarios::RunOptions options;
  options.schedule = schedule;
  options.repeat = true;
  RunResult const result = scenarios::run_scenario(scenario, options);
  LawSet laws;
  for (auto const& violation : result.violations) laws.emplace(id_of(violation.law));
  if (result.outcome == scenarios::Outcome::error) laws.insert("error: " + message_of(result));
  if (result.outcome == scenarios::Outcome::refused && !is_due(result, scenario))
    laws.insert("refused: " + message_of(result));
  return laws;
}

/// Can the bug be seen in this build? Accesses need the compiler's instrumentation, and nothing
/// else tells that a replayed kernel, other than a copy, goes to memory that is gone.
bool judged_here(bugs::Bug const& bug) {
  if (sim::can_check) return true;
  LawSet const laws = laws_of(bug);
  if (bug.id == "mlm_4663" || bug.id == "graph_buffers_move") return false;
  return std::none_of(laws.begin(), laws.end(), [](std::string const& law) {
    return law.starts_with("access.") || law == "order.race";
  });
}

class CataloguedBug : public testing::TestWithParam<bugs::Bug> {
 protected:
  void SetUp() override {
    if (!judged_here(GetParam()))
      GTEST_SKIP() << "its law is about accesses, which only the instrumentation reports, and the "
                      "sanitizers exclude that";
  }

  Scenario const scenario_ = scenario_of(GetParam());
};

TEST_P(CataloguedBug, HasAScenarioThatNamesItAndItsLaw) {
  EXPECT_EQ(scenario_.bug, GetParam().id);
  EXPECT_EQ(scenario_.expect.kind, scenarios::Expectation::Kind::violates);
  EXPECT_EQ(scenario_.expect.id, GetParam().law);
}

TEST_P(CataloguedBug, BreaksItsLawAndNoOther) {
  EXPECT_EQ(broken_laws(scenario_), laws_of(GetParam()));
}

TEST_P(CataloguedBug, IsMissedWhereItIsNotMade) {
  EXPECT_EQ(broken_laws(without_bug(scenario_)), LawSet());
}

// A seed draws values; which ones must not decide.
TEST_P(CataloguedBug, IsNoticedWithAnySeed) {
  Scenario scenario = scenario_;
  for (std::uint64_t const seed : {1ULL, 2ULL, 3ULL, 4ULL, ~0ULL}) {
    scenario.seed = seed;
    EXPECT_TRUE(broken_laws(scenario).contains(std::string(GetParam().law))) << "seed " << seed;
    EXPECT_EQ(broken_laws(without_bug(scenario)), LawSet()) << "seed " << seed;
  }
}

// Device memory that is used again brings the missing order with it, where it happens to be.
std::map<std::string_view, int> const schedules_that_may_hide_it = {
    {"mlm_2811_reload", 8},
    {"saved_files_not_synced", 8},         // a disk may keep more than it has to
    {"old_checkpoint_removed_first", 14},  // and forget a removal, too
};

// Which laws else fall depends on what happens to happen first; that something falls does not.
TEST_P(CataloguedBug, IsNoticedUnderAnySchedule) {
  auto const hidden = schedules_that_may_hide_it.find(GetParam().id);
  int left = hidden == schedules_that_may_hide_it.end() ? 0 : hidden->second;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Schedule const schedule = {
        .strategy = seed % 2 == 0 ? Schedule::Strategy::random : Schedule::Strategy::pct,
        .seed = seed,
        .depth = std::nullopt,
        .choices = std::nullopt};
    if (broken_laws(scenario_, schedule).empty()) --left;
    EXPECT_GE(left, 0) << "schedule seed " << seed;
    EXPECT_EQ(broken_laws(without_bug(scenario_), schedule), LawSet()) << "schedule seed " << seed;
  }
}

// Where sums may round in any order, gradients are held to an interval instead.
TEST(CataloguedBugOnRoundedSums, BreaksTheInterval) {
  Scenario scenario =
      scenarios::load_scenario_file("scenarios/corpus/bugs/slot_released_before_compute.yaml");
  scenario.microbatches = 3;
  scenario.bug = "mean_not_divided";
  for (auto const gradients : {scenarios::GradientClass::normal, scenarios::GradientClass::wild}) {
    scenario.gradients = gradients;
    EXPECT_EQ(broken_laws(scenario), LawSet{"values.interval"});
    EXPECT_EQ(broken_laws(without_bug(scenario)), LawSet());
  }
}

TEST(Catalogue, NamesLawsOfTheContract) {
  for (bugs::Bug const& bug : bugs::catalogue()) {
    auto const laws = scenarios::laws();
    EXPECT_TRUE(std::any_of(laws.begin(), laws.end(), [&](scenarios::Meaning const& law) {
      return law.id == bug.law;
    })) << bug.id;
  }
}

std::string camel_case(testing::TestParamInfo<bugs::Bug> const& info) {
  std::string name;
  bool upper = true;
  for (char const c : info.param.id) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, CataloguedBug,
                         testing::ValuesIn(bugs::catalogue().begin(), bugs::catalogue().end()),
                         camel_case);

}  // namespace
}  // namespace adamant::properties
