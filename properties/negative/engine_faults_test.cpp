// Every mistake that the engine can be told to make is made in one small scenario, and exactly the
// law that it breaks must be reported; without the mistake the same scenario must be silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "properties/negative/fault_stages.h"
#include "scenarios/run/run.h"
#include "sim/sim.h"

namespace adamant::real {

void PrintTo(FaultInfo const& fault, std::ostream* out) {
  *out << fault.name << ", which breaks " << fault.law;
}

}  // namespace adamant::real

namespace adamant::properties {
namespace {

using scenarios::RunResult;

LawSet broken_laws(Play const& play, std::string_view fault,
                   std::optional<scenarios::Schedule> const& schedule = {}) {
  scenarios::RunOptions options;
  options.fault = fault;
  options.schedule = schedule;
  options.schedules = play.schedules;
  RunResult const result = scenarios::run_scenario(play.scenario, options);
  LawSet laws;
  for (auto const& violation : result.violations) laws.insert(violation.law);
  if (result.outcome == scenarios::Outcome::error) laws.insert("error: " + result.message);
  if (result.outcome == scenarios::Outcome::refused) laws.insert("refused: " + result.message);
  return laws;
}

/// Can these laws be judged in this build? Accesses need the compiler's instrumentation.
bool judged_here(LawSet const& laws) {
  if (sim::can_check) return true;
  return std::none_of(laws.begin(), laws.end(), [](std::string const& law) {
    return law.starts_with("access.") || law == "order.race";
  });
}

class EngineFault : public testing::TestWithParam<real::FaultInfo> {
 protected:
  void SetUp() override {
    if (!judged_here(play_.laws)) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  }

  Play const play_ = play_of(GetParam());
};

TEST_P(EngineFault, BreaksItsLawAndNoOther) {
  EXPECT_EQ(broken_laws(play_, GetParam().name), play_.laws);
}

TEST_P(EngineFault, IsMissedWhereItIsNotMade) {
  EXPECT_EQ(broken_laws(play_, ""), LawSet());
}

// Which laws else fall depends on what happens to happen first; that something falls does not.
TEST_P(EngineFault, IsNoticedUnderAnySchedule) {
  using scenarios::Schedule;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Schedule const schedule = {
        .strategy = seed % 2 == 0 ? Schedule::Strategy::random : Schedule::Strategy::pct,
        .seed = seed,
        .depth = std::nullopt,
        .choices = std::nullopt};
    EXPECT_FALSE(broken_laws(play_, GetParam().name, schedule).empty()) << "schedule seed " << seed;
    EXPECT_EQ(broken_laws(play_, "", schedule), LawSet()) << "schedule seed " << seed;
  }
}

// Where sums may round in any order, gradients are held to an interval instead.
TEST(EngineFaultOnRoundedSums, BreaksTheInterval) {
  Play play = play_of(real::all_faults().front());
  play.scenario.microbatches = 3;
  for (auto const gradients : {scenarios::GradientClass::normal, scenarios::GradientClass::wild}) {
    play.scenario.gradients = gradients;
    EXPECT_EQ(broken_laws(play, "mean_not_divided"), LawSet{"values.interval"});
    EXPECT_EQ(broken_laws(play, ""), LawSet());
  }
}

std::string camel_case(testing::TestParamInfo<real::FaultInfo> const& info) {
  std::string name;
  bool upper = true;
  for (char const c : info.param.name) {
    if (c != '_') name += upper ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EngineFault,
                         testing::ValuesIn(real::all_faults().begin(), real::all_faults().end()),
                         camel_case);

}  // namespace
}  // namespace adamant::properties
