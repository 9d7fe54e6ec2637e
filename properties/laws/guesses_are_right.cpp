// Law:        a guess at a cause names the mistake that was made   with every catalogued bug
// Sense:      exact: for each bug, the guesses that say what its own text says.
// Not said:   that there is a guess wherever there could be one.
// Must catch: any guess with a bug that has none here; each guess is also told once, below.
//
// ADAMANT_GUESS_CASES sets how many scenarios are run with each bug, ADAMANT_SOAK_SEED which.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "properties/laws/law.h"
#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/runner/run.h"
#include "scenarios/search/minimize_in_workers.h"

namespace adamant::properties {
namespace {

using scenarios::RunResult;
using scenarios::Scenario;

constexpr std::string_view begin_of_guess = "a guess: every bit that is wrong is what the ";

std::uint64_t from_environment(char const* name, std::uint64_t otherwise) {
  char const* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string guess_of(RunResult const& result) {
  for (std::string const& note : result.notes)
    if (note.starts_with(begin_of_guess)) return note.substr(begin_of_guess.size());
  return {};
}

constexpr std::string_view of_next_step = "step would leave with bias corrections of the next step";
constexpr std::string_view of_step_before =
    "step would leave with bias corrections of the step before";
constexpr std::string_view no_decay = "step would leave with no weight decay";
constexpr std::string_view earlier_lr = "step would leave with the lr before operation";
constexpr std::string_view earlier_settings = "step would leave with the settings before operation";
constexpr std::string_view first_group =
    "step would leave with the settings of those without a group";
constexpr std::string_view zeros = "step would leave with moments of zeros";
constexpr std::string_view own_scales =
    "step would leave with scales that each rank makes of its own shard";
constexpr std::string_view zeros_loaded = "load would leave with moments of zeros";
constexpr std::string_view not_loaded = "load would leave with what was there before it";
constexpr std::string_view reversed =
    "load would leave with moments of other parameters, in reverse order";
constexpr std::string_view saved_before = "load would leave with what operation 1 saved";

/// What a bug does wrong, as guesses say it. Two are races whose loser reads just that.
std::multimap<std::string_view, std::string_view> const& right_guesses() {
  static std::multimap<std::string_view, std::string_view> const all = {
      {"counter_off_by_one", of_next_step},
      {"flashlight_143", of_next_step},
      {"olmo_core_309", of_step_before},
      {"kernel_skips_wait_for_table", of_step_before},
      {"onetrainer_996", no_decay},
      {"modes_mixed", "step would leave with the weight decay of the other mode"},
      {"settings_frozen", earlier_lr},
      {"settings_frozen", earlier_settings},
      {"first_group_for_all", first_group},
      {"loaded_moments_made_anew", zeros},
      {"amax_of_own_shard", own_scales},
      {"amax_not_awaited", own_scales},
      {"areal_1468", zeros_loaded},
      {"areal_1468", not_loaded},
      {"pt_118081", not_loaded},
      {"pt_113673", reversed},
  };
  return all;
}

bool is_right(std::string_view bug, std::string_view guess) {
  auto const [begin, end] = right_guesses().equal_range(bug);
  return std::any_of(begin, end, [&](auto const& each) { return guess.starts_with(each.second); });
}

TEST(Guesses, NameTheMistakeThatWasMade) {
  std::uint64_t const cases = from_environment("ADAMANT_GUESS_CASES", 4);
  std::uint64_t const seed = from_environment("ADAMANT_SOAK_SEED", 1);
  std::vector<Scenario> drawn;
  for (std::uint64_t index = 0; index < cases; ++index)
    drawn.push_back(scenarios::generate_scenario(seed, index));
  std::uint64_t findings = 0;
  std::uint64_t guesses = 0;
  for (bugs::Bug const& bug : bugs::catalogue()) {
    scenarios::RunOptions options;
    options.bug = bug.id;
    for (RunResult const& result : scenarios::run_isolated(drawn, options, 2)) {
      findings += result.violations.empty() ? 0 : 1;
      std::string const guess = guess_of(result);
      guesses += guess.empty() ? 0 : 1;
      EXPECT_TRUE(guess.empty() || is_right(bug.id, guess)) << bug.id << ": " << guess;
    }
  }
  EXPECT_GT(findings, cases * 10);
  RecordProperty("findings", std::to_string(findings));
  RecordProperty("guesses", std::to_string(guesses));
  std::printf("%s findings, %s guesses\n", std::to_string(findings).c_str(),
              std::to_string(guesses).c_str());
}

// ---- each is told once --------------------------------------------------------------------------

std::string guess_in(Scenario const& scenario) {
  return guess_of(scenarios::run_scenario(scenario));
}

std::string guess_in_corpus(std::string const& bug) {
  return guess_in(
      scenarios::load_scenario_file(ADAMANT_SOURCE_DIR "/scenarios/corpus/bugs/" + bug + ".yaml"));
}

std::string guess_in_text(std::string const& rest) {
  return guess_in(scenarios::load_scenario_text(
      "adamant: 1\nname: a\nseed: 0\nworld: {shard: 2}\n" + rest, "test"));
}

TEST(Guesses, AreToldOfStepsThatGoByOtherNumbers) {
  EXPECT_EQ(guess_in_corpus("counter_off_by_one"), of_next_step);
  EXPECT_EQ(guess_in_corpus("olmo_core_309"), of_step_before);
  EXPECT_EQ(guess_in_corpus("settings_frozen"), std::string(earlier_lr) + " 0");
  EXPECT_EQ(guess_in_corpus("first_group_for_all"), first_group);
  EXPECT_EQ(guess_in_corpus("loaded_moments_made_anew"), zeros);
  EXPECT_EQ(guess_in_corpus("amax_of_own_shard"), own_scales);
  EXPECT_EQ(guess_in_text("params: [{name: w, shape: [40]}]\n"
                          "program: [train: 1, set: {betas: [0.5, 0.9]}, train: 1]\n"
                          "bug: settings_frozen\n"),
            std::string(earlier_settings) + " 1");
  // Of several parameters, some may be right.
  EXPECT_EQ(guess_in_text("params: [{name: v, shape: [40]}, {name: w, shape: [40], group: g}]\n"
                          "groups: {g: {weight_decay: 0.5}}\n"
                          "program: [train: 1]\n"
                          "bug: first_group_for_all\n"),
            first_group);
  // Less than half a step of bf16 is lost.
  EXPECT_EQ(guess_in_text("params: [{name: w, shape: [1000]}]\n"
                          "precision: {param: bf16}\n"
                          "optimizer: {lr: 0.01, weight_decay: 0.15}\n"
                          "program: [train: 1]\n"
                          "bug: onetrainer_996\n"),
            no_decay);
}

TEST(Guesses, AreToldOfLoadsThatFindSomethingElse) {
  EXPECT_EQ(guess_in_corpus("areal_1468"), zeros_loaded);
  EXPECT_EQ(guess_in_corpus("pt_118081"), not_loaded);
  EXPECT_EQ(guess_in_corpus("pt_113673"), reversed);
  EXPECT_EQ(guess_in_text("params: [{name: w, shape: [40]}]\n"
                          "program: [train: 1, save: a, train: 1, save: a, load: a]\n"
                          "faults: [{at: load, then: stale_file, file: 2}]\n"
                          "bug: checksums_ignored\n"),
            saved_before);
}

// A step of one bit here and there may come of anything.
TEST(Guesses, AreNotMadeOfTooLittle) {
  EXPECT_EQ(guess_in_text("params: [{name: w, shape: [40]}]\n"
                          "precision: {param: bf16}\n"
                          "optimizer: {lr: 0.01, weight_decay: 0.15}\n"
                          "program: [train: 1]\n"
                          "bug: onetrainer_996\n"),
            "");
}

}  // namespace
}  // namespace adamant::properties
