#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/judge/dump/dump.h"
#include "scenarios/language/json_text.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/pool/pool.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/inputs.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/passed_over.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/program/run_job.h"
#include "scenarios/program/run_report.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/search_of.h"
#include "scenarios/program/selection.h"
#include "scenarios/report/json.h"
#include "scenarios/report/worker_lines.h"
#include "scenarios/runner/expectation.h"
#include "scenarios/search/minimize/symptom.h"

namespace adamant::scenarios {

namespace {

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

std::string death_of(JobEnd const& end) {
  return end.late ? end.death + ", the limit that --timeout sets" : end.death;
}

Ended ended_as(JobEnd const& end, RunJob const& job) {
  auto const& scenario = job.file.scenario;
  if (!end.answer) return ended_by_death(death_of(end), scenario, job.options);
  return ended_with(parse_json<StrictJson>(*end.answer), scenario, job.options);
}

/// A result that fails by what is known alone is met, with a note of each defect.
void note_known(KnownHere const& known, Scenario const& scenario, RunOptions again,
                StrictJson& line) {
  RunResult result = result_from_json(line.at("result"));
  again.dump.reset();
  Unmasked const unmasked = known.unmask(scenario, result, [&](Scenario const& other) {
    return ended_with(run_in_worker(other, again), other, again).result;
  });
  if (unmasked.known.empty()) return;
  result.met = !unmasked.fails;
  for (KnownDefect const& defect : known.defects())
    if (unmasked.known.contains(defect.name))
      result.notes.push_back("meets a known defect, " + defect.name + ": " + defect.cause);
  line["result"] = to_json(result);
}

class RunCommand {
 public:
  explicit RunCommand(Arguments const& arguments)
      : arguments_(arguments),
        report_(arguments),
        last_failures_(arguments.cache),
        script_(arguments),
        trace_(arguments),
        passed_over_(arguments),
        inputs_(arguments) {}

  /// A worker that was killed left the dump that it was writing.
  ~RunCommand() {
    for (RunJob const& job : jobs_)
      if (job.options.dump) remove_unfinished_dump(*job.options.dump, job.options.dump_process);
  }
  RunCommand(RunCommand const&) = delete;  // two would remove the same dumps
  RunCommand& operator=(RunCommand const&) = delete;

  Status execute() {
    std::vector<ScenarioFile> files = read_scenarios(arguments_.paths);
    for (ScenarioFile const& file : files) inputs_.add(file);
    inputs_.refuse_as_outputs(arguments_);
    if (!select(files)) return Status::bad_input;
    if (arguments_.list) return list(files);
    if (!prepare(std::move(files))) return Status::bad_input;
    PoolOptions const options{
        .workers = arguments_.jobs,
        .jobs = runnable_.size(),
        .until = {},
        .job_time_max = arguments_.timeout,
        .enough = [this] { return arguments_.fail_fast && report_.has_failed(); },
        .while_waiting = waiting()};
    run_jobs(
        options, [this](std::uint64_t job) { return answer(jobs_[runnable_[job]]); },
        [this](JobEnd const& end) { take(end); });
    if (interrupted()) status_ = Status::interrupted;
    report_.finish(passed_over_.results(), status_);
    last_failures_.write();
    return status_;
  }

 private:
  /// Which of the files this call goes through, and in which order; false where that is none.
  bool select(std::vector<ScenarioFile>& files) const {
    std::size_t const all = files.size();
    if (arguments_.filter) {
      scenarios::select(files, *arguments_.filter, Matching::kept);
      if (files.empty() && all > 0)
        return complain_of("--filter", *arguments_.filter, "matches none of", all);
    }
    if (arguments_.exclude) {
      std::size_t const left = files.size();
      scenarios::select(files, *arguments_.exclude, Matching::dropped);
      if (files.empty() && left > 0)
        return complain_of("--exclude", *arguments_.exclude, "leaves none of", left);
    }
    if (arguments_.shard) keep_shard(files, *arguments_.shard);
    last_failures_.put_first(files);
    return true;
  }

