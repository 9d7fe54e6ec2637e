// The cases of a search, run: each in a worker process, which makes it from its number. Who wants
// which cases, and what becomes of those that fail, is not known here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "scenarios/pool/pool.h"
#include "scenarios/report/status.h"
#include "scenarios/runner/run.h"
#include "scenarios/search/distribution.h"
#include "scenarios/search/failures.h"
#include "scenarios/search/generate/features.h"
#include "scenarios/search/known_here.h"
#include "scenarios/search/search.h"

namespace adamant::scenarios {

/// One case that ended.
struct SearchedCase {
  std::uint64_t index = 0;
  FeatureSet features = {};
  double schedule_chance = 0;  // see EngineEnd, as the next
  std::uint64_t marks = 0;
  int schedule_depth = 0;  // of a pct schedule
  ValuesCompared values = {};
  std::optional<Failure> failure = {};  // where it did not end as it should
  std::set<std::string> known = {};     // names of the known defects that it met
  double seconds = 0;                   // that it took, with all runs around what is known
  Status status = Status::met;
  bool late = false;  // its engine did not start in time: it says nothing
};

class CaseSearch {
 public:
  CaseSearch(std::uint64_t seed, std::optional<std::string> bug, SearchEngine engine,
             RunOptions const& options = {}, KnownHere known = {})
      : seed_(seed),
        bug_(std::move(bug)),
        engine_(std::move(engine)),
        options_(options),
        known_(std::move(known)) {}

  Scenario scenario_of(std::uint64_t index) const {
    return search_case(seed_, index, bug_, engine_);
  }
  /// As it failed: its case with the ways around what is known.
  Scenario scenario_of(Failure const& failure) const {
    return with_options(scenario_of(failure.case_index), failure.avoided);
  }
  std::uint64_t seed() const { return seed_; }
  std::optional<std::string> const& bug() const { return bug_; }
  SearchEngine const& engine() const { return engine_; }
  RunOptions const& options() const { return options_; }
  KnownHere const& known() const { return known_; }

  /// run_jobs() with a case a job, under the limit of time that cases have.
  ///
  /// Errors: MachineLacks, at the first case that cannot run here.
  void run(PoolOptions pool, std::function<std::uint64_t(std::uint64_t job)> const& case_of,
           std::function<void(std::uint64_t job, SearchedCase)> const& take) const;

 private:
  Answer answer(std::uint64_t index) const;
  SearchedCase ended(std::uint64_t index, JobEnd const& end) const;

  std::uint64_t seed_;
  std::optional<std::string> bug_;
  SearchEngine engine_;
  RunOptions options_;
  KnownHere known_;
};

/// The engine of that name, or the usual one, asked what it can: an engine outside the process
/// takes seconds to answer, so once and before there are workers. Errors: MachineLacks.
SearchEngine search_engine(std::optional<std::string> const& name);

}  // namespace adamant::scenarios
