#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/campaign/ledger.h"
#include "scenarios/campaign/settings.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/search_of.h"
#include "scenarios/program/search_report.h"
#include "scenarios/program/seed.h"
#include "scenarios/program/version.h"
#include "scenarios/report/progress.h"
#include "scenarios/search/case_search.h"
#include "scenarios/search/findings.h"
#include "scenarios/search/generate/offers.h"

namespace adamant::scenarios {

namespace {

using Clock = std::chrono::steady_clock;

class FuzzCommand {
 public:
  FuzzCommand(Arguments const& arguments, std::optional<Clock::time_point> until)
      : arguments_(arguments),
        until_(until),
        style_(style_of(arguments)),
        outputs_(arguments),
        html_(arguments),
        shard_(arguments.shard.value_or(Portion{})),
        progress_(wants_progress(arguments), "cases"),
        cases_(search_of(arguments, searchable_of(arguments), seed_of(arguments))),
        unfinished_(arguments),
        minimizing_(wants_progress(arguments), "runs to minimise"),
        findings_([this](Failure const& failure) { return cases_.scenario_of(failure); },
                  {.run = cases_.options(),
                   .at_once = arguments.jobs,
                   .progress = [this](HowFar const& far) { minimizing_.show(far); },
                   .known = &cases_.known()},
                  [this](Failure const&, Finding const& finding) { tell(finding); }) {}

  Status execute() {
    say_seed(arguments_, cases_.seed());
    search();
    progress_.clear();
    if (tally_.cases() == 0 && passed_over_ > 0) status_ = Status::lacking;
    if (tally_.cases() == 0 && until_ && !interrupted()) {
      complain("--for: no case was searched: starting the engine and what is known took it all");
      status_ = Status::bad_input;
    }
    report();
    if (interrupted()) return Status::interrupted;
    return worse(status_, failures_.empty() ? Status::met : Status::not_met);
  }

