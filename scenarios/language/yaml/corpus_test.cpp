// The corpus as files: each is read, opens with the reason why it exists, and is refused if and
// only if it says so. Running it is the corpus tests' part.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/file.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {
namespace {

/// With the scenarios of what is known of PyTorch, which lie beside its adapter.
std::vector<std::filesystem::path> corpus() {
  auto paths = find_scenarios("scenarios/corpus");
  auto const known = find_scenarios("scenarios/peers/torch/adamant_torch/known");
  paths.insert(paths.end(), known.begin(), known.end());
  return paths;
}

TEST(Corpus, OpensWithTheReasonWhyEachFileExists) {
  for (auto const& path : corpus()) {
    auto const text = read_file(path);
    auto const sentence = text.substr(0, text.find("\nadamant: 1\n"));
    EXPECT_TRUE(sentence.starts_with("# ") && sentence.ends_with('.')) << path;
    EXPECT_GT(sentence.size(), 60U) << path;
  }
}

/// Is this a refusal that only a run, or its admission, can find?
bool is_found_by_running(std::string const& id) {
  return id == "out_of_memory" || id == "unsupported.microbatches" || id == "damaged_checkpoint" ||
         id == "incompatible_checkpoint";
}

TEST(Corpus, IsRefusedWhereItSaysSoAndNowhereElse) {
  for (auto const& path : corpus()) {
    Scenario const scenario = load_scenario_file(path);
    auto const* const capabilities = capabilities_in_process(scenario.engine.name);
    if (capabilities == nullptr) continue;  // an engine in another process says it when it runs
    auto const refusal = refuse(scenario, *capabilities);
    bool const expected = scenario.expect.kind == Expectation::Kind::refused &&
                          !is_found_by_running(scenario.expect.id);
    ASSERT_EQ(refusal.has_value(), expected) << path;
    if (!refusal) continue;
    EXPECT_TRUE(matches(scenario.expect.id, refusal->id)) << path << " " << refusal->id;
  }
}

TEST(Corpus, ReadsBackFromItsNormalForm) {
  for (auto const& path : corpus()) {
    Scenario const scenario = load_scenario_file(path);
    std::string const text = write_scenario(scenario);
    Scenario const read = load_scenario_text(
        text, "written", {.models_directory = {}, .checkpoints_directory = path.parent_path()});
    EXPECT_EQ(read, scenario) << text;
    EXPECT_EQ(write_scenario(read), text);
  }
}

TEST(Corpus, StaysSmallAndVaried) {
  auto const paths = corpus();
  std::int64_t ranks_max = 0;
  for (auto const& path : paths) {
    Scenario const scenario = load_scenario_file(path);
    EXPECT_LE(scenario.world.rank_count(), 8) << path;
    ranks_max = std::max(ranks_max, scenario.world.rank_count());
  }
  EXPECT_EQ(ranks_max, 8);
  EXPECT_GE(paths.size(), 25U);
}

}  // namespace
}  // namespace adamant::scenarios
