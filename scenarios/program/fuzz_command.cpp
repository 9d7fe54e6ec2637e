#include "scenarios/program/fuzz_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "scenarios/peers/client/client.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/seed.h"
#include "scenarios/program/version.h"
#include "scenarios/report/json.h"
#include "scenarios/report/progress.h"
#include "scenarios/report/worker_lines.h"
#include "scenarios/seam/engine.h"
#include "scenarios/search/distribution.h"
#include "scenarios/search/failures.h"
#include "scenarios/search/findings.h"
#include "scenarios/search/generate/features.h"
#include "scenarios/search/generate/offers.h"
#include "scenarios/search/search.h"

namespace adamant::scenarios {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t cases_default = 1000;
constexpr std::chrono::seconds case_time_max{60};

/// An engine outside the process may have to start first, and is late only by its own bounds.
std::chrono::seconds time_max(Capabilities const& engine) {
  if (!engine.isolated) return case_time_max;
  return std::max(case_time_max, peer_bounds().hello + peer_bounds().reply);
}

class FuzzCommand {
 public:
  explicit FuzzCommand(Arguments const& arguments)
      : arguments_(arguments),
        style_(style_of(arguments)),
        outputs_(arguments),
        shard_(arguments.shard.value_or(Portion{})),
        progress_(wants_progress(arguments), "cases"),
        seed_(arguments.seed ? *arguments.seed : draw_seed()),
        engine_(engine_of(arguments)),
        lacking_(lacking(engine_.capabilities)) {
    options_.strict = arguments.strict;
    if (arguments.out) expect_writable(*arguments.out);
  }

  Status execute() {
    print(arguments_, fmt::format("seed {}{}\n", seed_, arguments_.seed ? "" : " (drawn)"));
    search();
    progress_.clear();
    report();
    if (interrupted()) return Status::interrupted;
    return worse(status_, failures_.empty() ? Status::met : Status::not_met);
  }

 private:
  /// Asked once, before there are workers: an engine outside the process takes seconds to answer.
  static SearchEngine engine_of(Arguments const& arguments) {
    SearchEngine engine;
    if (arguments.engine) engine.name = *arguments.engine;
    engine.capabilities = capabilities_of(engine_here(engine.name));
    return engine;
  }

