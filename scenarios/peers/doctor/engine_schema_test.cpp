// scenarios/engine.schema.json against what this program says and understands: the tables of the
// language, and a recorded session.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/schema/engine_parts.h"
#include "scenarios/language/schema/schema.h"
#include "scenarios/peers/doctor/json_schema.h"

namespace adamant::scenarios {
namespace {

using Json = nlohmann::json;
using Words = std::set<std::string>;

std::string file_text() {
  std::ostringstream text;
  text << std::ifstream("scenarios/engine.schema.json").rdbuf();
  return text.str();
}

TEST(EngineSchema, SaysOfTheLanguageWhatTheTablesSay) {
  EXPECT_EQ(file_text(), text_of(with_engine_parts(OrderedJson::parse(file_text()))))
      << "write it with `adamant_schema scenarios`";
}

TEST(EngineSchema, TakesAPartAndKeepsTheRest) {
  auto schema = OrderedJson::parse(file_text());
  schema["$defs"]["state_type"]["enum"].push_back("fp4");
  schema["$defs"]["state_type"]["description"] = "of nobody's table";
  auto const written = with_engine_parts(schema);
  EXPECT_EQ(written["$defs"]["state_type"]["enum"].size(), words_of<StateType>.size());
  EXPECT_EQ(written["$defs"]["state_type"]["description"], "of nobody's table");
}

TEST(EngineSchema, HasAPlaceForEachPart) {
  for (char const* const place :
       {"state_type", "capabilities", "precisions", "open_request", "set_request"}) {
    auto schema = OrderedJson::parse(file_text());
    schema["$defs"].erase(place);
    EXPECT_THROW(with_engine_parts(std::move(schema)), OrderedJson::exception) << place;
  }
}

TEST(EngineSchema, DefinesEveryRequestWithItsReply) {
  Words requests;
  for (Json const& one : engine_schema().definition("request").at("oneOf"))
    requests.insert(one.at("$ref").get<std::string>());
  for (auto const& [name, definition] : engine_schema().definitions().items()) {
    if (!name.ends_with("_request")) continue;
    std::string const verb = name.substr(0, name.find("_request"));
    EXPECT_EQ(definition.at("properties").at("request").at("const"), verb);
    EXPECT_TRUE(requests.contains("#/$defs/" + name)) << name;
    EXPECT_TRUE(engine_schema().definitions().contains(verb + "_reply")) << name;
  }
  EXPECT_EQ(requests.size(), 12U);
}

/// What says something is closed, so that a misspelt field is found.
TEST(EngineSchema, LetsNoFieldPassThatItDoesNotName) {
  for (auto const& [name, definition] : engine_schema().definitions().items()) {
    if (definition.contains("properties")) {
      EXPECT_EQ(definition.at("additionalProperties"), false) << name;
    }
  }
}

std::vector<Json> recorded_session() {
  std::vector<Json> lines;
  std::ifstream file("scenarios/engine.session.jsonl");
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::string said(std::vector<Mismatch> const& mismatches) {
  std::string text;
  for (Mismatch const& one : mismatches)
    text += one.where + ": expected " + one.expected + ", found " + one.found + "\n";
  return text;
}

TEST(EngineSchema, FitsTheRecordedSession) {
  auto const lines = recorded_session();
  ASSERT_EQ(lines.size() % 2, 0U);
  Words requests;
  Words outcomes;
  for (std::size_t i = 0; i < lines.size(); i += 2) {
    auto const verb = lines[i].at("request").get<std::string>();
    EXPECT_EQ(said(engine_schema().mismatches(lines[i], verb + "_request")), "") << lines[i];
    EXPECT_EQ(said(engine_schema().mismatches(lines[i + 1], verb + "_reply")), "") << lines[i + 1];
    EXPECT_EQ(lines[i].at("id"), lines[i + 1].at("id"));
    requests.insert(verb);
    outcomes.insert(lines[i + 1].at("outcome").get<std::string>());
  }
  EXPECT_EQ(requests.size(), 11U);
  EXPECT_EQ(outcomes, (Words{"died", "error", "ok"}));
}

// Every field of every recorded line is either needed, or said to be optional; and none may become
// anything else.
TEST(EngineSchema, MissesWhatIsTakenFromARecordedReply) {
  auto const lines = recorded_session();
  ASSERT_GE(lines.size(), 2U);
  Json const& hello = lines[1];
  for (auto const& [key, value] : hello.at("capabilities").items()) {
    Json damaged = hello;
    damaged["capabilities"].erase(key);
    Words const may_be_left_out{"empty_tensors", "gradients_in_place", "load_precisions",
                                "promises", "same_files"};
    bool const optional = may_be_left_out.contains(key);
    EXPECT_EQ(engine_schema().mismatches(damaged, "hello_reply").empty(), optional) << key;
    damaged["capabilities"][key] = Json::object();
    EXPECT_FALSE(engine_schema().mismatches(damaged, "hello_reply").empty()) << key;
  }
}

}  // namespace
}  // namespace adamant::scenarios
