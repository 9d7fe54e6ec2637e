#include "scenarios/program/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scenarios/judge/dump/dump.h"
#include "scenarios/language/laws.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/pool/shared_counts.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/seed.h"
#include "scenarios/program/selection.h"
#include "scenarios/program/trace_output.h"
#include "scenarios/program/written_run.h"
#include "scenarios/report/json.h"
#include "scenarios/report/progress.h"
#include "scenarios/report/worker_lines.h"
#include "scenarios/runner/admission.h"
#include "scenarios/runner/expectation.h"
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

/// Of `file:line: key: message`.
int line_in(std::string const& error, std::filesystem::path const& file) {
  std::string const before = file.string() + ":";
  int line = 0;
  if (error.starts_with(before))
    std::from_chars(error.data() + before.size(), error.data() + error.size(), line);
  return line;
}

/// The line of the operation that broke a law; 0 where none is known.
int line_of_violation(Scenario const& scenario, RunResult const& result) {
  if (result.violations.empty()) return 0;
  auto const operation = static_cast<std::size_t>(result.violations.front().operation);
  return operation < scenario.program.size() ? scenario.program[operation].line.value : 0;
}

bool expects(Scenario const& scenario, Refusal const& refusal) {
  if (scenario.expect.kind != Expectation::Kind::refused) return false;
  return scenario.expect.id == "any" || matches(scenario.expect.id, refusal.id);
}

/// One scenario with all that the command line says about it.
struct Job {
  ScenarioFile file;
  RunOptions options;
  std::optional<WrittenRun> written = {};
  bool refused_while_reading = false;
  int line = 0;  // of the refusal; 0: unknown
};

class RunCommand {
 public:
  explicit RunCommand(Arguments const& arguments)
      : arguments_(arguments),
        style_(style_of(arguments)),
        outputs_(arguments),
        last_failures_(arguments.cache),
        script_(arguments),
        trace_(arguments),
        html_(arguments),
        progress_(wants_progress(arguments), "scenarios"),
        progress_of_one_(wants_progress(arguments), "operations") {}

  /// A worker that was killed left the dump that it was writing.
  ~RunCommand() {
    for (Job const& job : jobs_)
      if (job.options.dump) remove_unfinished_dump(*job.options.dump, job.options.dump_process);
  }
  RunCommand(RunCommand const&) = delete;  // two would remove the same dumps
  RunCommand& operator=(RunCommand const&) = delete;

  Status execute() {
    std::vector<ScenarioFile> files = read_scenarios(arguments_.paths);
    if (!select(files)) return Status::bad_input;
    if (arguments_.list) return list(files);
    if (!prepare(std::move(files))) return Status::bad_input;
    PoolOptions const options{.workers = arguments_.jobs,
                              .jobs = runnable_.size(),
                              .until = {},
                              .job_time_max = arguments_.timeout,
                              .enough = [this] { return arguments_.fail_fast && failed_ > 0; },
                              .while_waiting = waiting()};
    run_jobs(
        options, [this](std::uint64_t job) { return answer(jobs_[runnable_[job]]); },
        [this](JobEnd const& end) { take(end); });
    if (interrupted()) status_ = Status::interrupted;
    report();
    return status_;
  }

 private:
  /// Which of the files this call goes through, and in which order; false where that is none.
  bool select(std::vector<ScenarioFile>& files) const {
    std::size_t const all = files.size();
    if (arguments_.filter) keep_matching(files, *arguments_.filter);
    if (files.empty() && all > 0) {
      complain(fmt::format("--filter: `{}` matches none of {}; --list shows their names",
                           *arguments_.filter, counted(all, "scenario")));
      return false;
    }
    if (arguments_.shard) keep_shard(files, *arguments_.shard);
    last_failures_.put_first(files);
    return true;
  }

  Status list(std::vector<ScenarioFile> const& files) const {
    Status status = Status::met;
    for (ScenarioFile const& file : files) {
      if (file.is_read()) {
        print(arguments_, fmt::format("{}: {}\n", printable(file.path.string()),
                                      printable(file.scenario.name)));
      } else {
        complain(file.error);
        status = Status::bad_input;
      }
    }
    return status;
  }

