#include "scenarios/search/known_here.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "scenarios/language/operations.h"
#include "scenarios/seam/versions.h"
#include "scenarios/search/minimize_in_workers.h"

namespace adamant::scenarios {

namespace {

bool fails_alike(RunResult const& result, RunResult const& other) {
  return !result.met && signature_of(result) == signature_of(other);
}

/// Types and worlds decide which of the two laws about values judges.
std::string whatever_judges_values(std::string signature) {
  for (std::string_view const law : {"values.bitwise|", "values.interval|"})
    if (signature.starts_with(law)) return "values|" + signature.substr(law.size());
  return signature;
}

/// Does a load get something wrong or never end, or does a save fail?
bool is_about_files(std::string const& signature) {
  return signature.starts_with(checkpoint_signatures) ||
         std::ranges::any_of(failed_file_signatures, [&](std::string_view const begin) {
           return signature.starts_with(begin);
         });
}

/// May there be files that a fault has spoilt, or that are left of an older save?
bool may_have_spoilt_files(Scenario const& scenario) {
  std::set<std::string> saved;
  return !scenario.faults.empty() ||
         std::ranges::any_of(all<Save>(scenario.program), [&](Save const* save) {
           return !saved.insert(save->checkpoint).second;
         });
}

void append(EngineOptions& options, EngineOptions const& more) {
  options.insert(options.end(), more.begin(), more.end());
}

}  // namespace

bool is_offered(EngineOptions const& options, Capabilities const& engine) {
  return std::all_of(options.begin(), options.end(), [&](auto const& one) {
    EngineOption const* const option = find_option(engine, one.first);
    return option != nullptr && offers(option->values, one.second);
  });
}

struct KnownHere::WayAround {
  std::set<std::string> names = {};
  EngineOptions avoid = {};
  Scenario scenario = {};  // that avoids them
  RunResult result = {};   // of its run
};

KnownHere::KnownHere(std::vector<KnownDefect> defects, SearchEngine const& engine,
                     RunOptions const& options, int processes,
                     std::function<void(HowFar const&)> const& progress)
    : defects_(std::move(defects)) {
  std::vector<Scenario> scenarios;
  std::vector<std::size_t> defect_of;
  for (std::size_t i = 0; i < defects_.size(); ++i) {
    if (!is_offered(defects_[i].avoid, engine.capabilities)) continue;
    for (Scenario scenario : defects_[i].shown_by) {
      scenario.engine.name = engine.name;
      if (!is_offered(scenario.engine.options, engine.capabilities)) continue;
      scenarios.push_back(std::move(scenario));
      defect_of.push_back(i);
    }
  }
  if (!scenarios.empty()) versions_ = versions_of(engine.name);
  std::vector<RunResult> const results = run_isolated(scenarios, options, processes, progress);
  interrupted_ = results.size() != scenarios.size();
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].met)
      shown_.push_back({defect_of[i], std::move(scenarios[i]), signature_of(results[i])});
}

std::vector<std::string> KnownHere::not_shown() const {
  std::vector<std::string> names;
  if (interrupted_) return names;
  for (std::size_t i = 0; i < defects_.size(); ++i)
    if (std::ranges::none_of(shown_, [&](Shown const& one) { return one.defect == i; }))
      names.push_back(defects_[i].name);
  return names;
}

std::vector<std::string> KnownHere::of_other_versions() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < defects_.size(); ++i) {
    bool const shows = std::ranges::count(shown_, i, &Shown::defect) > 0;
    if (shows && !is_of_versions(defects_[i], versions_)) names.push_back(defects_[i].name);
  }
  return names;
}

bool KnownHere::looks_like(Shown const& one, Scenario const& scenario, std::string const& signature,
                           RunOne const& run) const {
  EngineOptions const& avoid = defects_[one.defect].avoid;
  if (avoid.empty())
    return (one.signature == signature && has_inside(scenario, one.scenario)) ||
           shows_there(one, scenario, signature, run);
  return whatever_judges_values(one.signature) == whatever_judges_values(signature) &&
         !has_options(scenario, avoid) && has_faults(scenario, one.scenario);
}

bool KnownHere::shows_there(Shown const& one, Scenario const& scenario,
                            std::string const& signature, RunOne const& run) const {
  if (!does_all_of(scenario, one.scenario)) return false;
  return std::ranges::any_of(put_into(scenario, one.scenario), [&](Scenario const& there) {
    auto found = std::ranges::find(tried_, there, &std::pair<Scenario, std::string>::first);
    if (found == tried_.end())
      found = tried_.insert(tried_.end(), {there, signature_of(run(there))});
    return whatever_judges_values(found->second) == whatever_judges_values(signature);
  });
}

