// scenarios/schema.json and the reader say the same: key by key and word by word, both taken from
// the vocabulary that the reader itself uses.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/vocabulary.h"

namespace adamant::scenarios {
namespace {

using nlohmann::json;
using Words = std::set<std::string>;

json const& definitions() {
  static json const schema = json::parse(std::ifstream("scenarios/schema.json"));
  return schema.at("$defs");
}

Words words_in(std::span<std::string_view const> words) {
  return {words.begin(), words.end()};
}

Words keys_of(json const& object) {
  Words keys;
  for (auto const& [key, value] : object.items()) keys.insert(key);
  return keys;
}

json const& property(std::string const& definition, std::string const& key) {
  return definitions().at(definition).at("properties").at(key);
}

Words enum_of(json const& node) {
  return node.at("enum").get<Words>();
}

template <typename Enum>
void expect_words(json const& node) {
  EXPECT_EQ(enum_of(node), words_in(words_of<Enum>)) << node;
}

TEST(Schema, HasTheKeysThatTheReaderKnowsAndNoOthers) {
  for (Keys const& keys : keys::all) {
    auto const& definition = definitions().at(std::string(keys.definition));
    EXPECT_EQ(keys_of(definition.at("properties")), words_in(keys.all)) << keys.definition;
    EXPECT_EQ(definition.at("additionalProperties"), false) << keys.definition;
  }
}

TEST(Schema, HasNoMapThatTheReaderDoesNotKnow) {
  Words known;
  for (Keys const& keys : keys::all) known.insert(std::string(keys.definition));
  for (auto const& [name, definition] : definitions().items()) {
    EXPECT_EQ(definition.contains("properties"), known.contains(name)) << name;
  }
}

TEST(Schema, HasTheWordsThatTheReaderKnows) {
  expect_words<Layout>(definitions().at("layout"));
  expect_words<ParamType>(property("precision", "param"));
  expect_words<GradType>(property("precision", "grad"));
  expect_words<MainType>(property("precision", "main"));
  expect_words<StateType>(property("precision", "exp_avg"));
  expect_words<StateType>(property("precision", "exp_avg_sq"));
  expect_words<StateScale>(property("precision", "state_scale"));
  expect_words<AdamMode>(property("optimizer", "mode"));
  expect_words<StepCounter>(property("optimizer", "step_counter"));
  expect_words<GradientClass>(property("scenario", "gradients"));
  expect_words<Schedule::Strategy>(property("schedule", "strategy"));
  expect_words<Fault::Where>(property("fault", "at"));
  expect_words<Fault::Then>(property("fault", "then"));
}

TEST(Schema, HasTheIdentifiersOfLaws) {
  Words laws_and_prefixes;
  for (Meaning const& law : laws()) {
    laws_and_prefixes.insert(std::string(law.id));
    laws_and_prefixes.insert(std::string(law.id.substr(0, law.id.find('.'))));
  }
  EXPECT_EQ(enum_of(property("expect", "violates")), laws_and_prefixes);
}

// Their list is the folder of their files.
TEST(Schema, TakesTheIdOfEveryBug) {
  std::regex const pattern(definitions().at("bug").at("pattern").get<std::string>());
  for (std::string_view const id : bugs::ids())
    EXPECT_TRUE(std::regex_match(std::string(id), pattern)) << id;
  EXPECT_FALSE(std::regex_match("no id", pattern));
}

}  // namespace
}  // namespace adamant::scenarios
