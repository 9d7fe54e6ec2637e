#include "scenarios/search/hunt_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "scenarios/language/json_text.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/report/json.h"
#include "scenarios/runner/run.h"
#include "scenarios/seam/engine.h"
#include "scenarios/search/failures.h"
#include "scenarios/search/search.h"

namespace adamant::scenarios {

namespace {

using Clock = std::chrono::steady_clock;
using Json = StrictJson;

bool breaks(RunResult const& result, std::string_view law) {
  return std::any_of(result.violations.begin(), result.violations.end(),
                     [&](Violation const& violation) { return id_of(violation.law) == law; });
}

/// What a case that failed otherwise is counted as.
std::string failure_of(RunResult const& result) {
  if (!result.violations.empty()) return std::string(id_of(result.violations.front().law));
  return result.outcome == Outcome::pass ? "" : result.reason;
}

Scenario replay_of(bugs::Bug const& bug, Scenario scenario, RunResult const& result,
                   std::uint64_t seed, std::uint64_t index) {
  scenario = make_replay(std::move(scenario), result);
  scenario.name = std::string(bug.id) + " found by hunt";
  scenario.about = fmt::format("Case {} of seed {}, not minimised.", index, seed);
  if (bug.source != "adamant") scenario.source = bug.source;
  scenario.expect = {.kind = Expectation::Kind::violates, .id = std::string(bug.law)};
  return scenario;
}

class Search {
 public:
  Search(bugs::Bug const& bug, std::uint64_t seed, HuntLimits const& limits)
      : bug_(bug), seed_(seed), limits_(limits) {}

  HuntEnd run() {
    auto const begin = Clock::now();
    while (!end_.found && end_.cases < limits_.cases_max &&
           Clock::now() - begin < limits_.time_max) {
      try_case(end_.cases++);
    }
    end_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(end_);
  }

 private:
  void try_case(std::uint64_t index) {
    Scenario const scenario = search_case(seed_, index, std::string(bug_.id));
    RunOptions options;
    options.repeat = search_repeats(index);
    RunResult const result = run_scenario(scenario, options);
    if (end_.first_law.empty() && !result.met) end_.first_law = failure_of(result);
    if (!breaks(result, bug_.law)) return;
    end_.found = true;
    end_.scenario = write_scenario(replay_of(bug_, scenario, result, seed_, index));
    end_.operations = result.operations;
  }

  bugs::Bug const& bug_;
  std::uint64_t seed_;
  HuntLimits const& limits_;
  HuntEnd end_;
};

}  // namespace

HuntEnd hunt_once(bugs::Bug const& bug, std::uint64_t seed, HuntLimits const& limits) {
  try {
    return Search(bug, seed, limits).run();
  } catch (MachineLacks const& error) {
    HuntEnd end;
    end.lacking = error.what();
    return end;
  } catch (std::exception const& error) {
    HuntEnd end;
    end.death = error.what();
    return end;
  }
}

std::string to_line(HuntEnd const& end) {
  return to_line(Json{{"found", end.found},
                      {"cases", end.cases},
                      {"seconds", end.seconds},
                      {"first_law", end.first_law},
                      {"scenario", end.scenario},
                      {"operations", end.operations},
                      {"lacking", end.lacking},
                      {"death", end.death}});
}

HuntEnd hunt_end_from_line(std::string const& line) {
  Json const json = parse_json<Json>(line);
  HuntEnd end;
  json.at("found").get_to(end.found);
  json.at("cases").get_to(end.cases);
  json.at("seconds").get_to(end.seconds);
  json.at("first_law").get_to(end.first_law);
  json.at("scenario").get_to(end.scenario);
  json.at("operations").get_to(end.operations);
  json.at("lacking").get_to(end.lacking);
  json.at("death").get_to(end.death);
  return end;
}

}  // namespace adamant::scenarios
