#include "scenarios/search/case_search.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "scenarios/peers/client/client.h"
#include "scenarios/report/json.h"
#include "scenarios/report/worker_lines.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

constexpr std::chrono::seconds case_time_max{60};

/// An engine outside the process may have to start first, and is late only by its own bounds.
std::chrono::seconds time_max(Capabilities const& engine) {
  if (!engine.isolated) return case_time_max;
  return std::max(case_time_max, peer_bounds().hello + peer_bounds().reply);
}

int depth_of(Scenario const& scenario) {
  bool const has_depth = scenario.schedule.strategy == Schedule::Strategy::pct;
  return has_depth ? static_cast<int>(scenario.schedule.depth.value_or(0)) : 0;
}

void fail(SearchedCase& found, Scenario const& scenario, Ended ended) {
  found.status = ended.status;
  found.failure = Failure{.case_index = found.index,
                          .result = std::move(ended.result),
                          .ingredients = ingredients_of(scenario)};
}

}  // namespace

void CaseSearch::run(PoolOptions pool, std::function<std::uint64_t(std::uint64_t)> const& case_of,
                     std::function<void(std::uint64_t, SearchedCase)> const& take) const {
  pool.job_time_max = time_max(engine_.capabilities);
  run_jobs(
      pool, [&](std::uint64_t job) { return answer(case_of(job)); },
      [&](JobEnd const& end) { take(end.job, ended(case_of(end.job), end)); });
}

std::string CaseSearch::answer(std::uint64_t index) const {
  Scenario const scenario = scenario_of(index);
  RunOptions options = options_;
  options.repeat = search_repeats(index);
  options.schedules = search_schedules(index, engine_);
  nlohmann::ordered_json line = search_in_worker(scenario, options);
  line["features"] = features_of(scenario).to_string();
  line["depth"] = depth_of(scenario);
  return to_line(line);
}

SearchedCase CaseSearch::ended(std::uint64_t index, JobEnd const& end) const {
  SearchedCase found{.index = index};
  if (!end.answer) {
    Scenario const scenario = scenario_of(index);
    found.features = features_of(scenario);
    found.schedule_depth = depth_of(scenario);
    fail(found, scenario, ended_by_death(end.death, scenario, options_));
    return found;
  }
  auto const line = nlohmann::ordered_json::parse(*end.answer);
  found.features = FeatureSet(line.at("features").get<std::string>());
  found.schedule_depth = line.at("depth");
  found.schedule_chance = line.value("schedule_chance", 0.0);
  found.marks = line.value("marks", std::uint64_t{0});
  if (int const different = line.value("different_values", 0); different > 0)
    found.values = {.cases = 1, .different = different > 1 ? 1U : 0U};
  if (!line.contains("result") && !line.contains("failure")) return found;
  Scenario const scenario = scenario_of(index);
  fail(found, scenario, ended_with(line, scenario, options_));
  return found;
}

SearchEngine search_engine(std::optional<std::string> const& name) {
  SearchEngine engine;
  if (name) engine.name = *name;
  engine.capabilities = capabilities_of(engine_here(engine.name));
  return engine;
}

}  // namespace adamant::scenarios
