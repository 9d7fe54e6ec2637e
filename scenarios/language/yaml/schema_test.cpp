// scenarios/schema.json is what the tables make: after a change of theirs, `adamant_schema
// scenarios` writes it.
#include "scenarios/language/schema/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/yaml/help.h"

namespace adamant::scenarios {
namespace {

std::string text_in(char const* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string file_text() {
  return text_in("scenarios/schema.json");
}

TEST(Schema, IsWhatTheTablesMake) {
  EXPECT_EQ(file_text(), text_of(scenario_schema())) << "write it with `adamant_schema scenarios`";
}

TEST(Schema, ThePageOfKeysIsWhatTheTablesMake) {
  EXPECT_EQ(text_in("scenarios/KEYS.md"), key_page()) << "write it with `adamant_schema scenarios`";
}

template <typename T>
void expect_map(OrderedJson const& definitions) {
  std::string const name(map_name<T>.name);
  ASSERT_TRUE(definitions.contains(name)) << name;
  EXPECT_EQ(definitions[name].at("properties").size(), key_count<T>) << name;
}

TEST(Schema, DefinesEveryMap) {
  OrderedJson const schema = scenario_schema();
  auto const& definitions = schema.at("$defs");
  expect_map<Scenario>(definitions);
  expect_map<World>(definitions);
  expect_map<Param>(definitions);
  expect_map<AdamOverride>(definitions);
  expect_map<Precision>(definitions);
  expect_map<Optimizer>(definitions);
  expect_map<OffloadedStates>(definitions);
  expect_map<HybridOffload>(definitions);
  expect_map<Backward>(definitions);
  expect_map<ZeroGrad>(definitions);
  expect_map<SettingsChange>(definitions);
  expect_map<Load>(definitions);
  expect_map<EngineChoice>(definitions);
  expect_map<Schedule>(definitions);
  expect_map<Fault>(definitions);
}

/// Every reference leads to a definition.
void expect_defined(OrderedJson const& node, OrderedJson const& definitions) {
  if (node.is_object() && node.contains("$ref")) {
    auto const name = node["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
    EXPECT_TRUE(definitions.contains(name)) << name;
  }
  if (node.is_structured())
    for (auto const& part : node) expect_defined(part, definitions);
}

TEST(Schema, RefersToWhatIsDefined) {
  OrderedJson const schema = scenario_schema();
  expect_defined(schema, schema.at("$defs"));
}

/// The descriptions of the keys of maps; empty where there is none.
void add_descriptions(OrderedJson const& node, std::multimap<std::string, std::string>& all) {
  if (node.is_object() && node.contains("properties"))
    for (auto const& [key, value] : node["properties"].items())
      if (value.contains("type") || value.contains("$ref") || value.size() > 1)  // no condition
        all.emplace(key, value.value("description", ""));
  if (node.is_structured())
    for (auto const& part : node) add_descriptions(part, all);
}

TEST(Schema, SaysOfEachKeyWhatHelpSays) {
  std::multimap<std::string, std::string> all;
  add_descriptions(scenario_schema(), all);
  std::multimap<std::string, std::string> without_help;
  for (auto const& described : all) {
    auto const& key = described.first;
    auto const& description = described.second;
    EXPECT_NE(description, "") << key;
    auto const entries = help_on(key);
    if (entries.empty()) without_help.emplace(key, description);
    EXPECT_TRUE(entries.empty() ||
                std::ranges::any_of(
                    entries, [&](HelpEntry const& entry) { return entry.meaning == description; }))
        << key << ": " << description;
  }
  EXPECT_GE(all.size(), 110U);
  EXPECT_LE(without_help.size(), all.size() / 20) << "of which `adamant help` knows nothing";
}

// Their list is the folder of their files.
TEST(Schema, TakesTheIdOfEveryBug) {
  OrderedJson const schema = scenario_schema();
  std::regex const pattern(schema.at("$defs").at("bug").at("pattern").get<std::string>());
  for (std::string_view const id : bugs::ids())
    EXPECT_TRUE(std::regex_match(std::string(id), pattern)) << id;
  EXPECT_FALSE(std::regex_match("no id", pattern));
}

}  // namespace
}  // namespace adamant::scenarios
