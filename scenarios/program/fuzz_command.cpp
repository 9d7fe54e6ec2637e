#include "scenarios/program/fuzz_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "scenarios/campaign/ledger.h"
#include "scenarios/campaign/settings.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/campaign_command.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/search_of.h"
#include "scenarios/program/search_report.h"
#include "scenarios/program/seed.h"
#include "scenarios/program/unfinished.h"
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
  explicit FuzzCommand(Arguments const& arguments)
      : arguments_(arguments),
        style_(style_of(arguments)),
        outputs_(arguments),
        html_(arguments),
        shard_(arguments.shard.value_or(Portion{})),
        progress_(wants_progress(arguments), "cases"),
        cases_(search_of(arguments, searchable_of(arguments), arguments.seed.value_or(seed_))),
        unfinished_(arguments) {}

  Status execute() {
    print(arguments_, fmt::format("seed {}{}\n", cases_.seed(), arguments_.seed ? "" : " (drawn)"));
    search();
    progress_.clear();
    report();
    if (interrupted()) return Status::interrupted;
    return worse(status_, failures_.empty() ? Status::met : Status::not_met);
  }

 private:
  void search() {
    auto const begin = Clock::now();
    PoolOptions pool{
        .workers = arguments_.jobs, .jobs = arguments_.cases, .until = {}, .job_time_max = {}};
    pool.row_of = [this](std::uint64_t job) { return search_row(case_of(job), cases_.engine()); };
    if (arguments_.time) pool.until = begin + *arguments_.time;
    if (arguments_.first) pool.enough = [this] { return !failures_.empty(); };
    if (!arguments_.time && !arguments_.cases) pool.jobs = searched_by_default;
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
    tally_.add(ended);
    spent_.add(ended);
    status_ = worse(status_, ended.status);
    if (ended.failure && failures_.add(*ended.failure)) {
      progress_.clear();
      status_ = worse(status_, unfinished_.add(*ended.failure, cases_.scenario_of(*ended.failure)));
    }
    progress_.show({.done = tally_.cases(), .total = cases_wanted_, .failed = failures_.size()});
  }

  void report() {
    std::vector<Reported> const results = minimize_failures();
    unfinished_.end();
    Searched const searched{.seed = cases_.seed(),
                            .seen = tally_.seen,
                            .lacking = lacking(cases_.engine().capabilities),
                            .values = tally_.values,
                            .known = {cases_.known(), tally_, spent_},
                            .cases_now = tally_.cases(),
                            .seconds = seconds_};
    print_summary(arguments_, searched, results.size());
    outputs_.commit(search_document(searched, results), "fuzz", results);
    if (html_.is_wanted()) html_.commit(search_page(searched, results.size(), ledger()));
  }

  /// Of all cases as of one shard.
  Ledger ledger() const {
    CampaignSettings settings = settings_of(cases_, 1, this_program());
    if (arguments_.skip >= settings.first_full_case)
      settings.first_full_case = 0;  // none was before
    return ledger_of(std::move(settings), {{0, tally_}});
  }

  std::vector<Reported> minimize_failures() {
    Progress progress(wants_progress(arguments_), "runs to minimise");
    IsolatedOptions options{
        .run = cases_.options(), .at_once = arguments_.jobs, .known = &cases_.known()};
    options.progress = [&](HowFar const& far) { progress.show(far); };
    std::map<std::uint64_t, Reported> by_case;
    auto const findings = minimize_all(
        failures_.take(), [this](Failure const& failure) { return cases_.scenario_of(failure); },
        options,
        [&](Failure const& failure, Finding const& finding) {
          Reported found = reported(arguments_, cases_.seed(), finding, written(finding));
          progress.clear();
          print(arguments_, told(found, style_));
          by_case.emplace(failure.case_index, std::move(found));
        });
    std::vector<Reported> results;
    for (Finding const& finding : findings) {
      results.push_back(std::move(by_case.at(finding.case_index)));
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
      scripts_.write_beside(path, finding.scenario, finding.result, finding.symptom);
      return path;
    });
  }

  Arguments const& arguments_;
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
  Failures failures_;
  FindingScripts scripts_;
  Status status_ = Status::met;
};

}  // namespace

Status fuzz_command(Arguments const& arguments) {
  if (arguments.out) expect_writable(*arguments.out);
  if (arguments.campaign) return campaign_command(arguments);
  return FuzzCommand(arguments).execute();
}

}  // namespace adamant::scenarios
