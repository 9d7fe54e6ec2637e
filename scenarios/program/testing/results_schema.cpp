#include "scenarios/program/testing/results_schema.h"

#include <fstream>

#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {

namespace {

/// A campaign's settings and the last failures are no results.
bool is_kept_state(nlohmann::json const& json) {
  return json.contains("commit") || json.contains("failed");
}

void expect_results(nlohmann::json const& json) {
  if (!json.contains("command") || is_kept_state(json)) return;
  for (Mismatch const& one : results_schema().mismatches(json, "document"))
    ADD_FAILURE() << one.where << ": expected " << one.expected << ", found " << one.found;
}

struct Hook : ProgramTest {
  static bool set() {
    look_at_results = expect_results;
    return true;
  }
};
[[maybe_unused]] bool const looks = Hook::set();

}  // namespace

JsonSchema const& results_schema() {
  static JsonSchema const schema(
      nlohmann::json::parse(std::ifstream(ADAMANT_SOURCE_DIR "/scenarios/results.schema.json")));
  return schema;
}

}  // namespace adamant::scenarios
