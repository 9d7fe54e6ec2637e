// Each value that the language offers is drawn: 10^5 cases have it, or it is listed here with the
// reason why it cannot occur.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/search/generate/generate.h"
#include "scenarios/search/generate/testing/boldest_peer.h"
#include "scenarios/search/generate/testing/values.h"

namespace adamant::scenarios {
namespace {

constexpr std::uint64_t cases = 100000;
constexpr int cases_min = 5;  // of each value

/// Values that begin so cannot occur.
struct Never {
  std::string_view begin;
  std::string_view why;
};

constexpr Never nowhere[] = {
    {"about: some", "it is for readers"},
    {"about: none", "it is for readers"},
    {"source: some", "it is for readers"},
    {"source: none", "it is for readers"},
    {"name: none", "it has to be written"},
    {"params.name: none", "it has to be written"},
    {"params: none", "it has to be written"},
    {"save: none", "it has to be written"},
    {"load.from: none", "it has to be written"},
    {"bug: some", "the search's user switches it on"},
    {"bug: none", "a bug has a name"},
    {"params: of a model", "a model is too large"},
    {"seed: absent", "a case repeats"},
    {"engine.name: another", "the search's user names it"},
    {"expect: violates", "what breaks a law is found, not drawn"},
    {"schedule.choices: some", "a run records them"},
    {"schedule.choices: none", "a run records them"},
    {"schedule.strategy: exhaustive", "it is refused"},
    {"faults.nth: absent", "it is drawn as 1, which is the same"},
};

constexpr Never in_the_simulator[] = {
    {"again: some", "it promises nothing of two runs: the judge holds it to one sum in any"},
    {"again.", "likewise"},
    {"worlds: some", "likewise"},
    {"worlds.", "likewise"},
    {"engine.options: some", "it has none"},
    {"precision.state_scale: none", "it refuses fp16 states that have no scale"},
    {"params.precision.state_scale: none", "likewise"},
    {"load.precision.state_scale: none", "likewise"},
};

constexpr Never in_other_processes[] = {
    {"capture", "no protocol has it"},
    {"replay", "likewise"},
    {"optimizer.capturable: true", "likewise"},
    {"offload.", "likewise"},
    {"offload: there", "likewise"},
    {"reload: there", "likewise"},
    {"load.offload.", "likewise"},
    {"load.offload: none", "likewise"},
    {"optimizer.decoupled_grad: false", "likewise"},
    {"optimizer.keep_cast_grad: true", "likewise"},
    {"params.tied: some", "requests know one gradient of each parameter"},
    {"params.shape: none", "only another name of a parameter has none"},
    {"faults.at: malloc", "it is not in their hands"},
    {"faults.then: out_of_memory", "likewise"},
    {"schedule.strategy: random", "there are no choices"},
    {"schedule.strategy: pct", "likewise"},
    {"schedule.seed: a number", "likewise"},
    {"schedule.depth: the", "likewise"},
    {"schedule.depth: another", "likewise"},
};

/// How many of the cases have each value.
using Counts = std::map<std::string, int>;

Counts counts_of(GenerateOptions const& options) {
  Counts counts;
  ValueWalk([&](std::string const& value) { counts[value]; }).keys<Scenario>("", nullptr);
  std::set<std::string> values;
  ValueWalk walk([&](std::string const& value) { values.insert(value); });
  for (std::uint64_t i = 0; i < cases; ++i) {
    Scenario const scenario = generate_scenario(3, i, options);
    values.clear();
    walk.keys("", &scenario);
    for (std::string const& value : values) ++counts.at(value);
  }
  return counts;
}

class Gate {
 public:
  explicit Gate(Counts counts) : counts_(std::move(counts)), left_(counts_) {}

  void expect_none_of(std::span<Never const> all) {
    for (Never const& never : all) {
      bool const is_there =
          std::erase_if(left_, [&](auto const& one) { return one.first.starts_with(never.begin); });
      EXPECT_TRUE(is_there) << never.begin << " is no value any more";
      for (auto const& [value, count] : counts_)
        EXPECT_FALSE(count > 0 && value.starts_with(never.begin)) << value << " occurs";
    }
  }
  void expect_the_others() const {
    for (auto const& [value, count] : left_) EXPECT_GE(count, cases_min) << value;
  }

 private:
  Counts counts_;
  Counts left_;
};

TEST(Values, OfTheLanguageAreEachDrawnForTheSimulator) {
  Gate gate(counts_of({.faults = true}));
  gate.expect_none_of(nowhere);
  gate.expect_none_of(in_the_simulator);
  gate.expect_the_others();
}

TEST(Values, OfTheLanguageAreEachDrawnForEnginesInOtherProcesses) {
  Gate gate(counts_of({.faults = true, .capabilities = boldest_peer()}));
  gate.expect_none_of(nowhere);
  gate.expect_none_of(in_other_processes);
  gate.expect_the_others();
}

}  // namespace
}  // namespace adamant::scenarios
