#include "scenarios/search/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/regular_file.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/report/json.h"
#include "scenarios/report/output_file.h"
#include "scenarios/seam/engine.h"
#include "scenarios/search/minimize/document.h"
#include "scenarios/search/minimize/weight.h"

namespace adamant::scenarios {

namespace {

constexpr char const* not_minimised = "not minimised";

/// Where a catalogued bug is switched on: is this what it is catalogued for?
bool breaks_law_of_its_bug(Finding const& finding) {
  bugs::Bug const* const bug = bugs::find(finding.scenario.bug.value_or(""));
  return bug != nullptr && id_of(finding.symptom) == bug->law;
}

/// A run that is known to take as long as runs may would be tried hundreds of times.
bool is_worth_minimizing(RunResult const& result) {
  return result.reason.find("no answer within") == std::string::npos;
}

}  // namespace

Finding as_found(Failure const& failure, Scenario scenario, std::string note) {
  Finding finding{.case_index = failure.case_index,
                  .scenario = {},
                  .result = failure.result,
                  .symptom = symptom_of(failure.result, scenario.expect).value_or(Symptom{})};
  finding.scenario = expecting(make_replay(std::move(scenario), failure.result), finding.symptom,
                               violation_of(failure.result, finding.symptom));
  finding.result.name = finding.scenario.name;
  finding.result.notes.push_back(std::move(note));
  return finding;
}

Finding finding_of(MinimizeAttempt attempt, std::uint64_t case_index) {
  return {.case_index = case_index,
          .scenario = std::move(attempt.scenario),
          .result = std::move(attempt.result),
          .symptom = std::move(attempt.symptom),
          .runs = attempt.runs,
          .complete = attempt.complete};
}

namespace {

/// Minimised or as it was found.
Finding found(Failure const& failure, Scenario const& scenario, WorkerOptions const& options) {
  if (!is_worth_minimizing(failure.result)) return as_found(failure, scenario, not_minimised);
  WorkerOptions of_failure = options;
  of_failure.run.schedules = std::max(options.run.schedules, failure.result.schedules - 1);
  try {
    MinimizeAttempt attempt = minimize_in_workers(scenario, of_failure);
    bool const cut = must_stop() && !attempt.complete;
    if (cut || attempt.end == MinimizeAttempt::End::interrupted)
      return as_found(failure, scenario, not_minimised);
    if (attempt.end != MinimizeAttempt::End::minimized)
      return as_found(failure, scenario, "not minimised: it is not seen in each process alike");
    return finding_of(std::move(attempt), failure.case_index);
  } catch (MachineLacks const& error) {
    return as_found(failure, scenario, not_minimised);
  }
}

/// What people run is its file. Minimising has done so for what it returns.
void run_file(Finding& finding, RunOptions run) {
  run.seed.reset();
  run.engine.reset();
  run.schedule.reset();
  run.bug.clear();
  run.schedules = 0;
  run.repeat = finding.symptom.law == Law::determinism_digest;
  Scenario const written = as_written(finding.scenario);
  auto const results = run_isolated(std::span(&written, 1), run, 1);
  if (results.empty() || shows(results.front(), finding.symptom)) return;  // empty: interrupted
  bool const recorded = finding.scenario.schedule.choices.has_value();
  finding.result.notes.push_back(fmt::format(
      "its file does not repeat it: run once more it ends as {}{}",
      name_of(results.front().outcome), recorded ? "; its choices are recorded in it" : ""));
}

Finding with_file_run_once(Finding finding, RunOptions const& run) {
  try {
    if (!finding.is_minimized()) run_file(finding, run);
  } catch (MachineLacks const& error) {
    finding.result.notes.emplace_back("its file was not run: the engine is not there any more");
  }
  return finding;
}

}  // namespace

Finding minimize_found(Failure const& failure, Scenario const& scenario,
                       WorkerOptions const& options) {
  return with_file_run_once(found(failure, scenario, options), options.run);
}

Finding as_found(Failure const& failure, Scenario const& scenario, RunOptions const& options) {
  return with_file_run_once(as_found(failure, scenario, not_minimised), options);
}

bool Explained::covers(std::string const& signature_seen, std::set<std::string> const& has) const {
  return signature == signature_seen &&
         std::includes(has.begin(), has.end(), ingredients.begin(), ingredients.end());
}

bool is_told_before(Finding const& a, Finding const& b) {
  auto const rank = [](Finding const& finding) {
    return std::pair(!breaks_law_of_its_bug(finding), weight_of(finding.scenario));
  };
  return rank(a) < rank(b);
}

void tell_apart(Finding& finding, Names& names) {
  std::set<std::string> lines;
  std::istringstream text(write_scenario(finding.scenario));
  for (std::string line; std::getline(text, line);)
    if (line.size() < 64 && !line.starts_with("name:") && !line.starts_with("seed:"))
      lines.insert(line.substr(std::min(line.find_first_not_of(" -"), line.size())));
  std::string& name = finding.scenario.name;
  std::string const plain = name;
  for (int number = 1; names.contains(name);) {
    auto const own = std::ranges::find_if(
        lines, [&](std::string const& line) { return !names.at(name).contains(line); });
    name = own != lines.end() ? name + ", " + *own : fmt::format("{} ({})", plain, ++number);
  }
  names.emplace(name, std::move(lines));
  finding.result.name = name;
}

namespace {

/// The progress of one of several minimisations, told as that of all: `done` runs were before it,
/// and none of the `left` that may follow takes more than it may.
std::function<void(HowFar const&)> as_part_of_all(std::function<void(HowFar const&)> const& all,
                                                  std::uint64_t done, std::uint64_t left) {
  return [&all, done, left](HowFar const& far) {
    all({.done = done + far.done, .total = done + far.total * (left + 1), .at_most = true});
  };
}

/// The scenario as it is written, with none or one less of the options of its engine.
std::vector<Scenario> with_fewer_options(Scenario const& scenario) {
  std::vector<Scenario> fewer;
  auto const count = std::ssize(scenario.engine.options);
  if (count > 0) fewer.emplace_back(scenario).engine.options.clear();
  for (std::ptrdiff_t i = 0; count > 1 && i < count; ++i) {
    auto& options = fewer.emplace_back(scenario).engine.options;
    options.erase(options.begin() + i);
  }
  return fewer;
}

/// Did the engine do the same wrong thing, to the bit? Which law that breaks may be another.
bool goes_wrong_alike(Violation const& a, Violation const& b) {
  return a.operation == b.operation && a.rank == b.rank && a.subject == b.subject &&
         a.index == b.index && a.actual == b.actual && a.reason == b.reason && a.text == b.text;
}

/// An option may change by what arithmetic a world is judged, and so how a defect looks. One that
/// the engine ignores changes nothing else: it goes wrong alike without, and as `explained`.
bool is_explained_with_fewer_options(Finding const& finding,
                                     std::vector<Explained> const& explained, RunOptions run) {
  Violation const* const violation = violation_of(finding.result, finding.symptom);
  if (violation == nullptr || !finding.is_minimized()) return false;
  run.seed.reset();
  run.engine.reset();
  run.schedule.reset();
  run.bug.clear();
  for (Scenario const& fewer : with_fewer_options(finding.scenario)) {
    auto const results = run_isolated(std::span(&fewer, 1), run, 1);
    if (results.empty() || results.front().outcome != Outcome::violated) continue;
    // What its signature is about: another violation of the run may be another defect.
    Violation const* const other =
        violation_of(results.front(), symptom_of(results.front()).value_or(Symptom{}));
    bool const alike = other != nullptr && goes_wrong_alike(*violation, *other);
    std::string const signature = signature_of(results.front());
    bool const known = std::ranges::any_of(explained, [&](Explained const& one) {
      return one.covers(signature, ingredients_of(fewer));
    });
    if (alike && known) return true;
  }
  return false;
}

}  // namespace

bool Findings::explain(Failure const& failure) const {
  return std::ranges::any_of(explained_, [&](Explained const& other) {
    return other.covers(signature_of(failure.result), failure.ingredients);
  });
}

void Findings::minimize(Failure const& failure, std::uint64_t left) {
  if (explain(failure)) return;
  WorkerOptions of_one = options_;
  of_one.progress = as_part_of_all(options_.progress, runs_, left);
  Finding finding = minimize_found(failure, scenario_of_(failure), of_one);
  runs_ += finding.runs;
  try {
    if (is_explained_with_fewer_options(finding, explained_, of_one.run)) return;
  } catch (MachineLacks const&) {  // then they are two
  }
  if (finding.is_minimized())
    explained_.push_back({signature_of(failure.result), ingredients_of(finding.scenario)});
  add(failure, std::move(finding));
}

void Findings::add(Failure const& failure, Finding found) {
  if (!known_.insert(write_scenario(found.scenario)).second) return;
  tell_apart(found, names_);
  take_(failure, found);
  findings_.push_back(std::move(found));
}

std::vector<Finding> Findings::sorted() const {
  std::vector<Finding> findings = findings_;
  std::stable_sort(findings.begin(), findings.end(), is_told_before);
  return findings;
}

std::filesystem::path write_finding(std::filesystem::path const& directory, Finding const& finding,
                                    Writer const& writer) {
  return write_finding(directory, stem_of(finding.scenario, finding.symptom), finding, writer);
}

std::filesystem::path write_finding(std::filesystem::path const& directory, std::string const& stem,
                                    Finding const& finding, Writer const& writer) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw CannotWrite(directory.string() + ": cannot be made: " + error.message());
  for (int number = 1;; ++number) {
    std::string const name = number == 1 ? stem + ".yaml" : fmt::format("{}-{}.yaml", stem, number);
    auto const path = directory / name;
    std::string const text = write_document(finding.scenario, finding.result, finding.symptom, name,
                                            writer, finding.versions);
    if (std::filesystem::exists(path) && read_regular_file(path, text.size()) != text) continue;
    write_whole(path, text);
    return path;
  }
}

}  // namespace adamant::scenarios
