#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/operations.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/pool/pool.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/program/seed.h"
#include "scenarios/report/json.h"
#include "scenarios/report/progress.h"
#include "scenarios/search/mutant_search.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;
using Json = StrictJson;

constexpr char corpus[] = "scenarios/corpus";
constexpr char page[] = "scenarios/bugs/MUTANTS.md";
constexpr std::uint64_t cases_per_mutant = 2000;
constexpr int case_seconds_max = 20;
constexpr std::chrono::seconds mutant_time_max{1800};  // where a process sleeps for good

/// operator__file__function__line: the part at `index`.
std::string part_of_id(std::string_view id, int index) {
  for (; index > 0; --index) id.remove_prefix(std::min(id.size(), id.find("__") + 2));
  return std::string(id.substr(0, id.find("__")));
}

std::string file_of(bugs::Bug const& mutant) {
  return std::string(mutant.source.substr(0, mutant.source.rfind(':')));
}

fs::path beside_this_program(char const* name) {
  return fs::read_symlink("/proc/self/exe").parent_path() / name;
}

std::string not_there(fs::path const& program) {
  return fmt::format("{} is not there: cmake --build {} --target adamant_mutants", program.string(),
                     program.parent_path().string());
}

class MutantsCommand {
 public:
  explicit MutantsCommand(Arguments const& arguments)
      : arguments_(arguments),
        outputs_(arguments),
        progress_(wants_progress(arguments), "mutants"),
        limits_{.seed = seed_of(arguments),
                .cases_max = arguments.cases.value_or(cases_per_mutant),
                .case_seconds_max = case_seconds_max} {
    auto const& ids = arguments.bugs;
    for (bugs::Bug const& mutant : bugs::catalogue())
      if (ids.empty() || std::find(ids.begin(), ids.end(), mutant.id) != ids.end())
        mutants_.push_back(mutant);
  }

  Status execute() {
    say_seed(arguments_, limits_.seed);
    if (!engine_tests_pass()) return Status::lacking;
    if (!read_page() || !prepare_trials()) return Status::bad_input;
    search();
    progress_.clear();
    if (!lacking_.empty()) {
      complain("hunt: " + lacking_);
      return Status::lacking;
    }
    report();
    if (interrupted()) return Status::interrupted;
    return unexplained_ == 0 ? Status::met : Status::not_met;
  }

 private:
  /// Tests that fail without a mistake would notice everything.
  bool engine_tests_pass() {
    for (char const* const name : {"adamant-mutants-host-tests", "adamant-mutants-tests"}) {
      fs::path const program = beside_this_program(name);
      if (!fs::exists(program)) return complain("hunt: " + not_there(program)), false;
      EngineTestsEnd const end = run_engine_tests(program, "");
      if (end.failed)
        return complain(fmt::format("hunt: {} fails without any mistake", end.test)), false;
      limits_.engine_tests.push_back(program);
    }
    return true;
  }

  bool read_page() {
    std::ifstream in(page, std::ios::binary);
    explained_.assign(std::istreambuf_iterator<char>(in), {});
    if (in.is_open()) return true;
    complain(fmt::format("{}: cannot be read; call this from the project's root", page));
    return false;
  }

  /// The corpus without bugs: each scenario expects what comes of it where no mistake is made.
  bool prepare_trials() {
    std::vector<fs::path> const paths = {corpus};
    bool all_read = true;
    for (ScenarioFile const& file : read_scenarios(paths)) {
      if (!file.is_read()) {
        complain(file.error);
        all_read = false;
      } else if (file.scenario.engine.name == EngineChoice().name && !interrupted()) {
        add_trial(file);
      }
    }
    return all_read;
  }

  void add_trial(ScenarioFile const& file) {
    MutantTrial trial{.name = file.path.string(), .scenario = file.scenario, .options = {}};
    trial.options.checkpoints = file.path.parent_path();
    Scenario& scenario = trial.scenario;
    scenario.seed = scenario.seed.value_or(limits_.seed);
    if (scenario.bug) {
      scenario.bug.reset();
      scenario.expect = {};
      RunResult const result = run_scenario(scenario, trial.options);
      if (result.outcome == Outcome::refused)
        scenario.expect = {.kind = Expectation::Kind::refused, .id = result.reason};
    }
    if (scenario.expect.kind == Expectation::Kind::violates) return;
    trials_.push_back(trial);
    if (file.path.parent_path() == corpus) add_loopback(std::move(trial));
  }

  /// Ranks that share one device and bring their own collectives take another way through the
  /// engine. Where sums round, it may come to other bits.
  void add_loopback(MutantTrial trial) {
    Scenario const& scenario = trial.scenario;
    bool const fits = scenario.world.rank_count() > 1 && scenario.faults.empty() &&
                      !has<Capture>(scenario.program) &&
                      scenario.gradients == GradientClass::exact &&
                      scenario.expect.kind == Expectation::Kind::pass;
    if (!fits) return;
    trial.name += " by the loop-back";
    trial.options.loopback = true;
    trials_.push_back(std::move(trial));
  }

  void search() {
    PoolOptions const pool{.workers = arguments_.jobs,
                           .jobs = mutants_.size(),
                           .until = {},
                           .job_time_max = mutant_time_max};
    ends_.resize(mutants_.size());
    run_jobs(
        pool,
        [this](std::uint64_t job) { return to_line(try_mutant(mutants_[job], trials_, limits_)); },
        [this](JobEnd const& end) {
          take(end);
          progress_.show({.done = ++ended_, .total = mutants_.size()});
        });
  }

