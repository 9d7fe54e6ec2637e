#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "scenarios/bench/suite.h"
#include "scenarios/language/json_text.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/pool/pool.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/json.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

/// The suites asked for by name, or all; empty where a name is unknown.
std::vector<Suite> choose_suites(Arguments const& arguments) {
  std::vector<Suite> chosen;
  for (Suite const& suite : suites()) {
    auto const& names = arguments.suites;
    bool const asked = std::find(names.begin(), names.end(), suite.name) != names.end();
    if (names.empty() || asked) chosen.push_back(suite);
  }
  bool const all_known = arguments.suites.empty() || chosen.size() == arguments.suites.size();
  return all_known ? chosen : std::vector<Suite>{};
}

Json to_json(std::vector<Row> const& rows) {
  Json array = Json::array();
  for (Row const& row : rows) {
    array.push_back(
        {{"suite", row.suite}, {"name", row.name}, {"value", row.value}, {"unit", row.unit}});
  }
  return array;
}

std::vector<Row> rows_from(Json const& array) {
  std::vector<Row> rows;
  for (Json const& row : array) {
    rows.push_back({.suite = row.at("suite"),
                    .name = row.at("name"),
                    .value = row.at("value"),
                    .unit = row.at("unit")});
  }
  return rows;
}

/// Runs one suite after the other, each in a process of its own: its peak of memory is its own, and
/// an interrupt ends it at once.
class BenchCommand {
 public:
  BenchCommand(Arguments const& arguments, std::vector<Suite> chosen)
      : arguments_(arguments), suites_(std::move(chosen)), outputs_(arguments) {}

  Status execute() {
    run_jobs(
        {.workers = 1, .jobs = suites_.size(), .until = {}, .job_time_max = {}},
        [this](std::uint64_t job) { return Answer(measure(suites_[job]), true); },
        [this](JobEnd const& end) { take(end); });
    auto document = make_document("bench");
    document["results"] = to_json(rows_);
    outputs_.commit(with_interrupt(document), cases_);
    return interrupted() ? Status::interrupted : status_;
  }

 private:
  std::string measure(Suite const& suite) const {
    try {
      SuiteRows rows(suite.name);
      suite.measure({.full = arguments_.full}, rows);
      return to_line({{"rows", to_json(rows.all())}});
    } catch (MachineLacks const& error) {
      return to_line({{"failure", error.what()}, {"lacks", true}});
    } catch (std::exception const& error) {
      return to_line({{"failure", error.what()}});
    }
  }

  void take(JobEnd const& end) {
    Json const answer = end.answer ? parse_json<Json>(*end.answer) : Json{{"failure", end.death}};
    std::string const name(suites_[end.job].name);
    Reported reported;
    reported.result.name = name;
    reported.result.expected = "pass";
    reported.replay = fmt::format("{} bench --suite {}", shell_quoted(arguments_.program), name);
    reported.result.met = answer.contains("rows");
    if (reported.result.met) {
      reported.result.outcome = Outcome::pass;
      add_rows(rows_from(answer.at("rows")));
    } else {
      reported.result.reason = answer.at("failure");
      complain(fmt::format("{}: {}", name, reported.result.reason));
      status_ = worse(status_, answer.contains("lacks") ? Status::lacking : Status::not_met);
    }
    cases_.push_back(std::move(reported));
  }

  void add_rows(std::vector<Row> const& rows) {
    for (Row const& row : rows) {
      print(arguments_,
            fmt::format("{:<32} {:<44} {:>14.6g} {}\n", row.suite, row.name, row.value, row.unit));
      rows_.push_back(row);
      if (row.unit == wrong_bits_unit) complain_of_wrong_bits(row);
    }
  }

  void complain_of_wrong_bits(Row const& row) {
    complain(fmt::format("{}: {}: {} bytes are not those of the readable twin: it is not measured",
                         row.suite, row.name, row.value));
    status_ = worse(status_, Status::not_met);
  }

  Arguments const& arguments_;
  std::vector<Suite> suites_;
  Outputs outputs_;
  std::vector<Row> rows_;
  std::vector<Reported> cases_;
  Status status_ = Status::met;
};

std::string suites_in_lines() {
  std::string text = suites().empty() ? "Nothing is measured here.\n\n" : "Suites:\n";
  for (Suite const& suite : suites()) text += fmt::format("  {:<32} {}\n", suite.name, suite.what);
  return text + "\n";
}

Status measure_suites(Arguments const& arguments) {
  auto chosen = choose_suites(arguments);
  if (chosen.empty()) {
    complain("--suite: there are these:");
    for (Suite const& suite : suites())
      complain(fmt::format("  {:<32} {}", suite.name, suite.what));
    return Status::bad_input;
  }
  return BenchCommand(arguments, std::move(chosen)).execute();
}

}  // namespace

Command const bench_command{
    .name = "bench",
    .text = "Measure",
    .example = "adamant bench --suite cases_per_second --json rows.json",
    .failure = "a suite could not be measured",
    .options = {{"--suite", "NAME", "Only this one; can be repeated",
                 option::word<&Arguments::suites>, Times::one_each_time},
                {"--full", nullptr, "Also what takes minutes", option::flag<&Arguments::full>},
                option::json,
                option::junit},
    .notes = suites_in_lines,
    .run = measure_suites};

}  // namespace adamant::scenarios