  /// Everything that can be said before the first scenario runs; false where none may run.
  bool prepare(std::vector<ScenarioFile> files) {
    if (!has_distinct_dumps(files) || !has_one_if_needed(files)) return false;
    if (!engines_have_bugs()) pass_over_bugs(files);
    pass_over_engines(files);
    std::optional<std::uint64_t> const drawn = draw_if_needed(files);
    bool const several = files.size() > 1;
    for (ScenarioFile& file : files)
      file.is_read() ? add_job(std::move(file), drawn, several) : add_unread(std::move(file));
    return true;
  }

  /// A directory may hold scenarios that no engine here can run; who names one wants to hear of it.
  bool is_named(ScenarioFile const& file) const {
    auto const& named = arguments_.paths;
    return std::find(named.begin(), named.end(), file.path) != named.end();
  }

  /// Scenarios whose engine this machine lacks. Who names the engine or the file is told by the
  /// status, too.
  void pass_over_engines(std::vector<ScenarioFile>& files) {
    std::map<std::string, int> lacking;  // by reason: how many
    std::set<std::string> missed;
    std::erase_if(files, [&](ScenarioFile const& file) {
      auto const why = lack_of(file);
      if (!why) return false;
      add_passed_over(file, *why);
      if (arguments_.engine || is_named(file))
        missed.insert(*why);
      else
        ++lacking[*why];
      return true;
    });
    for (std::string const& why : missed) complain("adamant: " + why);
    if (!missed.empty()) status_ = worse(status_, Status::lacking);
    if (style_.verbosity == Verbosity::quiet) return;
    for (auto const& [why, count] : lacking)
      print(arguments_, fmt::format("passed over {}: {}\n", counted(count, "scenario"), why));
  }

  /// Why the engine of this scenario cannot run here; nothing where it can.
  std::optional<std::string> lack_of(ScenarioFile const& file) const {
    if (!file.is_read()) return std::nullopt;
    try {
      static_cast<void>(capabilities_of(arguments_.engine.value_or(file.scenario.engine.name)));
      return std::nullopt;
    } catch (MachineLacks const& error) {
      if (interrupted()) throw;  // it was asked while it had to stop
      return error.what();
    }
  }

  void pass_over_bugs(std::vector<ScenarioFile>& files) {
    auto const passed = std::erase_if(files, [&](ScenarioFile const& file) {
      if (!file.scenario.bug || is_named(file)) return false;
      add_passed_over(file, "this engine has no bugs");
      return true;
    });
    if (passed == 0 || style_.verbosity == Verbosity::quiet) return;
    print(arguments_, fmt::format("passed over {} with a bug: this engine has none\n",
                                  counted(passed, "scenario")));
  }

