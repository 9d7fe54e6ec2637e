#include "sim/testing/judging.h"

#include <fstream>

#include <algorithm>

namespace adamant::sim {
namespace {

constexpr int seeds = 12;  // of each strategy that draws

std::vector<Options> many_options() {
  Options first;
  first.announce = false;
  first.free_waits = false;  // judged as strictly as the documents allow
  first.one_process = true;
  first.locate = false;  // watch/location_test.cu and its like look at lines
  std::vector<Options> result{first};
  for (Strategy const strategy : {Strategy::random, Strategy::pct}) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Options& options = result.emplace_back(first);
      options.seed = seed;
      options.schedule.strategy = strategy;
      options.schedule.seed = seed;
    }
  }
  return result;
}

bool is_of(Side const& side, Access const& access, Expected const& expected) {
  return access.operation == side.operation && access.stream == side.stream &&
         access.kind == side.kind && access.begin == expected.begin && access.end == expected.end;
}

bool says(Violation const& violation, Expected const& expected) {
  if (violation.law != expected.law) return false;
  if (violation.accesses.size() != expected.sides.size()) return false;
  if (violation.accesses.size() == 2 && violation.missing.empty()) return false;
  std::vector<Side> sides = expected.sides;
  for (int order = 0; order < 2; ++order) {
    bool const all = std::equal(
        sides.begin(), sides.end(), violation.accesses.begin(),
        [&](Side const& side, Access const& access) { return is_of(side, access, expected); });
    if (all) return true;
    std::reverse(sides.begin(), sides.end());
  }
  return false;
}

void expect_same_when_replayed(std::function<void(int)> const& main, Report const& report,
                               Options options, int ranks) {
  options.schedule.strategy = Strategy::fifo;
  options.schedule.choices = report.choices;
  Report const again = run(ranks, main, options);
  EXPECT_EQ(describe(again), describe(report));
  EXPECT_EQ(again.digest, report.digest);
}

}  // namespace

Options random_options(std::uint64_t seed) {
  Options options;
  options.seed = seed;
  options.announce = false;
  options.free_waits = false;  // judged as strictly as the documents allow
  options.one_process = true;
  options.locate = false;
  options.schedule.strategy = Strategy::random;
  options.schedule.seed = seed;
  return options;
}

void judge(std::function<void(bool)> const& program, Expected const& expected) {
  auto const wrong = [&](int) { program(false); };
  auto const right = [&](int) { program(true); };
  for (Options const& options : many_options()) {
    SCOPED_TRACE("strategy " + std::to_string(static_cast<int>(options.schedule.strategy)) +
                 ", seed " + std::to_string(options.seed));
    Report const found = run(expected.ranks, wrong, options);
    bool const told = std::any_of(found.violations.begin(), found.violations.end(),
                                  [&](Violation const& v) { return says(v, expected); });
    EXPECT_TRUE(told) << "the wrong form got this report:\n" << describe(found);
    expect_same_when_replayed(wrong, found, options, expected.ranks);
    Report const silent = run(expected.ranks, right, options);
    EXPECT_TRUE(silent.ok()) << "the right form got this report:\n" << describe(silent);
    if (testing::Test::HasFailure()) return;
  }
}

int marked_line(std::string const& file, std::string const& mark) {
  std::ifstream source(file);
  std::string line;
  for (int number = 1; std::getline(source, line); ++number)
    if (line.ends_with("// <- " + mark)) return number;
  ADD_FAILURE() << "nothing is marked " << mark << " in " << file;
  return 0;
}

}  // namespace adamant::sim
