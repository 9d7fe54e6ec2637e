#include "scenarios/program/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scenarios/judge/dump/dump.h"
#include "scenarios/language/laws.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/seed.h"
#include "scenarios/report/json.h"
#include "scenarios/report/progress.h"
#include "scenarios/report/worker_lines.h"
#include "scenarios/runner/admission.h"
#include "scenarios/seam/engine.h"
#include "scenarios/search/minimize/symptom.h"

namespace adamant::scenarios {

namespace {

/// A refusal that the file itself is reason for. What this machine has no memory for is a result of
/// running here, although it is known before.
std::optional<Refusal> refusal_seen(Scenario const& scenario) {
  auto refusal = refuse_to_run(scenario, capabilities_of(scenario.engine.name));
  if (refusal && refusal->id == "out_of_memory") return std::nullopt;
  return refusal;
}

bool expects(Scenario const& scenario, Refusal const& refusal) {
  if (scenario.expect.kind != Expectation::Kind::refused) return false;
  return scenario.expect.id == "any" || matches(scenario.expect.id, refusal.id);
}

/// Where the checkpoints are that a scenario loads without having saved them.
std::filesystem::path directory_of(std::filesystem::path const& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

/// One scenario with all that the command line says about it.
struct Job {
  ScenarioFile file;
  RunOptions options;
  bool refused_while_reading = false;
};

class RunCommand {
 public:
  explicit RunCommand(Arguments const& arguments)
      : arguments_(arguments),
        style_(style_of(arguments)),
        outputs_(arguments),
        script_(arguments),
        progress_(wants_progress(arguments), "scenarios") {}

  /// A worker that was killed left the dump that it was writing.
  ~RunCommand() {
    for (Job const& job : jobs_)
      if (job.options.dump) remove_unfinished_dump(*job.options.dump, job.options.dump_process);
  }
  RunCommand(RunCommand const&) = delete;  // two would remove the same dumps
  RunCommand& operator=(RunCommand const&) = delete;

  Status execute() {
    if (!prepare()) return Status::bad_input;
    run_jobs(
        {.workers = arguments_.jobs, .jobs = jobs_.size(), .until = {}, .job_time_max = {}},
        [this](std::uint64_t job) { return answer(job); },
        [this](JobEnd const& end) { take(end); });
    if (interrupted()) status_ = Status::interrupted;
    report();
    return status_;
  }

 private:
  /// Everything that can be said before the first scenario runs; false where none may run.
  bool prepare() {
    ReadScenarios found = read_scenarios(arguments_.paths);
    for (std::string const& error : found.errors) complain(error);
    if (!found.errors.empty() || !has_distinct_dumps(found.files)) return false;
    if (!has_one_script(found.files)) return false;
    if (!engines_have_bugs()) pass_over_bugs(found.files);
    if (!arguments_.engine) pass_over_engines(found.files);
    std::optional<std::uint64_t> const drawn = draw_if_needed(found.files);
    bool const several = found.files.size() > 1;
    for (ScenarioFile& file : found.files) add_job(std::move(file), drawn, several);
    return true;
  }

  /// A directory may hold scenarios that no engine here can run; who names one wants to hear of it.
  bool is_named(ScenarioFile const& file) const {
    auto const& named = arguments_.paths;
    return std::find(named.begin(), named.end(), file.path) != named.end();
  }

  /// Those for engines outside the process that this machine lacks.
  void pass_over_engines(std::vector<ScenarioFile>& files) const {
    std::map<std::string, int> lacking;  // by reason: how many
    std::erase_if(files, [&](ScenarioFile const& file) {
      if (is_named(file)) return false;
      try {
        static_cast<void>(capabilities_of(file.scenario.engine.name));
        return false;
      } catch (MachineLacks const& error) {
        ++lacking[error.what()];
        return true;
      }
    });
    if (style_.verbosity == Verbosity::quiet) return;
    for (auto const& [why, count] : lacking)
      print(arguments_, fmt::format("passed over {} scenarios: {}\n", count, why));
  }

  void pass_over_bugs(std::vector<ScenarioFile>& files) const {
    auto const passed = std::erase_if(
        files, [&](ScenarioFile const& file) { return file.scenario.bug && !is_named(file); });
    if (passed == 0 || style_.verbosity == Verbosity::quiet) return;
    print(arguments_,
          fmt::format("passed over {} scenarios with a bug: this engine has none\n", passed));
  }

  bool has_distinct_dumps(std::vector<ScenarioFile> const& files) const {
    std::set<std::string> stems;
    for (ScenarioFile const& file : files) {
      if (!arguments_.dump || stems.insert(file.path.stem().string()).second) continue;
      complain(fmt::format("{}:1: document: --dump would put two scenarios into {}",
                           file.path.string(), (*arguments_.dump / file.path.stem()).string()));
      return false;
    }
    return true;
  }

  bool has_one_script(std::vector<ScenarioFile> const& files) const {
    if (!arguments_.script || files.size() == 1) return true;
    complain(
        fmt::format("--script: {} scenarios, and a script shows one; name one file", files.size()));
    return false;
  }

  std::optional<std::uint64_t> draw_if_needed(std::vector<ScenarioFile> const& files) const {
    if (arguments_.seed) return std::nullopt;
    for (ScenarioFile const& file : files) {
      if (file.scenario.seed) continue;
      std::uint64_t const drawn = draw_seed();
      if (style_.verbosity != Verbosity::quiet)
        print(arguments_, fmt::format("seed {} (drawn)\n", drawn));
      return drawn;
    }
    return std::nullopt;
  }

  void add_job(ScenarioFile file, std::optional<std::uint64_t> drawn, bool several) {
    Job job{.file = std::move(file), .options = {}};
    Scenario& scenario = job.file.scenario;
    if (arguments_.engine) scenario.engine.replace(*arguments_.engine);
    if (arguments_.bug) scenario.bug = arguments_.bug;
    if (arguments_.seed) scenario.seed = arguments_.seed;
    if (!scenario.seed) scenario.seed = drawn;
    job.options.schedules = arguments_.schedules;
    job.options.checkpoints = directory_of(job.file.path);
    if (arguments_.dump) {
      job.options.dump = several ? *arguments_.dump / job.file.path.stem() : *arguments_.dump;
    }
    if (auto const refusal = refusal_seen(scenario); refusal && !expects(scenario, *refusal)) {
      job.refused_while_reading = true;
      complain(fmt::format("{}:{}: {}: {}", job.file.path.string(), std::max(refusal->line, 1),
                           refusal->id, refusal->message));
    }
    jobs_.push_back(std::move(job));
  }

  std::string answer(std::uint64_t index) const {
    Job const& job = jobs_[index];
    return to_line(run_in_worker(job.file.scenario, job.options));
  }

  void take(JobEnd const& end) {
    Job const& job = jobs_[end.job];
    Ended ended = end.answer ? ended_with(nlohmann::ordered_json::parse(*end.answer),
                                          job.file.scenario, job.options)
                             : ended_by_death(end.death, job.file.scenario, job.options);
    ended.result.file = job.file.path.string();
    if (job.refused_while_reading) ended.status = Status::bad_input;
    if (!ended.result.met) ++failed_;
    status_ = worse(status_, ended.status);
    auto const& scenario = job.file.scenario;
    status_ = worse(
        status_, script_.write(scenario, ended.result, symptom_of(ended.result, scenario.expect)));
    finished_[end.job] = {.result = std::move(ended.result), .replay = replay_of(job)};
    show();
  }

  std::string replay_of(Job const& job) const {
    std::string line = fmt::format("{} run {} --seed {}", shell_quoted(arguments_.program),
                                   shell_quoted(job.file.path.string()), *job.file.scenario.seed);
    if (arguments_.engine) line += " --engine " + shell_quoted(*arguments_.engine);
    if (arguments_.bug) line += " --bug " + *arguments_.bug;
    if (arguments_.schedules > 0) line += fmt::format(" --schedules {}", arguments_.schedules);
    return line;
  }

  /// Prints what is finished as far as no file before it is missing.
  void show() {
    for (auto next = finished_.find(printed_); next != finished_.end();
         next = finished_.find(printed_)) {
      print_result(next->second);
      ++printed_;
    }
    progress_.show(finished_.size(), jobs_.size(), failed_);
  }

  void print_result(Reported const& reported) {
    std::string const text = describe(reported, style_);
    if (text.empty()) return;
    progress_.clear();
    print(arguments_, text);
  }

  void report() {
    progress_.clear();
    std::vector<Reported> results;
    for (auto& [job, reported] : finished_) {
      if (job >= printed_) print_result(reported);  // an interrupt left gaps before it
      results.push_back(std::move(reported));
    }
    summarise(results.size());
    auto document = make_document("run");
    document["results"] = to_json(results);
    if (interrupted()) document["interrupted"] = true;
    outputs_.commit(document, "run", results);
  }

  void summarise(std::size_t finished) const {
    if (interrupted()) {
      return complain(
          fmt::format("interrupted: {} of {} scenarios finished", finished, jobs_.size()));
    }
    if (style_.verbosity == Verbosity::quiet) return;
    auto const verdict =
        failed_ == 0 ? "all as expected" : fmt::format("{} not as expected", failed_);
    print(arguments_, fmt::format("{} scenarios, {}\n", finished, verdict));
  }

  Arguments const& arguments_;
  Style style_;
  Outputs outputs_;
  ScriptOutput script_;
  Progress progress_;
  std::vector<Job> jobs_;
  std::map<std::uint64_t, Reported> finished_;
  std::uint64_t printed_ = 0;
  std::uint64_t failed_ = 0;
  Status status_ = Status::met;
};

}  // namespace

Status run_command(Arguments const& arguments) {
  return RunCommand(arguments).execute();
}

}  // namespace adamant::scenarios
