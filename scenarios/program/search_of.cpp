#include "scenarios/program/search_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/suggest.h"
#include "scenarios/program/inputs.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/search_report.h"
#include "scenarios/program/version.h"
#include "scenarios/report/progress.h"
#include "scenarios/report/text.h"
#include "scenarios/seam/refusals.h"
#include "scenarios/search/findings.h"

namespace adamant::scenarios {

namespace {

/// Of an engine's own file some options may belong to another version of it; a user's are for this
/// one.
void expect_offered(std::filesystem::path const& file, KnownDefect const& defect,
                    Capabilities const& engine) {
  for (auto const& [name, value] : defect.avoid) {
    EngineOption const* const option = find_option(engine, name);
    if (option == nullptr)
      throw LoadError(fmt::format("{}: {}: engine {} has no option `{}`; adamant doctor lists them",
                                  file.string(), defect.name, engine.engine, name));
    if (!offers(option->values, value))
      throw LoadError(fmt::format("{}: {}: option `{}` of engine {} has no value `{}`",
                                  file.string(), defect.name, name, engine.engine, value));
  }
}

void add(std::vector<KnownDefect>& defects, KnownDefect defect) {
  std::erase_if(defects, [&](KnownDefect const& other) { return other.name == defect.name; });
  defects.push_back(std::move(defect));
}

/// Those of what an engine is built on are its own if it may meet them, whether or not it can go
/// around them.
void add_files_of(Capabilities const& engine, std::vector<KnownDefect>& defects) {
  for (auto file = engine.known_defects.rbegin(); file != engine.known_defects.rend(); ++file) {
    bool const inherited = std::next(file) != engine.known_defects.rend();
    for (KnownDefect& defect : read_known_defects(*file)) {
      if (inherited && !is_offered(defect.avoid, engine)) defect.avoid.clear();
      auto const is_refused = [&](Scenario const& one) { return refuse(one, engine).has_value(); };
      if (inherited && std::ranges::all_of(defect.shown_by, is_refused)) continue;
      add(defects, std::move(defect));
    }
  }
}

/// Without those that count as new.
///
/// Errors: LoadError for a name that is not known.
void forget(std::vector<std::string> const& names, std::vector<KnownDefect>& defects) {
  for (std::string const& name : names) {
    std::vector<std::string_view> known;
    for (KnownDefect const& defect : defects) known.push_back(defect.name);
    if (std::ranges::count(known, name) == 0)
      throw LoadError(fmt::format("--unknown: no defect `{}` is known{}; known: {}", name,
                                  suggest(name, known), list_words(known)));
    std::erase_if(defects, [&](KnownDefect const& defect) { return defect.name == name; });
  }
}

std::vector<KnownDefect> defects_known(Arguments const& arguments, Capabilities const& engine) {
  std::vector<KnownDefect> defects;
  add_files_of(engine, defects);
  if (arguments.known)
    for (KnownDefect& defect : read_known_defects(*arguments.known)) {
      expect_offered(*arguments.known, defect, engine);
      add(defects, std::move(defect));
    }
  forget(arguments.unknown, defects);
  return defects;
}

/// How far what runs before a search is; where nobody watches, that it begins.
void tell(Arguments const& arguments, HowFar const& far, Progress& progress) {
  progress.show(far);
  bool const silent = arguments.verbosity == Verbosity::quiet || wants_progress(arguments);
  if (far.done == 0 && !silent)
    complain(fmt::format("running {} of what is known first", counted(far.total, "scenario")));
}

}  // namespace

Searchable searchable_of(Arguments const& arguments) {
  SearchEngine engine = search_engine(arguments.engine);
  std::vector<KnownDefect> defects = defects_known(arguments, engine.capabilities);
  Inputs inputs(arguments);
  for (std::string const& file : engine.capabilities.known_defects) inputs.add(file);
  for (KnownDefect const& defect : defects)
    for (auto const& file : defect.files) inputs.add(file);
  inputs.refuse_as_outputs(arguments);
  engine.usual_options = ways_around(defects, engine.capabilities);
  Progress progress(wants_progress(arguments), "scenarios of what is known");
  KnownHere known(std::move(defects), engine, run_options(arguments), arguments.jobs,
                  [&](HowFar const& far) { tell(arguments, far, progress); });
  return {.engine = std::move(engine), .known = std::move(known)};
}

CaseSearch search_of(Arguments const& arguments, Searchable const& searchable, std::uint64_t seed) {
  return {seed, arguments.bug, searchable.engine, run_options(arguments), searchable.known};
}

void check_shard(Arguments& arguments) {
  if (!arguments.shard) return;
  if (!arguments.seed && !arguments.campaign)
    throw EndOfProgram{
        .status = 2,
        .text =
            "--shard: needs --seed or --campaign, or the shards would search different cases\n"};
  if (arguments.out)
    *arguments.out /= fmt::format("{}-of-{}", arguments.shard->index, arguments.shard->count);
}

Unfinished::Unfinished(Arguments const& arguments)
    : quiet_(arguments.verbosity == Verbosity::quiet) {
  if (arguments.out) folder_ = *arguments.out / "unfinished";
}

Status Unfinished::add(Failure const& failure, Scenario const& scenario) {
  Status status = Status::met;
  auto const symptom = symptom_of(failure.result, scenario.expect).value_or(Symptom{});
  std::string line = fmt::format("found {} in case {}", id_of(symptom), failure.case_index);
  if (!folder_.empty()) {
    auto const path = told_if_unwritten(status, [&] { return written(failure, scenario); });
    if (path.empty()) end();  // and no further one is tried
    if (!path.empty()) line += ": " + path.string();
  }
  if (!quiet_) complain(line);
  return status;
}

std::filesystem::path Unfinished::written(Failure const& failure, Scenario const& scenario) {
  Finding const found = as_found(failure, scenario, "not minimised yet");
  // A killed search may have left another scenario of this name.
  auto const path =
      write_finding(folder_, fmt::format("case-{}", failure.case_index), found, this_program());
  files_.push_back(path);
  return path;
}

void Unfinished::end() {
  std::error_code gone;
  for (auto const& file : files_) std::filesystem::remove(file, gone);
  files_.clear();
  // Only where nothing of another search is in it.
  if (!folder_.empty()) std::filesystem::remove(folder_, gone);
  folder_.clear();
}

}  // namespace adamant::scenarios
