#include "scenarios/report/worker_lines.h"

#include <algorithm>
#include <exception>

#include "scenarios/judge/dump/output_error.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/report/json.h"
#include "scenarios/report/trace/timeline_json.h"
#include "scenarios/runner/expectation.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

RunResult make_error(Scenario const& scenario, RunOptions const& options, std::string reason) {
  RunResult result;
  result.name = scenario.name;
  result.engine = options.engine.value_or(scenario.engine.name);
  result.seed = options.seed.value_or(scenario.seed.value_or(0));
  result.outcome = Outcome::error;
  result.reason = std::move(reason);
  result.expected = text_of(scenario.expect);
  result.operations = static_cast<int>(operation_count(scenario.program));
  return result;
}

/// A load may return from a checkpoint that was damaged where nobody reads it, and what it brought
/// was found to be right: an engine without checksums of everything promises no more. A file of an
/// older save may lie beside those of the last one, or be the same: where it has to be noticed the
/// verdict says so.
bool is_harmless_damage(Scenario const& scenario, RunResult const& result) {
  if (result.outcome != Outcome::pass) return false;
  auto const promised = capabilities_of(result.engine).detects_damage;
  bool const notices_all = offers(promised, Fault::Then::flip_byte);
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [&](Fault const& fault) {
    return fault.at == Fault::Where::load &&
           (!notices_all || fault.then == Fault::Then::stale_file);
  });
}

template <typename Tell>
Json line_of(Scenario const& scenario, RunOptions const& options, Tell tell) {
  try {
    RunResult const result = run_scenario(scenario, options);
    Json line = tell(result);
    if (result.spoilt) line["spoilt"] = true;
    return line;
  } catch (MachineLacks const& error) {
    return {{"failure", error.what()},
            {"status", static_cast<int>(Status::lacking)},
            {"late", dynamic_cast<StartsLate const*>(&error) != nullptr}};
  } catch (OutputError const& error) {
    return {{"failure", error.what()}, {"status", static_cast<int>(Status::bad_input)}};
  } catch (std::exception const& error) {  // nobody knows what it has left
    return {
        {"failure", error.what()}, {"status", static_cast<int>(Status::not_met)}, {"spoilt", true}};
  }
}

}  // namespace

Json run_in_worker(Scenario const& scenario, RunOptions const& options) {
  return line_of(scenario, options, [](RunResult const& result) {
    Json line{{"result", to_json(result)}};
    if (!result.timeline.empty()) line["timeline"] = timeline_to_json(result);
    return line;
  });
}

Json search_in_worker(Scenario const& scenario, RunOptions const& options) {
  return line_of(scenario, options, [&](RunResult const& result) {
    bool const fine = result.met || is_harmless_damage(scenario, result);
    Json line = fine ? Json::object() : Json{{"result", to_json(result)}};
    if (result.schedule_chance > 0) line["schedule_chance"] = result.schedule_chance;
    if (result.marks != 0) line["marks"] = result.marks;
    if (fine && result.schedules > 1) line["different_values"] = result.different_values;
    return line;
  });
}

Answer to_answer(Json const& line) {
  return {to_line(line), line.value("spoilt", false)};
}

Ended ended_with(Json const& answer, Scenario const& scenario, RunOptions const& options) {
  if (answer.contains("failure")) {
    return {.result = make_error(scenario, options, answer.at("failure")),
            .status = static_cast<Status>(answer.at("status").get<int>())};
  }
  Ended ended{.result = result_from_json(answer.at("result")), .status = Status::met};
  if (answer.contains("timeline")) add_timeline(ended.result, answer.at("timeline"));
  if (!ended.result.met) ended.status = Status::not_met;
  return ended;
}

Ended ended_by_death(std::string const& death, Scenario const& scenario,
                     RunOptions const& options) {
  return {.result = make_error(scenario, options, "the worker process ended: " + death),
          .status = Status::not_met};
}

}  // namespace adamant::scenarios
