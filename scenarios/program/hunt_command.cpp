#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/pool/pool.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/search_of.h"
#include "scenarios/program/seed.h"
#include "scenarios/program/version.h"
#include "scenarios/report/json.h"
#include "scenarios/report/output_file.h"
#include "scenarios/report/progress.h"
#include "scenarios/search/findings.h"
#include "scenarios/search/hunt_report.h"
#include "scenarios/search/hunt_search.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

constexpr std::chrono::milliseconds time_default{60'000};
constexpr std::chrono::seconds grace{60};  // one case may take long past the end of its search
constexpr std::string_view canary = "canary";

class HuntCommand {
 public:
  explicit HuntCommand(Arguments const& arguments)
      : arguments_(arguments),
        outputs_(arguments),
        html_(arguments),
        progress_(wants_progress(arguments), "searches"),
        seed_(seed_of(arguments)),
        limits_{.cases_max = arguments.cases.value_or(std::numeric_limits<std::uint64_t>::max()),
                .time_max = arguments.time.value_or(time_default)} {
    if (arguments.out) expect_writable(*arguments.out);
    Portion const shard = arguments.shard.value_or(Portion{});
    std::uint64_t position = 0;
    for (bugs::Bug const& bug : bugs::catalogue()) {
      if (!is_wanted(bug)) continue;
      if (bug.id == canary || shard.holds(position++))
        hunted_.push_back({.bug = bug, .searches = {}});
    }
  }

  Status execute() {
    say_seed(arguments_, seed_);
    search();
    progress_.clear();
    if (!lacking_.empty()) {
      complain("hunt: " + lacking_);
      return Status::lacking;
    }
    minimize();
    report();
    if (interrupted()) return Status::interrupted;
    return worse(status_, found() == hunted_.size() ? Status::met : Status::not_met);
  }

 private:
  bool is_wanted(bugs::Bug const& bug) const {
    auto const& ids = arguments_.bugs;
    return ids.empty() || bug.id == canary ||
           std::find(ids.begin(), ids.end(), bug.id) != ids.end();
  }

  /// All bugs once, then all of them again: an interrupt leaves something of each.
  void search() {
    auto const rounds = static_cast<std::uint64_t>(arguments_.searches);
    std::uint64_t const jobs = rounds * hunted_.size();
    PoolOptions const pool{
        .workers = arguments_.jobs,
        .jobs = jobs,
        .until = {},
        .job_time_max = std::chrono::ceil<std::chrono::seconds>(limits_.time_max) + grace};
    run_jobs(
        pool, [this](std::uint64_t job) { return to_line(answer(job)); },
        [&](JobEnd const& end) {
          take(end);
          progress_.show({.done = ++ended_, .total = jobs});
        });
  }

  HuntEnd answer(std::uint64_t job) const {
    return hunt_once(hunted_[job % hunted_.size()].bug, seed_ + job / hunted_.size(), limits_);
  }

  void take(JobEnd const& end) {
    HuntEnd hunt;
    if (end.answer)
      hunt = hunt_end_from_line(*end.answer);
    else
      hunt.death = "the process of a search ended: " + end.death;
    if (!hunt.lacking.empty()) lacking_ = hunt.lacking;
    hunted_[end.job % hunted_.size()].searches.push_back(std::move(hunt));
  }

  /// All finds of each bug: whether they come to one scenario is what tells how good minimising is.
  void minimize() {
    Progress progress(wants_progress(arguments_), "finds minimised");
    std::uint64_t const finds = count_finds();
    std::uint64_t done = 0;
    for (Hunted& hunted : hunted_) {
      for (HuntEnd const& end : hunted.searches) {
        if (!end.found || interrupted()) continue;
        minimize(hunted, end);
        progress.show({.done = ++done, .total = finds});
      }
      if (arguments_.out)
        hunted.path = told_if_unwritten(status_, [&] { return written(hunted); }).string();
    }
  }

  /// What most of its searches came to; where none was minimised in time, what one has found.
  std::filesystem::path written(Hunted const& hunted) const {
    if (!hunted.minimized.empty())
      return write_finding(*arguments_.out, commonest(hunted).finding, this_program());
    auto const found = std::ranges::find(hunted.searches, true, &HuntEnd::found);
    if (found == hunted.searches.end()) return {};
    auto const path = *arguments_.out / (std::string(hunted.bug.id) + ".yaml");
    std::error_code cannot;  // which writing says
    std::filesystem::create_directories(*arguments_.out, cannot);
    write_whole(path, found->scenario);
    return path;
  }

  std::uint64_t count_finds() const {
    std::uint64_t finds = 0;
    for (Hunted const& hunted : hunted_)
      for (HuntEnd const& end : hunted.searches) finds += std::uint64_t{end.found};
    return finds;
  }

  void minimize(Hunted& hunted, HuntEnd const& found) {
    auto const begin = std::chrono::steady_clock::now();
    auto const searched = std::chrono::duration<double>(found.seconds);
    stop_waiting_at(begin + limits_.time_max -
                    std::chrono::ceil<std::chrono::milliseconds>(searched));
    MinimizeAttempt attempt =
        minimize_in_workers(load_scenario_text(found.scenario, "found"), options());
    bool const cut = must_stop() && !attempt.complete;
    stop_waiting_at({});
    if (attempt.end != MinimizeAttempt::End::minimized || cut) return;
    HuntMinimized minimized{.finding = finding_of(std::move(attempt), 0)};
    minimized.text = write_scenario(minimized.finding.scenario);
    minimized.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    hunted.minimized.push_back(std::move(minimized));
  }

  WorkerOptions options() const {
    WorkerOptions options;
    options.at_once = arguments_.jobs;
    return options;
  }

  std::size_t found() const {
    return static_cast<std::size_t>(std::count_if(hunted_.begin(), hunted_.end(), is_found));
  }

  void report() {
    auto document = make_document("hunt");
    document["seed"] = seed_;
    document["searches"] = arguments_.searches;
    document["limit_seconds"] = std::chrono::duration<double>(limits_.time_max).count();
    document["results"] = Json::array();
    std::vector<Reported> results;
    for (Hunted const& hunted : hunted_) {
      if (!is_found(hunted) || arguments_.verbosity != Verbosity::quiet)
        print(arguments_, describe(hunted));
      document["results"].push_back(to_json(hunted));
      results.push_back(reported(hunted, replay_of(hunted)));
      if (results.back().lacking.empty()) print(arguments_, annotated(results.back()));
      show(hunted, results.back());
    }
    summarise(document);
    outputs_.commit(with_interrupt(document), results);
    html_.commit(page_frame());
  }

  /// On the page is what most searches came to, under the bug's name.
  void show(Hunted const& hunted, Reported const& of_bug) {
    if (hunted.minimized.empty()) return html_.add(of_bug);
    Finding const& finding = commonest(hunted).finding;
    Reported shown{.result = finding.result, .replay = of_bug.replay};
    shown.result.name = of_bug.result.name;
    shown.result.file = hunted.path;
    shown.result.expected = of_bug.result.expected;
    shown.result.met = of_bug.result.met;
    shown.result.wall_seconds = of_bug.result.wall_seconds;
    html_.add_drawn(finding.scenario, {}, shown);
  }

  std::string searches() const {
    return fmt::format("{} search{}", arguments_.searches, arguments_.searches == 1 ? "" : "es");
  }

  Page page_frame() const {
    Page page{.command = "hunt",
              .verdict = fmt::format("{} of {} found, {} each", found(),
                                     counted(hunted_.size(), "bug"), searches()),
              .good = found() == hunted_.size(),
              .facts = {{"seed", std::to_string(seed_)}}};
    if (interrupted()) page.cut_short = "interrupted: not every search has ended";
    return page;
  }

  std::string replay_of(Hunted const& hunted) const {
    return fmt::format("{} hunt {} --seed {} --searches {}", shell_quoted(arguments_.program),
                       hunted.bug.id, seed_, arguments_.searches);
  }

  void summarise(Json& document) const {
    if (interrupted()) complain("interrupted: not every search has ended");
    std::vector<double> seconds;
    for (Hunted const& hunted : hunted_)
      if (is_found(hunted)) seconds.push_back(median_seconds(hunted));
    document["found"] = seconds.size();
    if (!seconds.empty()) {
      document["median_seconds"] = median(seconds);
      print(arguments_,
            fmt::format("{} of {} bugs found, {} each: median {:.3f} s, slowest {:.3f} s\n",
                        seconds.size(), hunted_.size(), searches(), median(seconds),
                        *std::max_element(seconds.begin(), seconds.end())));
    }
    summarise_minimized(document);
    warn_of_canary();
  }

  void summarise_minimized(Json& document) const {
    std::vector<double> seconds;
    std::vector<double> operations;
    std::size_t alike_in_all = 0;
    for (Hunted const& hunted : hunted_) {
      for (HuntMinimized const& minimized : hunted.minimized) {
        seconds.push_back(minimized.seconds);
        operations.push_back(static_cast<double>(operations_of(minimized)));
      }
      if (!hunted.minimized.empty()) alike_in_all += alike(hunted);
    }
    if (seconds.empty()) return;
    double const share = static_cast<double>(alike_in_all) / static_cast<double>(seconds.size());
    document["median_minimize_seconds"] = median(seconds);
    document["median_minimized_operations"] = median(operations);
    document["share_alike"] = share;
    print(arguments_,
          fmt::format("{} minimised: median {} operations in {:.3f} s, slowest {:.3f} s; {:.1f} % "
                      "equal the commonest of their bug and law\n",
                      seconds.size(), median(operations), median(seconds),
                      *std::max_element(seconds.begin(), seconds.end()), 100 * share));
  }

  void warn_of_canary() const {
    for (Hunted const& hunted : hunted_) {
      if (hunted.bug.id != canary || is_found(hunted) || interrupted()) continue;
      complain("the canary was not found: the alarm is broken, and silence means nothing here");
    }
  }

  Arguments const& arguments_;
  Outputs outputs_;
  HtmlOutput html_;
  Progress progress_;
  std::uint64_t seed_;
  HuntLimits limits_;
  std::vector<Hunted> hunted_;
  std::uint64_t ended_ = 0;
  std::string lacking_;
  Status status_ = Status::met;
};

/// Only who has mutants knows them by name.
void check_hunt(Arguments& arguments) {
  check_shard(arguments);
  for (auto const& [option, is_given] :
       {std::pair("--shard: mutants are not shared out", arguments.shard.has_value()),
        std::pair("--html: mutants have no page", arguments.html.has_value())})
    if (arguments.mutants && is_given)
      throw EndOfProgram{.status = 2, .text = fmt::format("{}; leave it out\n", option)};
  if (arguments.mutants && !bugs::is_of_mutants()) return;
  for (std::string const& id : arguments.bugs) option::check_bug("BUG", id);
}

}  // namespace

namespace option {

constexpr Option hunted{"BUG", "BUG", "Only these; default: all", word<&Arguments::bugs>,
                        Times::any};
constexpr Option searches{"--searches", "N", "How often each is searched for; default 5",
                          count<&Arguments::searches, 1, 1000>};
constexpr Option mutants{
    "--mutants", nullptr,
    "Machine-made mistakes instead: does anything notice them? Needs adamant-mutants",
    flag<&Arguments::mutants>};

}  // namespace option

Command const hunt_command{
    .name = "hunt",
    .text = "How fast does random search find each catalogued bug",
    .example = "adamant hunt te_2795 --seed 1",
    .failure = "most searches for a bug missed it",
    .options = {option::hunted, option::searches,
                option::cases.with("At most so many cases a search"),
                option::time.with("At most so long a search; default 60s"), option::mutants,
                option::out.with("Directory for a minimised scenario of each that was found"),
                option::html, option::shard, option::seed, option::jobs, option::json,
                option::junit},
    .check = check_hunt,
    .run = [](Arguments const& arguments) {
      return arguments.mutants ? hunt_mutants(arguments) : HuntCommand(arguments).execute();
    }};

}  // namespace adamant::scenarios