  void add_passed_over(ScenarioFile const& file, std::string why) {
    Reported reported{.result = {}, .replay = {}, .lacking = std::move(why)};
    reported.result.name = file.scenario.name;
    reported.result.file = file.path.string();
    passed_over_.push_back(std::move(reported));
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

  /// A script or a trace is of one scenario.
  bool has_one_if_needed(std::vector<ScenarioFile> const& files) const {
    if (!(arguments_.script || arguments_.trace) || files.size() == 1) return true;
    bool const script = arguments_.script.has_value();
    complain(fmt::format("--{0}: {1} scenarios, and a {0} shows one; name one file",
                         script ? "script" : "trace", files.size()));
    return false;
  }

  std::optional<std::uint64_t> draw_if_needed(std::vector<ScenarioFile> const& files) const {
    if (arguments_.seed) return std::nullopt;
    for (ScenarioFile const& file : files) {
      if (file.scenario.seed || !file.is_read()) continue;
      std::uint64_t const drawn = draw_seed();
      if (style_.verbosity != Verbosity::quiet)
        print(arguments_, fmt::format("seed {} (drawn)\n", drawn));
      return drawn;
    }
    return std::nullopt;
  }

  void add_unread(ScenarioFile file) {
    complain(file.error);
    RunResult result;
    result.name = result.file = file.path.string();
    result.reason = "cannot be read";
    result.message = file.error;
    result.expected = text_of(Expectation{});
    last_failures_.note(file.path, false);
    status_ = worse(status_, Status::bad_input);
    ++failed_;
    finished_[jobs_.size()] = {.result = std::move(result),
                               .replay = replay_of(file),
                               .line = line_in(file.error, file.path)};
    jobs_.push_back({.file = std::move(file), .options = {}});
  }

  void add_job(ScenarioFile file, std::optional<std::uint64_t> drawn, bool several) {
    Job job{.file = std::move(file), .options = {}};
    Scenario& scenario = job.file.scenario;
    if (job.file.written) job.written = {*job.file.written, scenario};
    if (arguments_.engine) scenario.engine.replace(*arguments_.engine);
    if (arguments_.bug) scenario.bug = arguments_.bug;
    if (arguments_.seed) scenario.seed = arguments_.seed;
    if (!scenario.seed) scenario.seed = drawn;
    job.options.lines = true;
    job.options.strict = arguments_.strict;
    if (html_.is_wanted()) job.options.timelines = Timelines::of_violations;
    if (arguments_.trace) job.options.timelines = Timelines::all;
    job.options.schedules = arguments_.schedules;
    job.options.checkpoints = folder_of(job.file.path);
    if (arguments_.dump) {
      job.options.dump = several ? *arguments_.dump / job.file.path.stem() : *arguments_.dump;
    }
    if (auto const refusal = refusal_seen(scenario); refusal && !expects(scenario, *refusal)) {
      job.refused_while_reading = true;
      job.line = refusal->line;
      complain(fmt::format("{}:{}: {}: {}", job.file.path.string(), std::max(refusal->line, 1),
                           refusal->id, refusal->message));
    }
    runnable_.push_back(jobs_.size());
    jobs_.push_back(std::move(job));
  }

  static std::string answer(Job const& job) {
    return to_line(run_in_worker(job.file.scenario, job.options));
  }

  static std::string death_of(JobEnd const& end) {
    return end.late ? end.death + ", the limit that --timeout sets" : end.death;
  }

  void take(JobEnd const& end) {
    std::size_t const index = runnable_[end.job];
    Job const& job = jobs_[index];
    Ended ended = end.answer ? ended_with(nlohmann::ordered_json::parse(*end.answer),
                                          job.file.scenario, job.options)
                             : ended_by_death(death_of(end), job.file.scenario, job.options);
    ended.result.file = job.file.path.string();
    if (job.written)
      compare_with_written(*job.written, job.file.scenario, arguments_.schedules, ended.result);
    if (job.refused_while_reading) ended.status = Status::bad_input;
    if (!ended.result.met) ++failed_;
    status_ = worse(status_, ended.status);
    auto const& scenario = job.file.scenario;
    status_ = worse(
        status_, script_.write(scenario, ended.result, symptom_of(ended.result, scenario.expect)));
    status_ = worse(status_, trace_.write(ended.result));
    html_.draw(index, scenario, ended.result);
    last_failures_.note(job.file.path, ended.result.met);
    int const line = std::max(job.line, line_of_violation(scenario, ended.result));
    Reported reported{.result = std::move(ended.result),
                      .replay = replay_of(job.file),
                      .line = line,
                      .alone = jobs_.size() == 1};
    if (ended.status == Status::lacking) reported.lacking = reported.result.reason;
    finished_[index] = std::move(reported);
    show();
  }

  /// Of one scenario alone its operations are counted, where somebody looks.
  std::function<void()> waiting() {
    if (!wants_progress(arguments_) || jobs_.size() != 1) return {};
    jobs_.front().options.progress = [this](std::uint64_t done, std::uint64_t total) {
      executed_.write({.done = done, .total = total});
    };
    return [this] {
      auto const [done, total] = executed_.read();
      if (finished_.empty()) progress_of_one_.show({.done = done, .total = total});
    };
  }

  std::string replay_of(ScenarioFile const& file) const {
    std::string line = fmt::format("{} run {}", shell_quoted(arguments_.program),
                                   shell_quoted(file.path.string()));
    if (file.scenario.seed) line += fmt::format(" --seed {}", *file.scenario.seed);
    if (arguments_.engine) line += " --engine " + shell_quoted(*arguments_.engine);
    if (arguments_.bug) line += " --bug " + *arguments_.bug;
    if (arguments_.peer_timeout)
      line += fmt::format(" --peer-timeout {}", arguments_.peer_timeout->count());
    if (arguments_.schedules > 0) line += fmt::format(" --schedules {}", arguments_.schedules);
    if (arguments_.strict) line += " --strict";
    return line;
  }

  /// Prints what is finished as far as no file before it is missing.
  void show() {
    progress_of_one_.clear();
    for (auto next = finished_.find(printed_); next != finished_.end();
         next = finished_.find(printed_)) {
      print_result(next->second, jobs_[next->first]);
      ++printed_;
    }
    if (jobs_.size() > 1)
      progress_.show({.done = finished_.size(), .total = jobs_.size(), .failed = failed_});
  }

  /// Of a file that cannot be read the reason was printed at once.
  void print_result(Reported const& reported, Job const& job) {
    std::string text = job.file.is_read() ? describe(reported, style_) : std::string();
    warnings_ += reported.result.warnings.size();
    if (!reported.result.met && wants_annotations()) text += annotation(reported);
    if (text.empty()) return;
    progress_.clear();
    print(arguments_, text);
  }

  void report() {
    progress_.clear();
    progress_of_one_.clear();
    std::vector<Reported> results;
    for (auto& [job, reported] : finished_) {
      if (job >= printed_)
        print_result(reported, jobs_[job]);  // who ended early left gaps before it
      html_.add(job, reported);
      results.push_back(std::move(reported));
    }
    std::size_t const finished = results.size();
    if (!runnable_.empty() || status_ == Status::met) summarise(finished);
    auto document = make_document("run");
    document["results"] = to_json(results);
    for (Reported const& passed : passed_over_)
      document["skipped"].push_back({{"scenario", passed.result.name},
                                     {"file", passed.result.file},
                                     {"reason", passed.lacking}});
    for (Reported const& passed : passed_over_) html_.add(passed);
    if (interrupted()) document["interrupted"] = true;
    if (is_stopped()) document["stopped"] = true;
    std::ranges::move(passed_over_, std::back_inserter(results));
    outputs_.commit(document, "run", results);
    html_.commit(page_frame(finished));
    last_failures_.write();
  }

  /// By --fail-fast.
  bool is_stopped() const {
    return arguments_.fail_fast && failed_ > 0 && finished_.size() < jobs_.size();
  }

  void summarise(std::size_t finished) const {
    if (interrupted()) return complain(cut_short(finished));
    if (style_.verbosity != Verbosity::quiet) print(arguments_, verdict(finished) + "\n");
  }

  std::string cut_short(std::size_t finished) const {
    return fmt::format("interrupted: {} of {} finished", finished,
                       counted(jobs_.size(), "scenario"));
  }

  std::string verdict(std::size_t finished) const {
    auto const ended =
        failed_ == 0 ? "all as expected" : fmt::format("{} not as expected", failed_);
    std::string const what =
        is_stopped() ? fmt::format("stopped: {} of {}", finished, counted(jobs_.size(), "scenario"))
                     : counted(finished, "scenario");
    std::string const warned = warnings_ == 0 ? "" : ", " + counted(warnings_, "warning");
    return fmt::format("{}, {}{}", what, ended, warned);
  }

  Page page_frame(std::size_t finished) const {
    Page page{.command = "run", .verdict = verdict(finished), .good = status_ == Status::met};
    if (interrupted()) page.cut_short = cut_short(finished);
    return page;
  }

  Arguments const& arguments_;
  Style style_;
  Outputs outputs_;
  LastFailures last_failures_;
  ScriptOutput script_;
  TraceOutput trace_;
  HtmlOutput html_;
  Progress progress_;
  Progress progress_of_one_;
  SharedCounts executed_;
  std::vector<Job> jobs_;
  std::vector<std::size_t> runnable_;  // numbers of jobs: all but files that cannot be read
  std::vector<Reported> passed_over_;
  std::map<std::uint64_t, Reported> finished_;
  std::uint64_t warnings_ = 0;
  std::uint64_t printed_ = 0;
  std::uint64_t failed_ = 0;
  Status status_ = Status::met;
};

}  // namespace

Status run_command(Arguments const& arguments) {
  return RunCommand(arguments).execute();
}

}  // namespace adamant::scenarios
