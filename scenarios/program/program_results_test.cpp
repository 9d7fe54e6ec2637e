// scenarios/results.schema.json: every command that writes results writes such, and what is not
// such is told. read_json() holds each document of the other tests to it, too.
#include <set>

#include "scenarios/program/arguments.h"
#include "scenarios/program/testing/called_program.h"
#include "scenarios/program/testing/results_schema.h"

namespace adamant::scenarios {
namespace {

using Json = nlohmann::json;
using Pointer = Json::json_pointer;

class Results : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("passes.yaml", passing_scenario());
    write("wrong.yaml", passing_scenario("seed: 7\nbug: mean_not_divided\n"));
    write("races.yaml", passing_scenario("seed: 7\nbug: step_skips_wait_for_reduction\n"));
    write("spoilt.yaml", "adamant: 2\n");
  }

  /// What a command of each kind writes.
  std::vector<Json> documents() const {
    std::vector<Json> all;
    for (char const* const command :
         {"run . --json x.json", "run passes.yaml --dry-run --json x.json",
          "run . --fail-fast --jobs 1 --json x.json", "minimize wrong.yaml --json x.json",
          "fuzz --seed 1 --cases 30 --bug mean_not_divided --campaign c --json x.json",
          "merge c --json x.json", "hunt --seed 1 --searches 1 --cases 50 te_2795 --json x.json",
          "doctor --json x.json", "laws --json x.json", "bugs --json x.json",
          "bench --suite cases_per_second --json x.json",
          "doctor --engine 'exec:exec python3 " ADAMANT_SOURCE_DIR
          "/scenarios/peers/client/testing/stub_engine.py' --json x.json"}) {
      std::filesystem::remove(folder_ / "x.json");
      static_cast<void>(call(command));
      EXPECT_TRUE(exists("x.json")) << command;
      all.push_back(read_json("x.json"));
    }
    return all;
  }
};

bool fits(Json const& document) {
  return results_schema().mismatches(document, "document").empty();
}

/// Keys in these are the program's words, and not the schema's.
bool is_free(std::string const& key) {
  return std::set<std::string>{"distribution", "pairs",    "exclusive_pairs",   "marks", "machine",
                               "by_purpose",   "at_start", "between_operations"}
      .contains(key);
}

/// Spoils `document` at each of its places in turn: another key, a key that is not there, a value
/// of another type.
void expect_all_told(Json const& document, Pointer const& at) {
  Json const& here = document.at(at);
  Json spoilt = document;
  spoilt.at(at) = here.is_boolean() ? Json("true") : Json(true);
  EXPECT_FALSE(fits(spoilt)) << at << " of another type: " << here.dump().substr(0, 80);
  if (here.is_array() && !here.empty()) expect_all_told(document, at / 0);
  if (!here.is_object()) return;
  for (auto const& [key, value] : here.items()) {
    spoilt = document;
    spoilt.at(at).erase(key);
    spoilt.at(at)[key + "s"] = value;
    EXPECT_FALSE(fits(spoilt)) << at << ": " << key << "s for " << key;
    if (!is_free(key)) expect_all_told(document, at / key);
  }
}

TEST_F(Results, AreWhatTheSchemaSaysAndNothingElseIs) {
  for (Json const& document : documents()) {
    EXPECT_TRUE(fits(document)) << document.at("command");
    expect_all_told(document, Pointer());
  }
}

TEST_F(Results, NeedTheirFields) {
  ASSERT_EQ(call("run passes.yaml --json x.json").status, 0);
  Json const document = read_json("x.json");
  for (auto const& [key, value] : document.at("results").at(0).items()) {
    Json spoilt = document;
    spoilt.at("results").at(0).erase(key);
    bool const is_optional =
        std::set<std::string>{"schedules", "digest", "values_digest", "simulated_seconds"}.contains(
            key);
    EXPECT_EQ(fits(spoilt), is_optional) << key;
  }
}

TEST_F(Results, AreWrittenByTheCommandsThatTheSchemaNames) {
  std::set<std::string> named;
  for (auto const& [name, definition] : results_schema().definitions().items())
    if (definition.value("/properties/command/const"_json_pointer, "") != "")
      named.insert(definition.at("/properties/command/const"_json_pointer).get<std::string>());
  for (Command const* const each : commands) {
    std::string const command(each->name);
    bool const writes = call(command + " --help").out.find("--json") != std::string::npos;
    EXPECT_EQ(named.contains(command), writes) << command;
  }
}

}  // namespace
}  // namespace adamant::scenarios
