// Law:        a scenario of the corpus comes to the same end with every compiler and on every
//             machine.
// Sense:      all that is told of its run, its timeline and its memory plan have the first checksum
//             that stands in runs.txt. Functions, their files and how much is loaded at once are a
//             compiler's choice: they count in the second checksum, which is that of g++ 12 in
//             Release. Lines and times of the wall never count.
// Not said:   that this end is right: oracle, laws and what scenarios expect say that. After an
//             edit that was meant to change it, the table that the test writes is the new one.
// Must catch: any mistake in simulator, runner or judge that changes what is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "properties/same/row.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/report/json.h"
#include "scenarios/runner/run.h"
#include "sim/sim.h"

namespace adamant::properties {
namespace {

namespace fs = std::filesystem;

using namespace scenarios;

constexpr char const* table = "properties/same/runs.txt";

std::vector<std::string> files_of_corpus() {
  std::vector<std::string> files;
  for (fs::path const& path : fs::recursive_directory_iterator("scenarios/corpus"))
    if (path.extension() == ".yaml" && load_scenario_file(path.string()).engine.name == "sim")
      files.push_back(path.string());
  std::ranges::sort(files);
  return files;
}

template <typename Json>
Json without_choices_of_compilers(Json json) {
  if (json.is_object()) json.erase("end");
  for (auto it = json.begin(); json.is_structured() && it != json.end();) {
    if (it->is_object() && it->contains("function")) {
      it = json.erase(it);
    } else {
      *it = without_choices_of_compilers(*it);
      ++it;
    }
  }
  return json;
}

/// What is told, without and with what compilers choose.
struct Told {
  std::string everywhere;
  std::string here;

  void operator+=(Told const& more) {
    everywhere += more.everywhere;
    here += more.here;
  }
};

std::string without_lines(std::string const& text) {
  static std::regex const line(R"re((\.(cu|cpp|h)):\d+)re");
  return std::regex_replace(text, line, "$1");
}

Told told_of(RunResult result) {
  result.wall_seconds = 0;
  auto const json = to_json(result);
  Told told{without_lines(to_text(without_choices_of_compilers(json))),
            without_lines(to_text(json))};
  std::string text;
  for (TimelineEvent const& event : result.timeline.events) {
    text += fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(event.kind), event.track,
                        event.copy_engine, event.begin_ns, event.end_ns, event.operation,
                        event.bytes, event.meeting);
    for (int const before : event.after) text += fmt::format(" {}", before);
    text += "\n";
  }
  told += {text, text};
  return told;
}

std::string row_of_file(std::string const& file) {
  Scenario const scenario = load_scenario_file(file);
  RunOptions options;
  options.timelines = Timelines::all;
  options.checkpoints = fs::path(file).parent_path();
  Told told = told_of(run_scenario(scenario, options));
  options.timelines = Timelines::none;
  options.dry = true;
  told += told_of(run_scenario(scenario, options));
  return row_of(file, told.everywhere, told.here);
}

/// What counts of a row.
std::string held(std::string const& row) {
  return ADAMANT_WROTE_SECOND_COLUMN ? row : row.substr(0, row.rfind(' '));
}

std::map<std::string, std::string> read_table() {
  std::map<std::string, std::string> rows;
  std::ifstream in(table);
  for (std::string line; std::getline(in, line);)
    rows.emplace(line.substr(0, line.find(' ')), line + "\n");
  return rows;
}

/// One of as many parts, so that they run side by side.
class SameRuns : public testing::TestWithParam<std::size_t> {};

constexpr std::size_t parts = 8;

TEST_P(SameRuns, OfTheCorpusComeToTheSameEnd) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  auto const expected = read_table();
  std::vector<std::string> const files = files_of_corpus();
  EXPECT_EQ(expected.size(), files.size()) << table;
  fs::path const written = fs::path(ADAMANT_BINARY_DIR) / fmt::format("runs.{}.txt", GetParam());
  std::ofstream now(written);
  for (std::size_t i = GetParam(); i < files.size(); i += parts) {
    std::string const row = row_of_file(files[i]);
    now << row;
    auto const was = expected.find(files[i]);
    EXPECT_EQ(held(row), was == expected.end() ? "" : held(was->second))
        << "if that is meant, sort " << ADAMANT_BINARY_DIR << "/runs.*.txt >" << table;
  }
}

INSTANTIATE_TEST_SUITE_P(Part, SameRuns, testing::Range<std::size_t>(0, parts));

}  // namespace
}  // namespace adamant::properties
