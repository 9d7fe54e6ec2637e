// Law:        a finding leads to the same file in as many runs, with every compiler and on every
//             machine.
// Sense:      what each pass proposes, and where features of a scenario lead that are all that its
//             failure needs, has the checksum that stands here.
// Not said:   that other ways are worse. An edit of the minimiser or of the generator that was
//             meant to change them puts the printed table here.
// Must catch: any mistake in a pass that still leads to something lighter.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "properties/same/row.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/search/generate/generate.h"
#include "scenarios/search/generate/testing/boldest_peer.h"
#include "scenarios/search/minimize/alternatives.h"
#include "scenarios/search/minimize/minimize.h"
#include "scenarios/search/minimize/passes.h"

namespace adamant::properties {
namespace {

using namespace scenarios;

GenerateOptions for_simulator() {
  return {.faults = true};
}
GenerateOptions for_peer() {
  return {.faults = true, .capabilities = boldest_peer()};
}

void append_proposals(Pass const& pass, GenerateOptions const& options, std::string& texts) {
  for (std::uint64_t i = 0; i < 60; ++i)
    for (Scenario const& each :
         proposed_by(pass, generate_scenario(21, i, options), options.capabilities))
      texts += write_scenario(each);
}

TEST(SameWays, EachPassProposesWhatItDid) {
  std::string table;
  for (Pass const& pass : passes()) {
    std::string texts;
    append_proposals(pass, for_simulator(), texts);
    append_proposals(pass, for_peer(), texts);
    table += row_of(pass.name, texts);
  }
  EXPECT_EQ("\n" + table, R"(
schedule                 a2bce1505a4da4a2
further runs             4ee2ad31db3930c0
everything small         4276fa98a2168302
program's end            deb9a75ca66d9464
operations               d51177500d348ec9
parameters               7d883606c2e97db8
parts and other names    5642366dd904258d
settings                 b89ddaf874de2c88
precision                4df1a67a4d03747d
offload                  1b936a7f908898bc
faults                   66645a7b84f45ca6
groups                   80fdbf3ccae0012d
world                    bc356f2ec78114db
microbatches             14aa43fa424ffae1
shapes                   ddb01554fe171a95
what operations say      c015ffd2225b2ec7
eager replays            ddf7436479a55194
pairs of operations      47896298f9e54ef7
plainer operations       cefe4821c343ff81
joined operations        4f29d1db9dffccca
order of operations      21bf8175b7576956
order of parameters      dfee00aac1d08469
usual settings           533a4ed7b70d2119
usual precision          b745e1b9afd0a009
seed                     00c1f2627f39d40d
shapes under other seeds 5bf2964be7b5ff45
names                    288426761b23f878
)");
}

/// With more further runs than are drawn.
Scenario with_many_further_runs() {
  Scenario scenario = generate_scenario(21, 1, {.capabilities = capable_peer()});
  scenario.faults.clear();
  scenario.other_worlds = {{.shard = 5}, {.shard = 6, .replicate = 2}, {.shard = 3}};
  scenario.again = {{.options = {{"async_save", "true"}, {"implementation", "fused"}}},
                    {.resumed_after = 1, .through = {{.shard = 4}, {.shard = 7}}},
                    {}};
  return scenario;
}

TEST(SameWays, FurtherRunsAreTakenBackInTheSameOrder) {
  std::string texts;
  for (Scenario const& each : proposed_by({"", passes_of::simplify_further_runs},
                                          with_many_further_runs(), capable_peer()))
    texts += write_scenario(each);
  EXPECT_EQ("\n" + row_of("many further runs", texts), R"(
many further runs        8c83d40facc71f63
)");
}

/// What a list of parts fills in, its first so many.
void append_parts(Scenario const& blank, std::vector<AlternativePart> const& parts,
                  std::size_t most, std::string& texts) {
  for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) {
    Scenario filled = blank;
    parts[i].fill(filled);
    texts += fmt::format("{} {}\n", parts[i].size, write_scenario(filled));
  }
}

TEST(SameWays, SmallScenariosArePutTogetherOfTheSameParts) {
  std::string programs;
  std::string settings;
  std::string worlds;
  for (std::uint64_t i = 0; i < 120; ++i) {
    Scenario const scenario = generate_scenario(23, i, i % 2 == 0 ? for_simulator() : for_peer());
    Scenario const blank = blank_like(scenario);
    Lists const lists = lists_of(scenario);
    append_parts(blank, lists.programs, lists.few_programs + 20, programs);
    append_parts(blank, lists.settings, 60, settings);
    append_parts(blank, lists.worlds, lists.worlds.size(), worlds);
    programs += fmt::format("{} {}\n", lists.few_programs, lists.programs.size());
    settings +=
        fmt::format("{} {} {}\n", lists.own_settings, lists.few_settings, lists.settings.size());
    worlds += fmt::format("{}\n", lists.few_worlds);
  }
  EXPECT_EQ(
      "\n" + row_of("programs", programs) + row_of("settings", settings) + row_of("worlds", worlds),
      R"(
programs                 a5fb17bce216f465
settings                 38de3ce98f20d6dd
worlds                   e118c87f6ebd2288
)");
}

/// Fails where a scenario has all of these features.
Judge judge_by(FeatureSet needed) {
  return [needed](std::span<Scenario const> scenarios) {
    std::vector<RunResult> results;
    for (Scenario const& scenario : scenarios) {
      RunResult& result = results.emplace_back();
      bool const fails = (features_of(scenario) & needed) == needed;
      result.outcome = fails ? Outcome::violated : Outcome::pass;
      if (fails) result.violations.emplace_back().law = Law::values_bitwise;
      result.choices = {3, 0, 2, 1, 0, 0};
    }
    return results;
  };
}

/// Of the features that a generated scenario has, each that only comes with it by chance is needed
/// with the one before.
std::string ends_of(std::uint64_t index, GenerateOptions const& options) {
  Scenario const scenario = generate_scenario(22, index, options);
  std::string texts;
  FeatureSet before = {};
  for (std::size_t i = 0; i < feature_count; ++i) {
    FeatureSet const one = set_of(static_cast<Feature>(i));
    if (!has(features_of(scenario), static_cast<Feature>(i))) continue;
    Judge const judge = judge_by(one | before);
    before = one;
    RunResult const first = judge(std::span(&scenario, 1)).front();
    Minimized const end = minimize(scenario, first, *symptom_of(first), judge,
                                   {.capabilities = options.capabilities, .alternatives_max = 100});
    texts += std::to_string(end.runs) + "\n" + write_scenario(end.scenario);
  }
  return texts;
}

TEST(SameWays, FeaturesLeadWhereTheyLed) {
  std::string table;
  for (std::uint64_t index = 0; index < 6; ++index) {
    table += row_of("simulator " + std::to_string(index), ends_of(index, for_simulator()));
    table += row_of("peer " + std::to_string(index), ends_of(index, for_peer()));
  }
  EXPECT_EQ("\n" + table, R"(
simulator 0              099b82e90f5b94f0
peer 0                   6233b5f7c39699b6
simulator 1              c8f1b5d4d6929e50
peer 1                   3cb4cf0dd75d8f4c
simulator 2              bd1c3625d604cf05
peer 2                   60b15ffcbc78d8e1
simulator 3              2bc35f9972397315
peer 3                   8c81962f3296c068
simulator 4              a0875c81b8c90374
peer 4                   6efc776650c17c8c
simulator 5              d27d7b2eb9da3b0d
peer 5                   b80566cf4e6cc371
)");
}

}  // namespace
}  // namespace adamant::properties
