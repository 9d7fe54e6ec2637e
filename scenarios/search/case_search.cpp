#include "scenarios/search/case_search.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "scenarios/language/json_text.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/report/json.h"
#include "scenarios/report/worker_lines.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

constexpr std::chrono::seconds case_time_max{60};

/// An engine outside the process may have to start first, and is late only by its own bounds. So it
/// may be in each further run, around one known defect after the other.
std::chrono::seconds time_max(Capabilities const& engine, std::size_t known) {
  if (!engine.isolated) return case_time_max;
  auto const bounds = peer_bounds();
  return std::max(case_time_max, bounds.hello + (1 + static_cast<int>(known)) * bounds.reply);
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

RunResult searched(Scenario const& scenario, RunOptions const& options) {
  auto const line = search_in_worker(scenario, options);
  RunResult fine;
  fine.outcome = Outcome::pass;
  fine.met = true;
  bool const failed = line.contains("result") || line.contains("failure");
  return failed ? ended_with(line, scenario, options).result : fine;
}

/// What is known of the failure on this line goes to `known`; what is left stays its result.
void unmask(Scenario const& scenario, RunOptions const& options, KnownHere const& known,
            StrictJson& line) {
  Unmasked const unmasked =
      known.unmask(scenario, ended_with(line, scenario, options).result,
                   [&](Scenario const& other) { return searched(other, options); });
  if (unmasked.known.empty()) return;
  line["known"] = unmasked.known;
  line.erase("result");
  if (!unmasked.fails) return;
  line["result"] = to_json(unmasked.result);
  line["avoided"] = unmasked.avoided;
}

}  // namespace

void CaseSearch::run(PoolOptions pool, std::function<std::uint64_t(std::uint64_t)> const& case_of,
                     std::function<void(std::uint64_t, SearchedCase)> const& take) const {
  pool.job_time_max = time_max(engine_.capabilities, known_.defects().size());
  run_jobs(
      pool, [&](std::uint64_t job) { return answer(case_of(job)); },
      [&](JobEnd const& end) {
        SearchedCase found = ended(case_of(end.job), end);
        if (found.status == Status::lacking && !found.late)
          throw MachineLacks(found.failure->result.reason);
        take(end.job, std::move(found));
      });
}

Answer CaseSearch::answer(std::uint64_t index) const {
  auto const begin = std::chrono::steady_clock::now();
  Scenario const scenario = scenario_of(index);
  RunOptions options = options_;
  options.repeat = search_repeats(index, engine_);
  options.schedules = search_schedules(index, engine_);
  StrictJson line = search_in_worker(scenario, options);
  if (line.contains("result") && !known_.empty()) unmask(scenario, options, known_, line);
  line["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  line["features"] = features_of(scenario).to_string();
  line["depth"] = depth_of(scenario);
  return to_answer(line);
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
  auto const line = parse_json<StrictJson>(*end.answer);
  found.features = FeatureSet(line.at("features").get<std::string>());
  found.schedule_depth = line.at("depth");
  found.schedule_chance = line.value("schedule_chance", 0.0);
  found.marks = line.value("marks", std::uint64_t{0});
  if (int const different = line.value("different_values", 0); different > 0)
    found.values = {.cases = 1, .different = different > 1 ? 1U : 0U};
  found.seconds = line.value("seconds", 0.0);
  found.known = line.value("known", std::set<std::string>());
  if (!line.contains("result") && !line.contains("failure")) return found;
  auto const avoided = line.value("avoided", EngineOptions());
  Scenario const scenario = with_options(scenario_of(index), avoided);
  found.late = line.value("late", false);
  fail(found, scenario, ended_with(line, scenario, options_));
  found.failure->avoided = avoided;
  return found;
}

SearchEngine search_engine(std::optional<std::string> const& name) {
  SearchEngine engine;
  if (name) engine.name = *name;
  engine.capabilities = capabilities_of(engine_here(engine.name));
  return engine;
}

}  // namespace adamant::scenarios