 private:
  void search() {
    auto const begin = Clock::now();
    PoolOptions pool{
        .workers = arguments_.jobs, .jobs = arguments_.cases, .until = until_, .job_time_max = {}};
    pool.row_of = [this](std::uint64_t job) { return search_row(case_of(job), cases_.engine()); };
    if (arguments_.first) pool.enough = [this] { return !failures_.empty(); };
    if (!until_ && !arguments_.cases) pool.jobs = searched_by_default;
    if (pool.jobs) pool.jobs = shard_.count_in(arguments_.skip, *pool.jobs);
    cases_wanted_ = pool.jobs.value_or(0);
    cases_.run(
        pool, [this](std::uint64_t job) { return case_of(job); },
        [this](std::uint64_t, SearchedCase ended) { take(std::move(ended)); });
    seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::uint64_t case_of(std::uint64_t job) const {
    return shard_.first_from(arguments_.skip) + job * shard_.count;
  }

  void take(SearchedCase ended) {
    if (ended.late) return pass_over(ended);
    tally_.add(ended);
    spent_.add(ended);
    status_ = worse(status_, ended.status);
    if (ended.failure && !findings_.explain(*ended.failure) && failures_.add(*ended.failure)) {
      progress_.clear();
      status_ = worse(status_, unfinished_.add(*ended.failure, cases_.scenario_of(*ended.failure)));
      if (until_) minimize_or_wait(*ended.failure);
    }
    minimize_waiting();
    progress_.show({.done = tally_.cases(), .total = cases_wanted_, .failed = failures_.size()});
  }

  /// Says nothing of the case: the engine was not there in time.
  void pass_over(SearchedCase const& ended) {
    progress_.clear();
    if (passed_over_++ == 0) complain("not counted: " + ended.failure->result.reason);
  }

  /// The first of each law is minimised at once. Of the others the file is run, and they wait.
  void minimize_or_wait(Failure const& failure) {
    if (!minimized_laws_.contains(law_of(failure))) return minimize(failure);
    waiting_.emplace_back(failure,
                          as_found(failure, cases_.scenario_of(failure), cases_.options()));
  }

  static std::string law_of(Failure const& failure) {
    return word_of(symptom_of(failure.result).value_or(Symptom{}));
  }

  void minimize(Failure const& failure) {
    auto const begin = Clock::now();
    findings_.minimize(failure);
    if (findings_.explain(failure)) minimized_laws_.insert(law_of(failure));
    minimizing_time_ += Clock::now() - begin;
  }

  /// As many of those that wait as leave half of the time to the search.
  void minimize_waiting() {
    while (!waiting_.empty() && 2 * minimizing_time_ < Clock::now() - begin_) {
      Failure const failure = waiting_.front().first;
      waiting_.pop_front();
      minimize(failure);
    }
  }

  void explain_all() {
    for (auto const& [failure, found] : waiting_)
      if (!findings_.explain(failure)) findings_.add(failure, found);
    if (until_) return;
    auto const failures = failures_.take();
    std::uint64_t left = failures.size();
    for (Failure const& failure : failures) findings_.minimize(failure, --left);
  }

  void report() {
    explain_all();
    stop_waiting_at({});  // what is left takes no time
    std::vector<Reported> const results = reported_findings();
    unfinished_.end();
    Searched const searched{.seed = cases_.seed(),
                            .seen = tally_.seen,
                            .lacking = lacking(cases_.engine().capabilities),
                            .values = tally_.values,
                            .known = {cases_.known(), tally_, spent_},
                            .cases_now = tally_.cases(),
                            .seconds = seconds_};
    report_search(arguments_, searched, results, outputs_, html_, [this] { return ledger(); });
  }

  /// Of all cases as of one shard.
  Ledger ledger() const {
    CampaignSettings settings = settings_of(cases_, 1, this_program());
    if (arguments_.skip >= settings.first_full_case)
      settings.first_full_case = 0;  // none was before
    return ledger_of(std::move(settings), {{0, tally_}});
  }

  void tell(Finding const& finding) {
    Reported found = reported(arguments_, cases_.seed(), finding, written(finding));
    minimizing_.clear();
    print(arguments_, told(found, style_));
    told_.emplace(finding.case_index, std::move(found));
  }

  std::vector<Reported> reported_findings() {
    std::vector<Reported> results;
    for (Finding const& finding : findings_.sorted()) {
      results.push_back(std::move(told_.at(finding.case_index)));
      html_.add_drawn(finding.scenario, cases_.options(), results.back());
      tally_.findings.push_back({.signature = signature_of(finding.result), .finding = finding});
    }
    return results;
  }

  /// The file of a finding, where files are wanted.
  std::filesystem::path written(Finding const& finding) {
    if (!arguments_.out) return {};
    return told_if_unwritten(status_, [&] {
      auto path = write_finding(*arguments_.out, finding, this_program());
      if (until_ && !finding.is_minimized())
        scripts_.leave_out(path, finding.scenario);
      else
        scripts_.write_beside(path, finding.scenario, finding.result, finding.symptom);
      return path;
    });
  }

  Arguments const& arguments_;
  Clock::time_point begin_ = Clock::now();
  std::optional<Clock::time_point> until_;  // the end of all
  Style style_;
  Outputs outputs_;
  HtmlOutput html_;
  Portion shard_;
  Progress progress_;
  CaseSearch cases_;
  Tally tally_;
  TimeSpent spent_;
  Unfinished unfinished_;
  double seconds_ = 0;
  std::uint64_t cases_wanted_ = 0;
  std::uint64_t passed_over_ = 0;  // cases
  Failures failures_;
  FindingScripts scripts_;
  Progress minimizing_;
  Findings findings_;
  std::set<std::string> minimized_laws_;             // with --for
  std::deque<std::pair<Failure, Finding>> waiting_;  // with --for; as they were found
  Clock::duration minimizing_time_{};
  std::map<std::uint64_t, Reported> told_;  // by case
  Status status_ = Status::met;
};

}  // namespace

namespace option {

constexpr Option skip{"--skip", "N", "Start at case number N of the seed",
                      count<&Arguments::skip, 0, cases_max>};
constexpr Option first{"--first", nullptr, "End at the first failure that is not known",
                       flag<&Arguments::first>};
constexpr Option campaign{"--campaign",
                          "PATH",
                          "Directory that keeps all that was searched and found: go on there",
                          path<&Arguments::campaign>,
                          Times::at_most_once,
                          "--skip"};

}  // namespace option

Command const fuzz_command{
    .name = "fuzz",
    .text = "Generate scenarios, run them, minimise what fails",
    .example = "adamant fuzz --for 5m --seed 1 --out found",
    .failure = "something was found",
    .options = {option::cases, option::time, option::skip, option::out, option::first,
                option::known, option::unknown, option::strict, option::campaign, option::html,
                option::shard, option::seed, option::jobs, option::json, option::junit,
                option::engine, option::bug, option::peer_timeout},
    .check = check_shard,
    .run = [](Arguments const& arguments) {
      if (arguments.out) expect_writable(*arguments.out);
      std::optional<Clock::time_point> until;
      if (arguments.time) until = Clock::now() + *arguments.time;
      stop_waiting_at(until);
      if (arguments.campaign) return search_in_campaign(arguments, until);
      return FuzzCommand(arguments, until).execute();
    }};

}  // namespace adamant::scenarios
