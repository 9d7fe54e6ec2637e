// Law:        every key and every operation has help, and its example is read as it stands.
// Not said:   that the example means something on its own.
// Must catch: a key without a meaning, an example outside its own range.
#include "scenarios/language/yaml/help.h"

#include <gtest/gtest.h>

#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {
namespace {

/// A scenario in which "a" is the name of everything, with `line` in the place of its own.
std::string scenario_with(std::string const& line) {
  std::string const said = line.substr(0, line.find(':'));
  std::string const key = said == "worlds" ? "world" : said;  // for which it stands
  std::string text = line + "\n";
  for (std::string const other :
       {"adamant: 1", "name: n", "world: {shard: 2}", "params: [{name: a, shape: [4]}]",
        "groups: {a: {}}", "program: [{save: a}, step]"})
    if (other.substr(0, other.find(':')) != key) text += other + "\n";
  return text;
}

TEST(Help, IsThereForEveryWordWithAnExampleThatIsRead) {
  for (std::string_view const word : words_with_help()) {
    auto const entries = help_on(word);
    EXPECT_FALSE(entries.empty()) << word;
    for (HelpEntry const& entry : entries) {
      EXPECT_FALSE(entry.meaning.empty()) << word;
      bool const is_identifier = entry.where.starts_with("a law") ||
                                 entry.where.starts_with("a warning") ||
                                 entry.where.starts_with("a reason");
      EXPECT_NE(entry.values.empty(), !is_identifier) << word;
      EXPECT_EQ(entry.example.empty(), entry.where.starts_with("a warning")) << word;
      if (entry.example.empty()) continue;
      std::string example = entry.example;
      if (example.starts_with("program: [")) example.insert(10, "{save: a}, ");
      EXPECT_NO_THROW(load_scenario_text(scenario_with(example), "help")) << example;
    }
  }
}

TEST(Help, SaysMeaningValuesDefaultAndExample) {
  auto const entries = help_on("keep_cast_grad");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(
      text_of(entries.front()),
      "keep_cast_grad, a key of optimizer: true: that copy keeps its address, so that a graph "
      "may use it\n"
      "  values:  true or false\n"
      "  default: false\n"
      "  example: optimizer: {keep_cast_grad: true}\n");
}

TEST(Help, ExplainsLawsWarningsAndReasons) {
  EXPECT_EQ(text_of(help_on("order.race").at(0)),
            "order.race, a law: conflicting accesses are ordered\n"
            "  example: expect: {violates: order.race}\n");
  EXPECT_EQ(text_of(help_on("memory.leak").at(0)),
            "memory.leak, a warning, which fails under --strict: what was allocated is freed\n");
  EXPECT_EQ(help_on("scalar_parameter").at(0).example, "expect: {refused: scalar_parameter}");
}

TEST(Help, KnowsAllThatHasOneName) {
  std::vector<std::string> found;
  for (HelpEntry const& entry : help_on("clip")) found.push_back(entry.where);
  EXPECT_EQ(found,
            (std::vector<std::string>{"a key of optimizer", "a key of set", "an operation"}));
  EXPECT_TRUE(help_on("colour").empty());
}

TEST(Help, OfAPlaceThatAnErrorNamesIsThatOfTheKeyThere) {
  auto const found = [](std::string_view place) {
    auto const entries = help_on(place);
    return entries.size() == 1 ? entries.front().word + ", " + entries.front().where : "";
  };
  EXPECT_EQ(found("optimizer.clip"), "clip, a key of optimizer");
  EXPECT_EQ(found("program[3].set.clip"), "clip, a key of set");
  EXPECT_EQ(found("params[0].shape"), "shape, a key of param");
  EXPECT_EQ(found("params[0].precision.main"), "main, a key of precision");
  EXPECT_EQ(found("optimizer.shape"), "");
  EXPECT_EQ(found("optimizer."), "");
  EXPECT_EQ(found(".clip"), "");
}

TEST(Help, OfAValueIsThatOfTheKeysThatTakeIt) {
  std::vector<std::string> found;
  for (HelpEntry const& entry : help_on("nvfp4")) found.push_back(entry.word + ", " + entry.where);
  EXPECT_EQ(found, (std::vector<std::string>{"param, a key of precision"}));
  EXPECT_EQ(help_on("bf16").size(), 5U);
}

}  // namespace
}  // namespace adamant::scenarios
