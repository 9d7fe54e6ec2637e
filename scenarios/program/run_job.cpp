#include "scenarios/program/run_job.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/laws.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/program/search_report.h"
#include "scenarios/program/seed.h"
#include "scenarios/program/version.h"
#include "scenarios/search/minimize/document.h"

namespace adamant::scenarios {

namespace {

bool has_distinct_dumps(Arguments const& arguments, std::vector<ScenarioFile> const& files) {
  std::set<std::string> stems;
  for (ScenarioFile const& file : files) {
    if (!arguments.dump || stems.insert(file.path.stem().string()).second) continue;
    complain(fmt::format("{}:1: document: --dump would put two scenarios into {}",
                         file.path.string(), (*arguments.dump / file.path.stem()).string()));
    return false;
  }
  return true;
}

/// A script or a trace is of one scenario.
bool has_one_if_needed(Arguments const& arguments, std::vector<ScenarioFile> const& files) {
  if (!(arguments.script || arguments.trace) || files.size() == 1) return true;
  bool const script = arguments.script.has_value();
  complain(fmt::format("--{0}: {1} scenarios, and a {0} shows one; name one file",
                       script ? "script" : "trace", files.size()));
  return false;
}

RunOptions options_of(Arguments const& arguments, ScenarioFile const& file, bool several) {
  RunOptions options;
  options.lines = true;
  options.strict = arguments.strict;
  options.dry = arguments.dry_run;
  if (arguments.html) options.timelines = Timelines::of_violations;
  if (arguments.trace) options.timelines = Timelines::all;
  options.schedules = arguments.schedules;
  options.checkpoints = folder_of(file.path);
  if (arguments.dump) {
    options.dump = several ? *arguments.dump / file.path.stem() : *arguments.dump;
  }
  return options;
}

/// Is the law that it expects to be broken one about two runs that differ?
bool expects_other_digest(Scenario const& scenario) {
  return scenario.expect.kind == Expectation::Kind::violates &&
         matches(scenario.expect.id, Law::determinism_digest);
}

/// The options by which this run is another one. An engine says its name itself.
std::vector<std::string> options_changing(Scenario const& written, Scenario const& run,
                                          int schedules) {
  std::vector<std::string> options;
  if (run.seed != written.seed) options.push_back(fmt::format("--seed {}", *run.seed));
  if (run.bug != written.bug) options.push_back("--bug " + *run.bug);
  if (schedules > 0) options.push_back(fmt::format("--schedules {}", schedules));
  return options;
}

}  // namespace

RunJob make_job(Arguments const& arguments, ScenarioFile file, std::optional<std::uint64_t> drawn,
                bool several) {
  RunJob job{.file = std::move(file)};
  job.options = options_of(arguments, job.file, several);
  Scenario& scenario = job.file.scenario;
  if (job.file.written && !arguments.dry_run) job.written = {*job.file.written, scenario};
  if (arguments.engine) scenario.engine.replace(*arguments.engine);
  if (arguments.bug) scenario.bug = arguments.bug;
  if (arguments.seed) scenario.seed = arguments.seed;
  if (!scenario.seed) scenario.seed = drawn;
  if (auto const refusal = refuse_file(job.file.path, scenario)) {
    job.refused_while_reading = true;
    job.line = refusal->line;
  }
  return job;
}

std::optional<std::uint64_t> draw_if_needed(Arguments const& arguments,
                                            std::vector<ScenarioFile> const& files) {
  if (arguments.seed) return std::nullopt;
  for (ScenarioFile const& file : files) {
    if (file.scenario.seed || !file.is_read()) continue;
    return draw_and_say_seed(arguments);
  }
  return std::nullopt;
}

bool has_distinct_outputs(Arguments const& arguments, std::vector<ScenarioFile> const& files) {
  return has_distinct_dumps(arguments, files) && has_one_if_needed(arguments, files);
}

std::string replay_of(Arguments const& arguments, ScenarioFile const& file) {
  std::string line = replay_of_file(arguments, file.path);
  if (file.scenario.seed) line += fmt::format(" --seed {}", *file.scenario.seed);
  if (arguments.engine) line += " --engine " + shell_quoted(*arguments.engine);
  if (arguments.bug) line += " --bug " + *arguments.bug;
  line += repeated_options(arguments);
  if (arguments.schedules > 0) line += fmt::format(" --schedules {}", arguments.schedules);
  if (arguments.trust) line += " --trust";
  if (arguments.strict) line += " --strict";
  if (arguments.dry_run) line += " --dry-run";
  return line;
}

void compare_with_written(WrittenRun const& written, Scenario const& run, int schedules,
                          RunResult& result) {
  // A process that died left no digest.
  if (result.outcome == Outcome::error || expects_other_digest(written.scenario)) return;
  Provenance now = provenance_of(written.scenario, result, this_program());
  now.engine = with_versions(run.engine.name);
  std::string text =
      difference(written.provenance, now, options_changing(written.scenario, run, schedules));
  if (!text.empty()) result.notes.push_back(std::move(text));
}

}  // namespace adamant::scenarios