  static bool complain_of(std::string_view option, std::string_view glob, std::string_view what,
                          std::size_t count) {
    complain(fmt::format("{}: `{}` {} {}; --list shows their names", option, glob, what,
                         counted(count, "scenario")));
    return false;
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
    if (!has_distinct_outputs(arguments_, files)) return false;
    for (ScenarioFile& file : files)
      if (file.is_read()) file.error = distrust(arguments_, file.path, file.scenario);
    passed_over_.take_bugs(files);
    passed_over_.take_unfit(files);
    status_ = worse(status_, passed_over_.take_engines(files));
    if (!arguments_.engine) tell_of_adapter(files);
    auto const drawn = draw_if_needed(arguments_, files);
    bool const several = files.size() > 1;
    for (ScenarioFile& file : files)
      file.is_read() ? add_job(std::move(file), drawn, several) : add_unread(std::move(file));
    for (Output const& output : outputs_of(arguments_)) inputs_.add(output.path);
    for (std::size_t const number : runnable_)
      if (auto const& directory = jobs_[number].options.dump) {
        inputs_.refuse_in_dump(*directory);
        expect_dumpable(*directory);
      }
    learn_known();
    report_.begin(jobs_.size());
    return true;
  }

  /// Whoever keeps scenarios beside an adapter may think that they run on it.
  static void tell_of_adapter(std::vector<ScenarioFile> const& files) {
    std::map<std::string, std::size_t> counts;  // of files, by adapter
    for (ScenarioFile const& file : files) {
      bool const names_none = file.is_read() && file.scenario.engine == EngineChoice();
      std::string const adapter = names_none ? adapter_around(file.path) : "";
      if (!adapter.empty()) ++counts[adapter];
    }
    for (auto const& [adapter, count] : counts)
      complain(
          fmt::format("{} in the folder of an adapter {} no engine and {} on {}; --engine {} "
                      "runs them on the adapter's",
                      counted(count, "scenario"), count == 1 ? "names" : "name",
                      count == 1 ? "runs" : "run", EngineChoice().name, adapter));
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
    report_.add_unread(jobs_.size(), {.result = std::move(result),
                                      .replay = replay_of(arguments_, file),
                                      .line = line_in(file.error, file.path)});
    jobs_.push_back({.file = std::move(file)});
  }

  void add_job(ScenarioFile file, std::optional<std::uint64_t> drawn, bool several) {
    runnable_.push_back(jobs_.size());
    jobs_.push_back(make_job(arguments_, std::move(file), drawn, several));
  }

  /// Only where it is asked for: else a scenario is to end as it says.
  void learn_known() {
    if (arguments_.dry_run || !(arguments_.known || !arguments_.unknown.empty())) return;
    for (std::size_t const number : runnable_) {
      Arguments of = arguments_;
      of.engine = jobs_[number].file.scenario.engine.name;
      if (!known_.contains(*of.engine)) known_.emplace(*of.engine, searchable_of(of).known);
    }
  }

  Answer answer(RunJob const& job) const {
    Scenario const& scenario = job.file.scenario;
    StrictJson line = run_in_worker(scenario, job.options);
    auto const known = known_.find(scenario.engine.name);
    bool const is_to_pass = scenario.expect.kind == Expectation::Kind::pass;
    if (known != known_.end() && is_to_pass && line.contains("result"))
      note_known(known->second, scenario, job.options, line);
    return to_answer(line);
  }

