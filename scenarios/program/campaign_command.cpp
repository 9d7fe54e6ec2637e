#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "scenarios/campaign/ledger.h"
#include "scenarios/campaign/settings.h"
#include "scenarios/campaign/shard.h"
#include "scenarios/language/engine_names.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/search_of.h"
#include "scenarios/program/search_report.h"
#include "scenarios/program/seed.h"
#include "scenarios/program/version.h"
#include "scenarios/report/progress.h"

namespace adamant::scenarios {

namespace {

using Clock = std::chrono::steady_clock;

// What a kill costs at most: the cases of so long are searched once more.
constexpr std::chrono::seconds kept_every{1};
constexpr std::chrono::milliseconds past_its_end{500};

/// Says nothing of the case: this machine, or this call, cannot run it.
bool is_about_machine(Status status) {
  return status == Status::lacking || status == Status::bad_input;
}

CampaignSettings join(Arguments const& arguments, Portion shard, Searchable const& searched) {
  return join_campaign(*arguments.campaign, arguments.seed, draw_seed(), [&](std::uint64_t seed) {
    return settings_of(search_of(arguments, searched, seed), shard.count, this_program());
  });
}

class CampaignCommand {
 public:
  CampaignCommand(Arguments const& arguments, Portion portion, Searchable const& searched,
                  std::optional<Clock::time_point> until)
      : arguments_(arguments),
        outputs_(arguments),
        html_(arguments),
        portion_(portion),
        settings_(join(arguments, portion, searched)),
        cases_(search_of(arguments, searched, settings_.seed)),
        shard_(*arguments.campaign, portion),
        progress_(wants_progress(arguments), "cases"),
        begin_(Clock::now()),
        cases_before_(shard_.tally().cases()),
        findings_before_(shard_.tally().findings.size()),
        until_(until) {
    expect_no_other_command();
    for (KeptFinding kept : shard_.tally().findings) tell_apart(kept.finding, names_);
    if (arguments.cases || !until)
      wanted_ = portion.count_in(0, arguments.cases.value_or(searched_by_default));
  }

  Status execute() {
    print(arguments_, fmt::format("seed {}\n", settings_.seed));
    if (cases_before_ > 0)
      print(arguments_,
            fmt::format("{} goes on after {} cases\n", shard_.folder().string(), cases_before_));
    while (!is_over()) search();
    stop_waiting_at({});  // what is left takes no time
    progress_.clear();
    report();
    if (interrupted()) return Status::interrupted;
    return worse(status_, shard_.tally().findings.empty() ? Status::met : Status::not_met);
  }

 private:
  /// A journal may come from anybody: what it holds runs by the engine that this call names alone.
  void expect_no_other_command() const {
    for (KeptFinding const& kept : shard_.tally().findings) {
      std::string const& engine = kept.finding.scenario.engine.name;
      if (is_command(engine) && engine != settings_.engine)
        throw CampaignError(
            fmt::format("{}: has a finding of engine {}, and this campaign is of {}; remove the "
                        "shard's folder to search its cases again",
                        shard_.folder().string(), engine, settings_.engine));
    }
  }

  bool is_over() const {
    return interrupted() || is_about_machine(status_) || (until_ && Clock::now() >= *until_) ||
           (wanted_ && shard_.tally().cases() >= *wanted_) ||
           (arguments_.first && shard_.tally().findings.size() > findings_before_);
  }

  /// Until a failure is new, or the end. Cases end in any order; what is kept has no gaps.
  void search() {
    std::uint64_t const first = shard_.tally().cases();
    PoolOptions pool{.workers = arguments_.jobs, .jobs = {}, .until = until_, .job_time_max = {}};
    if (wanted_) pool.jobs = *wanted_ - first;
    pool.enough = [this] { return !unexplained_.empty() || is_about_machine(status_); };
    kept_at_ = Clock::now();
    // What has begun may end: a case that is always cut off would end every call.
    if (until_)
      stop_waiting_at(*until_ + std::max<Clock::duration>(past_its_end, *arguments_.time / 20));
    cases_.run(
        pool, [&](std::uint64_t job) { return shard_.case_at(first + job); },
        [&](std::uint64_t job, SearchedCase ended) { take(first + job, std::move(ended)); });
    ended_early_.clear();
    if (explain()) keep();
  }

  void take(std::uint64_t position, SearchedCase ended) {
    if (is_about_machine(ended.status)) {
      status_ = worse(status_, ended.status);
      complain(ended.failure->result.reason);
      return;
    }
    ended_early_.emplace(position, std::move(ended));
    while (auto next = ended_early_.extract(shard_.tally().cases() + next_.cases()))
      add(std::move(next.mapped()));
    if (unexplained_.empty() && Clock::now() - kept_at_ >= kept_every) keep();
    progress_.show({.done = shard_.tally().cases() + next_.cases(),
                    .total = wanted_.value_or(0),
                    .failed = shard_.tally().findings.size()});
  }