/// What a reader makes of a file that a fault has spoilt depends on the bytes that it meets; of a
/// file that an older save has left, on the tensors in it. A save that consolidates reads, too.
bool KnownHere::spoils_files(Shown const& one, Scenario const& scenario,
                             std::string const& signature) const {
  EngineOptions const& avoid = defects_[one.defect].avoid;
  return !avoid.empty() && !has_options(scenario, avoid) && may_have_spoilt_files(one.scenario) &&
         may_have_spoilt_files(scenario) && is_about_files(one.signature) &&
         is_about_files(signature) && has_files_inside(scenario, one.scenario);
}

std::vector<std::size_t> KnownHere::candidates(Scenario const& scenario, RunResult const& failed,
                                               RunOne const& run) const {
  std::string const signature = signature_of(failed);
  std::vector<std::size_t> defects;
  auto const add = [&](auto const& may_be) {
    for (Shown const& one : shown_)
      if (std::ranges::count(defects, one.defect) == 0 && may_be(one))
        defects.push_back(one.defect);
  };
  add([&](Shown const& one) { return looks_like(one, scenario, signature, run); });
  add([&](Shown const& one) { return spoils_files(one, scenario, signature); });
  return defects;
}

std::optional<KnownHere::WayAround> KnownHere::find_way_around(
    std::vector<std::size_t> const& defects, Scenario const& scenario, RunResult const& failed,
    RunOne const& run) const {
  WayAround all{.scenario = scenario};
  for (std::size_t const defect : defects) {
    KnownDefect const& known = defects_[defect];
    if (known.avoid.empty()) continue;
    WayAround one{.names = {known.name},
                  .avoid = known.avoid,
                  .scenario = with_options(scenario, known.avoid)};
    one.result = run(one.scenario);
    if (!fails_alike(one.result, failed)) return one;
    all.names.insert(known.name);
    append(all.avoid, known.avoid);
  }
  if (all.names.size() < 2) return std::nullopt;
  all.scenario = with_options(scenario, all.avoid);
  all.result = run(all.scenario);
  return fails_alike(all.result, failed) ? std::nullopt : std::optional(std::move(all));
}

std::optional<KnownHere::WayAround> KnownHere::find_cause(Scenario const& scenario,
                                                          RunOne const& run) const {
  std::set<std::size_t> inside;
  WayAround all;
  for (Shown const& one : shown_) {
    EngineOptions const& avoid = defects_[one.defect].avoid;
    bool const may_be =
        !avoid.empty() && !has_options(scenario, avoid) &&
        (does_all_of(scenario, one.scenario) || chooses(scenario, one.scenario, avoid));
    if (may_be && inside.insert(one.defect).second) append(all.avoid, avoid);
  }
  auto const ends = [&](WayAround& way) {
    way.scenario = with_options(scenario, way.avoid);
    way.result = run(way.scenario);
    return way.result.met;
  };
  if (inside.empty() || !ends(all)) return std::nullopt;
  for (std::size_t const defect : inside) {
    KnownDefect const& known = defects_[defect];
    all.names.insert(known.name);
    WayAround one;
    one.names = {known.name};
    one.avoid = known.avoid;
    if (inside.size() == 1 || ends(one)) return inside.size() == 1 ? all : one;
  }
  return all;
}

Unmasked KnownHere::unmask(Scenario const& scenario, RunResult failed, RunOne const& run) const {
  Unmasked unmasked{.result = std::move(failed)};
  Scenario now = scenario;
  // Two ways around that undo each other would never end.
  for (std::size_t rounds = 0; rounds < defects_.size() && !unmasked.result.met; ++rounds) {
    std::vector<std::size_t> const defects = candidates(now, unmasked.result, run);
    auto way = find_way_around(defects, now, unmasked.result, run);
    auto const inside = std::ranges::find_if(
        defects, [&](std::size_t defect) { return defects_[defect].avoid.empty(); });
    if (!way && inside == defects.end()) way = find_cause(now, run);
    if (!way) {
      unmasked.fails = inside == defects.end();
      if (!unmasked.fails) unmasked.known.insert(defects_[*inside].name);
      return unmasked;
    }
    unmasked.known.merge(way->names);
    append(unmasked.avoided, way->avoid);
    unmasked.result = std::move(way->result);
    now = std::move(way->scenario);
  }
  unmasked.fails = !unmasked.result.met;
  return unmasked;
}

bool KnownHere::is_known(Scenario const& scenario, RunResult const& failed,
                         RunOne const& run) const {
  return !unmask(scenario, failed, run).known.empty();
}

std::vector<UsualOption> ways_around(std::span<KnownDefect const> defects,
                                     Capabilities const& engine) {
  std::vector<UsualOption> all;
  for (KnownDefect const& defect : defects) {
    if (!is_offered(defect.avoid, engine)) continue;
    for (auto const& [name, value] : defect.avoid) {
      auto const there = std::ranges::find(all, name, &UsualOption::name);
      bool const seldom = defect.seldom_met && (there == all.end() || there->seldom_needed);
      if (there == all.end())
        all.push_back({name, value, seldom});
      else
        *there = {name, value, seldom};
    }
  }
  return all;
}

}  // namespace adamant::scenarios