  void search() {
    auto const begin = Clock::now();
    PoolOptions pool{.workers = arguments_.jobs,
                     .jobs = arguments_.cases,
                     .until = {},
                     .job_time_max = time_max(engine_.capabilities)};
    if (arguments_.time) pool.until = begin + *arguments_.time;
    if (!arguments_.time && !arguments_.cases) pool.jobs = cases_default;
    if (pool.jobs) pool.jobs = shard_.count_in(arguments_.skip, *pool.jobs);
    cases_wanted_ = pool.jobs.value_or(0);
    run_jobs(
        pool, [this](std::uint64_t job) { return answer(job); },
        [this](JobEnd const& end) { take(end); });
    seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::uint64_t case_of(std::uint64_t job) const {
    return shard_.first_from(arguments_.skip) + job * shard_.count;
  }

  Scenario scenario_of(std::uint64_t case_index) const {
    return search_case(seed_, case_index, arguments_.bug, engine_);
  }

  std::string answer(std::uint64_t job) const {
    Scenario const scenario = scenario_of(case_of(job));
    RunOptions options = options_;
    options.repeat = search_repeats(case_of(job));
    Json line = search_in_worker(scenario, options);
    line["features"] = features_of(scenario).to_ullong();
    return to_line(line);
  }

  void take(JobEnd const& end) {
    ++cases_;
    std::uint64_t const index = case_of(end.job);
    if (end.answer) {
      take_answer(index, Json::parse(*end.answer));
    } else {
      Scenario const scenario = scenario_of(index);
      distribution_.add(features_of(scenario));
      keep(index, scenario, ended_by_death(end.death, scenario, options_));
    }
    progress_.show(cases_, cases_wanted_, failures_.size());
  }

  void take_answer(std::uint64_t index, Json const& line) {
    distribution_.add(FeatureSet(line.at("features").get<std::uint64_t>()));
    if (line.size() == 1) return;  // it was fine
    Scenario const scenario = scenario_of(index);
    keep(index, scenario, ended_with(line, scenario, options_));
  }

  void keep(std::uint64_t index, Scenario const& scenario, Ended ended) {
    status_ = worse(status_, ended.status);
    failures_.add({.case_index = index,
                   .result = std::move(ended.result),
                   .ingredients = ingredients_of(scenario)});
  }

  void report() {
    std::vector<Reported> const results = minimize_failures();
    found_ = results.size();
    for (Reported const& reported : results) print(arguments_, describe(reported, style_));
    summarise();
    auto document = make_document("fuzz");
    document["seed"] = seed_;
    document["cases"] = cases_;
    document["cases_per_second"] = cases_per_second();
    document["distribution"] = features_json(distribution_, lacking_);
    document["pairs"] = pairs_json(distribution_, lacking_);
    document["exclusive_pairs"] = exclusive_json(lacking_);
    document["results"] = to_json(results);
    if (interrupted()) document["interrupted"] = true;
    outputs_.commit(document, "fuzz", results);
  }

  std::vector<Reported> minimize_failures() {
    Progress progress(wants_progress(arguments_), "runs to minimise");
    IsolatedOptions options{.run = options_, .at_once = arguments_.jobs};
    options.progress = [&](std::uint64_t runs) { progress.show(runs, 0, 0); };
    auto const findings = minimize_all(
        failures_.take(), [this](std::uint64_t index) { return scenario_of(index); }, options);
    std::vector<Reported> results;
    for (Finding const& finding : findings) results.push_back(reported(finding));
    return results;
  }

  Reported reported(Finding const& finding) {
    Reported reported{.result = finding.result, .replay = replay_of(finding.case_index)};
    if (!arguments_.out) return reported;
    auto const path = write_finding(*arguments_.out, finding, this_program());
    scripts_.write_beside(path, finding.scenario, finding.result, finding.symptom);
    reported.result.file = path.string();
    if (finding.result.outcome != Outcome::error) reported.replay = replay_of(path);
    return reported;
  }

  std::string replay_of(std::filesystem::path const& path) const {
    return fmt::format("{} run {}", shell_quoted(arguments_.program), shell_quoted(path.string()));
  }

  std::string replay_of(std::uint64_t case_index) const {
    std::string line = fmt::format("{} fuzz --seed {} --skip {} --cases 1",
                                   shell_quoted(arguments_.program), seed_, case_index);
    if (arguments_.engine) line += " --engine " + shell_quoted(*arguments_.engine);
    if (arguments_.bug) line += " --bug " + *arguments_.bug;
    if (arguments_.peer_timeout)
      line += fmt::format(" --peer-timeout {}", arguments_.peer_timeout->count());
    return line;
  }

  double cases_per_second() const {
    return seconds_ > 0 ? static_cast<double>(cases_) / seconds_ : 0;
  }

  void summarise() const {
    if (interrupted()) complain(fmt::format("interrupted after {} cases", cases_));
    if (style_.verbosity != Verbosity::quiet) {
      bool const all = style_.verbosity == Verbosity::verbose;
      Zeros const zeros = all ? Zeros::shown : Zeros::left_out;
      if (cases_ > 0) print(arguments_, describe(distribution_, lacking_, zeros));
    } else if (failures_.empty()) {
      return;
    }
    print(arguments_, fmt::format("{} cases in {:.1f} s, {:.0f} cases/s: {}\n", cases_, seconds_,
                                  cases_per_second(), verdict()));
  }

  std::string verdict() const {
    if (failures_.empty()) return "nothing found";
    return fmt::format("{} distinct failures", found_);
  }

  Arguments const& arguments_;
  Style style_;
  Outputs outputs_;
  Portion shard_;
  Progress progress_;
  std::uint64_t seed_;
  SearchEngine engine_;
  FeatureSet lacking_;
  RunOptions options_;
  std::uint64_t cases_wanted_ = 0;
  std::uint64_t cases_ = 0;
  double seconds_ = 0;
  std::size_t found_ = 0;
  Distribution distribution_;
  Failures failures_;
  FindingScripts scripts_;
  Status status_ = Status::met;
};

}  // namespace

Status fuzz_command(Arguments const& arguments) {
  return FuzzCommand(arguments).execute();
}

}  // namespace adamant::scenarios
