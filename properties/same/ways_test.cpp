// Law:        a finding leads to the same file in as many runs, with every compiler and on every
//             machine.
// Sense:      what each pass proposes, and where features of a scenario lead that are all that its
//             failure needs, has the checksum that stands here.
// Not said:   that other ways are worse. An edit of the minimiser or of the generator that was
//             meant to change them puts the printed table here.
// Must catch: any mistake in a pass that still leads to something lighter.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "properties/same/row.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/search/generate/generate.h"
#include "scenarios/search/generate/testing/boldest_peer.h"
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
schedule                 7268a3d96cc98823
further runs             4ee2ad31db3930c0
everything small         96fd54df865239d9
program's end            33586c575dca0a69
operations               34c878826c449e16
parameters               e27efa7f21d1e09e
parts and other names    b4f03889bc11dd4e
settings                 e12e8a849aa147b9
precision                cd83bd2a1279aa05
offload                  3763e13583fe30fc
faults                   63707f2c9d968fda
groups                   60effb4c207dcf9a
world                    2743ce9d3d4f4edc
microbatches             7c2aff571af217ae
shapes                   4e0353d607ed0106
what operations say      834e6077be20387b
eager replays            cab61d668f6dc3ca
pairs of operations      38f667f30cc29a5b
plainer operations       57912796e38fb144
joined operations        ee4a800a3027c824
order of operations      e52fea9c5d1e2f3c
order of parameters      d73ac57bf6758af4
usual settings           6fcffee494d9d0e9
usual precision          cd5df8048b677ea7
seed                     1370fef4282da20d
shapes under other seeds cd9510da2b3fb1b5
names                    edbe5e5ca2fcc406
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
simulator 0              47bf01085b183d72
peer 0                   6233b5f7c39699b6
simulator 1              c8f1b5d4d6929e50
peer 1                   3cb4cf0dd75d8f4c
simulator 2              a59146fdf7e90b3c
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
