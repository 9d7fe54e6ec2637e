#include "scenarios/program/commands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

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
#include "scenarios/program/command_options.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/search_of.h"
#include "scenarios/program/search_report.h"
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
        cases_(search_of(arguments, searchable_of(arguments), arguments.seed.value_or(seed_))),
        unfinished_(arguments),
        minimizing_(wants_progress(arguments), "runs to minimise"),
        findings_([this](Failure const& failure) { return cases_.scenario_of(failure); },
                  {.run = cases_.options(),
                   .at_once = arguments.jobs,
                   .progress = [this](HowFar const& far) { minimizing_.show(far); },
                   .known = &cases_.known()},
                  [this](Failure const&, Finding const& finding) { tell(finding); }) {}

  Status execute() {
    print(arguments_, fmt::format("seed {}{}\n", cases_.seed(), arguments_.seed ? "" : " (drawn)"));
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
      if (until_) look_into(*ended.failure);
    }
    look_into_waiting();
    progress_.show({.done = tally_.cases(), .total = cases_wanted_, .failed = failures_.size()});
  }

  /// Says nothing of the case: the engine was not there in time.
  void pass_over(SearchedCase const& ended) {
    progress_.clear();
    if (passed_over_++ == 0) complain("not counted: " + ended.failure->result.reason);
  }

  /// The first of each law is minimised at once. Of the others the file is run, and they wait.
  void look_into(Failure const& failure) {
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
  void look_into_waiting() {
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
    print_summary(arguments_, searched, results.size());
    outputs_.commit(search_document(searched, results), "fuzz", with_search(searched, results));
    if (html_.is_wanted()) html_.commit(search_page(searched, results.size(), ledger()));
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
      html_.look_again(finding.scenario, cases_.options(), results.back());
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
  std::uint64_t seed_ = draw_seed();  // where nobody gives one
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

void add_fuzz_options(CLI::App& command, Arguments& arguments) {
  CommandOptions const options(command, arguments);
  options.add_extent("How many; default 1000", "How long, such as 60s or 5m");
  options.add_count("--skip", {0, cases_max}, "Start at case number N of the seed",
                    [&arguments](std::uint64_t skip) { arguments.skip = skip; });
  options.add_path("--out", arguments.out, "Directory for what fails");
  command.add_flag("--first", arguments.first, "End at the first failure that is not known");
  options.add_known();
  options.add_strict();
  options.add_path("--campaign", arguments.campaign,
                   "Directory that keeps all that was searched and found: go on there");
  command.get_option("--campaign")->excludes("--skip");
  options.add_end_of_search();
  options.add_engine();
}

// Generates scenarios from a seed, runs each in a worker process, and minimises failures until each
// is explained by a small scenario. Ends with 1 if anything was found.
Status fuzz_command(Arguments const& arguments) {
  if (arguments.out) expect_writable(*arguments.out);
  std::optional<Clock::time_point> until;
  if (arguments.time) until = Clock::now() + *arguments.time;
  stop_waiting_at(until);
  if (arguments.campaign) return campaign_command(arguments, until);
  return FuzzCommand(arguments, until).execute();
}

}  // namespace adamant::scenarios