  void take(JobEnd const& end) {
    MutantEnd mutant;
    if (end.answer) {
      mutant = mutant_end_from_line(*end.answer);
    } else {
      mutant.law = law_of_death(end.death);
      mutant.by = end.death;
    }
    if (!mutant.lacking.empty()) lacking_ = mutant.lacking;
    ends_[end.job] = std::move(mutant);
    show(mutants_[end.job], *ends_[end.job]);
  }

  /// At once: all of them take long.
  void show(bugs::Bug const& mutant, MutantEnd const& end) {
    if (!end.law.empty() && arguments_.verbosity == Verbosity::quiet) return;
    progress_.clear();
    print(arguments_, line_of(mutant, end, is_explained(mutant)));
  }

  bool is_explained(bugs::Bug const& mutant) const {
    return explained_.find("`" + std::string(mutant.id) + "`") != std::string::npos;
  }

  void report() {
    auto document = make_document("hunt");
    document["seed"] = limits_.seed;
    document["cases_max"] = limits_.cases_max;
    document["results"] = Json::array();
    std::vector<Reported> results;
    for (std::size_t i = 0; i < mutants_.size(); ++i)
      if (ends_[i]) report(mutants_[i], *ends_[i], document, results);
    summarise(document);
    outputs_.commit(with_interrupt(document), results);
  }

  void report(bugs::Bug const& mutant, MutantEnd const& end, Json& document,
              std::vector<Reported>& results) {
    bool const killed = !end.law.empty();
    bool const explained = !killed && is_explained(mutant);
    if (!killed && !explained) ++unexplained_;
    document["results"].push_back({{"mutant", mutant.id},
                                   {"operator", part_of_id(mutant.id, 0)},
                                   {"source", mutant.source},
                                   {"mistake", mutant.symptom},
                                   {"killed", killed},
                                   {"law", end.law},
                                   {"by", end.by},
                                   {"cases", end.cases},
                                   {"seconds", end.seconds},
                                   {"explained", explained}});
    count(by_operator_[part_of_id(mutant.id, 0)], killed);
    count(by_file_[file_of(mutant)], killed);
    count(all_, killed);
    results.push_back(reported(mutant, end, killed || explained));
  }

  std::string line_of(bugs::Bug const& mutant, MutantEnd const& end, bool explained) const {
    if (end.law.empty())
      return fmt::format("{}  {}  {}: {}; {} cases\n", explained ? "lives   " : "SURVIVED",
                         mutant.id, mutant.source, mutant.symptom, end.cases);
    return fmt::format("killed    {}  {}  {} cases: {}\n", mutant.id, end.law, end.cases, end.by);
  }

  Reported reported(bugs::Bug const& mutant, MutantEnd const& end, bool met) const {
    RunResult result;
    result.name = std::string(mutant.id);
    result.engine = EngineChoice().name;
    result.expected = "killed";
    result.met = met;
    result.outcome = met ? Outcome::pass : Outcome::error;
    result.message = fmt::format("nothing noticed it in {} cases", end.cases);
    result.wall_seconds = end.seconds;
    return {.result = std::move(result),
            .replay = fmt::format("{} hunt --mutants {} --seed {}", arguments_.program, mutant.id,
                                  limits_.seed)};
  }

  struct Count {
    int killed = 0;
    int all = 0;
  };
  using Counts = std::map<std::string, Count>;

  static void count(Count& count, bool killed) {
    ++count.all;
    if (killed) ++count.killed;
  }

  static Json to_json(Counts const& counts) {
    Json json = Json::object();
    for (auto const& [name, count] : counts)
      json[name] = {{"killed", count.killed}, {"all", count.all}};
    return json;
  }

  void summarise(Json& document) const {
    if (interrupted()) complain("interrupted: not every mutant was tried");
    document["killed"] = all_.killed;
    document["mutants"] = all_.all;
    document["unexplained"] = unexplained_;
    document["operators"] = to_json(by_operator_);
    document["files"] = to_json(by_file_);
    print(arguments_, fmt::format("{} of {} mutants killed; {} survived that {} does not explain\n",
                                  all_.killed, all_.all, unexplained_, page));
  }

  Arguments const& arguments_;
  Outputs outputs_;
  Progress progress_;
  MutantLimits limits_;
  std::vector<bugs::Bug> mutants_;
  std::vector<MutantTrial> trials_;
  std::vector<std::optional<MutantEnd>> ends_;
  std::string explained_;  // the page
  std::string lacking_;
  std::uint64_t ended_ = 0;
  int unexplained_ = 0;
  Count all_;
  Counts by_operator_;
  Counts by_file_;
};

/// Becomes the program beside this one that has mutants.
Status hand_over(char const* const* argv) {
  fs::path const beside = beside_this_program("adamant-mutants");
  ::execv(beside.c_str(), const_cast<char* const*>(argv));
  complain("hunt: " + not_there(beside));
  return Status::lacking;
}

}  // namespace

Status hunt_mutants(Arguments const& arguments) {
  if (!bugs::is_of_mutants()) return hand_over(arguments.argv);
  return MutantsCommand(arguments).execute();
}

}  // namespace adamant::scenarios
