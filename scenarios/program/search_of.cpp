#include "scenarios/program/search_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "scenarios/language/yaml/load.h"
#include "scenarios/program/inputs.h"
#include "scenarios/program/search_report.h"

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

std::vector<KnownDefect> defects_known(Arguments const& arguments, Capabilities const& engine) {
  std::vector<KnownDefect> defects;
  if (!engine.known_defects.empty()) defects = read_known_defects(engine.known_defects);
  if (!arguments.known) return defects;
  for (KnownDefect& defect : read_known_defects(*arguments.known)) {
    expect_offered(*arguments.known, defect, engine);
    std::erase_if(defects, [&](KnownDefect const& other) { return other.name == defect.name; });
    defects.push_back(std::move(defect));
  }
  return defects;
}

}  // namespace

Searchable searchable_of(Arguments const& arguments) {
  SearchEngine engine = search_engine(arguments.engine);
  std::vector<KnownDefect> defects = defects_known(arguments, engine.capabilities);
  Inputs inputs(arguments);
  inputs.add(engine.capabilities.known_defects);
  for (KnownDefect const& defect : defects)
    for (auto const& file : defect.files) inputs.add(file);
  inputs.refuse_as_outputs(arguments);
  engine.usual_options = ways_around(defects, engine.capabilities);
  KnownHere known(std::move(defects), engine, run_options(arguments), arguments.jobs);
  return {.engine = std::move(engine), .known = std::move(known)};
}

CaseSearch search_of(Arguments const& arguments, Searchable const& searchable, std::uint64_t seed) {
  return {seed, arguments.bug, searchable.engine, run_options(arguments), searchable.known};
}

}  // namespace adamant::scenarios