  void take(JobEnd const& end) {
    std::size_t const index = runnable_[end.job];
    RunJob const& job = jobs_[index];
    auto const& scenario = job.file.scenario;
    Ended ended = ended_as(end, job);
    ended.result.file = job.file.path.string();
    if (job.written)
      compare_with_written(*job.written, scenario, arguments_.schedules, ended.result);
    if (job.refused_while_reading) ended.status = Status::bad_input;
    status_ = worse(status_, ended.status);
    status_ = worse(
        status_, script_.write(scenario, ended.result, symptom_of(ended.result, scenario.expect)));
    status_ = worse(status_, trace_.write(ended.result));
    last_failures_.note(job.file.path, ended.result.met);
    int const line = std::max(job.line, line_of_violation(scenario, ended.result));
    Reported reported{
        .result = std::move(ended.result), .replay = replay_of(arguments_, job.file), .line = line};
    if (ended.status == Status::lacking) reported.lacking = reported.result.reason;
    report_.add(index, scenario, std::move(reported));
  }

  /// Of one scenario alone its operations are counted, where somebody looks.
  std::function<void()> waiting() {
    if (!wants_progress(arguments_) || jobs_.size() != 1) return {};
    jobs_.front().options.progress = [this](std::uint64_t done, std::uint64_t total) {
      executed_.write({.done = done, .total = total});
    };
    return [this] {
      auto const [done, total] = executed_.read();
      report_.show_operations(done, total);
    };
  }

  Arguments const& arguments_;
  RunReport report_;
  LastFailures last_failures_;
  ScriptOutput script_;
  TraceOutput trace_;
  PassedOver passed_over_;
  Inputs inputs_;
  SharedCounts executed_;
  std::map<std::string, KnownHere> known_;  // of each engine
  std::vector<RunJob> jobs_;
  std::vector<std::size_t> runnable_;  // numbers of jobs: all but files that cannot be read
  Status status_ = Status::met;
};

}  // namespace

namespace option {

constexpr Option files{"PATH", "", "Files and directories; - is the standard input",
                       word<&Arguments::paths>, Times::at_least_once};
constexpr Option filter{"--filter", "GLOB", "Only those whose path, file or name it matches",
                        word<&Arguments::filter>};
constexpr Option exclude{"--exclude", "GLOB", "All but those that it matches so",
                         word<&Arguments::exclude>};
constexpr Option list{"--list", nullptr, "Only say which they are", flag<&Arguments::list>};
constexpr Option timeout{"--timeout", "N", "Seconds for one scenario; then it is an error",
                         count<&Arguments::timeout, 1, 1'000'000>};
constexpr Option fail_fast{"--fail-fast", nullptr, "End at the first failure",
                           flag<&Arguments::fail_fast>};
constexpr Option cache{"--cache", "PATH",
                       "Directory that remembers failures: next time they come first",
                       path<&Arguments::cache>};
constexpr Option dump{"--dump", "PATH", "Write inputs and states as safetensors",
                      path<&Arguments::dump>};
constexpr Option trace{
    "--trace", "PATH",
    "Write a Perfetto / Chrome trace in simulated time; one scenario, engine sim",
    path<&Arguments::trace>};
constexpr Option dry_run{"--dry-run",
                         nullptr,
                         "Execute nothing: refuse, and print bytes by purpose and rank",
                         flag<&Arguments::dry_run>,
                         Times::at_most_once,
                         "--dump --script --trace --html --schedules --cache --list"};

}  // namespace option

Command const run_command{
    .name = "run",
    .text = "Run scenario files, or all in a directory (recursively)",
    .example = "adamant run scenarios/ --filter '*offload*' --junit results.xml",
    .failure = "a scenario did not end as it expects",
    .options = {option::files,     option::filter, option::exclude,
                option::shard,     option::list,   option::timeout,
                option::fail_fast, option::cache,  // which of them
                option::strict,    option::known,  option::unknown,
                option::schedules,  // how each runs
                option::dump,      option::script, option::trace,
                option::html,      option::seed,   option::jobs,
                option::json,      option::junit,  // what is written
                option::engine,    option::bug,    option::peer_timeout,
                option::trust,     option::dry_run},
    .run = [](Arguments const& arguments) { return RunCommand(arguments).execute(); }};

}  // namespace adamant::scenarios