  void add(SearchedCase ended) {
    next_.add(ended);
    spent_.add(ended);
    if (ended.failure && is_new(*ended.failure)) unexplained_.push_back(std::move(*ended.failure));
  }

  bool is_new(Failure const& failure) const {
    auto const covers = [&, signature = signature_of(failure.result)](KeptFinding const& kept) {
      return kept.covers(signature, failure.ingredients);
    };
    return std::ranges::none_of(shard_.tally().findings, covers) &&
           std::ranges::none_of(next_.findings, covers);
  }

  /// Where the disk takes no more the search ends, and tells what is not kept.
  void keep() {
    try {
      if (next_.cases() > 0 && !is_full_) shard_.append(next_);
    } catch (CannotWrite const& error) {
      complain(error.what());
      status_ = Status::bad_input;
      is_full_ = true;  // a line that fits would be of later cases than it says
    }
    if (is_full_) std::ranges::copy(next_.findings, std::back_inserter(unkept_));
    next_ = {};
    kept_at_ = Clock::now();
  }

  /// Minimises what is new, one failure after the other in the order of their cases, so that it
  /// does not matter where a search was interrupted. False where this one is: then nothing is kept.
  bool explain() {
    stop_waiting_at(until_);
    for (Failure const& failure : std::exchange(unexplained_, {})) {
      if (!is_new(failure)) continue;
      Progress progress(wants_progress(arguments_), "runs to minimise");
      WorkerOptions options{
          .run = cases_.options(), .at_once = arguments_.jobs, .known = &cases_.known()};
      options.progress = [&](HowFar const& far) { progress.show(far); };
      Finding finding = minimize_found(failure, cases_.scenario_of(failure), options);
      if (interrupted()) return false;
      tell_apart(finding, names_);
      next_.findings.push_back({.shard = portion_.index,
                                .signature = signature_of(failure.result),
                                .ingredients = failure.ingredients,
                                .file = written(shard_.folder(), finding).filename().string(),
                                .finding = std::move(finding)});
    }
    return true;
  }

  std::filesystem::path written(std::filesystem::path const& folder, Finding const& finding) {
    auto const path = told_if_unwritten(status_, [&] {
      auto file = write_finding(folder, finding, this_program());
      scripts_.write_beside(file, finding.scenario, finding.result, finding.symptom);
      return file;
    });
    is_full_ = is_full_ || path.empty();
    return path;
  }

  void report() {
    std::vector<Reported> results;
    std::vector<KeptFinding> findings = shard_.tally().findings;
    findings.insert(findings.end(), unkept_.begin(), unkept_.end());
    for (KeptFinding const& kept : folded(findings)) {
      auto file = kept.file.empty() ? "" : shard_.folder() / kept.file;
      if (arguments_.out) file = written(*arguments_.out, kept.finding);
      results.push_back(reported(arguments_, settings_.seed, kept.finding, file));
      print(arguments_, told(results.back(), style_of(arguments_)));
      html_.add_drawn(kept.finding.scenario, cases_.options(), results.back());
    }
    Searched const searched{
        .seed = settings_.seed,
        .seen = shard_.tally().seen,
        .lacking = settings_.lacking,
        .values = shard_.tally().values,
        .known = {cases_.known(), shard_.tally(), spent_},
        .cases_now = shard_.tally().cases() - cases_before_,
        .seconds = std::chrono::duration<double>(Clock::now() - begin_).count()};
    report_search(arguments_, searched, results, outputs_, html_, [this] {
      return ledger_of(settings_, {{portion_.index, shard_.tally()}});
    });
  }

  Arguments const& arguments_;
  Outputs outputs_;
  HtmlOutput html_;
  Portion portion_;
  CampaignSettings settings_;
  CaseSearch cases_;
  CampaignShard shard_;
  Progress progress_;
  FindingScripts scripts_;
  Clock::time_point begin_;
  std::uint64_t cases_before_;
  std::size_t findings_before_;
  std::optional<std::uint64_t> wanted_;  // of this shard's cases; absent: as many as time allows
  std::optional<Clock::time_point> until_;
  Status status_ = Status::met;

  Names names_;
  TimeSpent spent_;
  Tally next_;  // of the cases behind those that the shard has kept
  std::vector<Failure> unexplained_;
  bool is_full_ = false;                               // the disk
  std::vector<KeptFinding> unkept_;                    // since then
  std::map<std::uint64_t, SearchedCase> ended_early_;  // by position: before others that come first
  Clock::time_point kept_at_;
};

}  // namespace

Status search_in_campaign(Arguments const& arguments, std::optional<Clock::time_point> until) {
  return CampaignCommand(arguments, arguments.shard.value_or(Portion{}), searchable_of(arguments),
                         until)
      .execute();
}

}  // namespace adamant::scenarios
