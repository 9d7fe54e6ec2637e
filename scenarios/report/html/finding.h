// One scenario's part of a page: what broke, both sides, the time around it, the scenario, and the
// line that repeats it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/report/html/scene.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

/// A scenario and what came of it.
struct PageItem {
  Reported reported = {};
  std::string scenario = {};                      // as YAML; empty: nobody has it
  std::vector<std::optional<Scene>> scenes = {};  // by violation
  std::string script =
      {};  // where the page finds the script for a bug report; empty: there is none
};

/// The pictures of a result, by violation: one for each moment, and nothing for those that are
/// about the same one or about none.
std::vector<std::optional<Scene>> draw_scenes(RunResult const& result);

/// Has it anything to tell besides a row in a table?
bool is_finding(Reported const& reported);

/// The id of the section of item `number` of a page.
std::string anchor_of(std::size_t number);

/// The pictures that a page has so far: by their elements, the id of the figure.
using Pictures = std::map<std::string, std::string>;

/// The whole section. A picture that the page has already is a link to it.
std::string finding_section(PageItem const& item, std::size_t number, Pictures& pictures);

/// The same in a few lines, for a page that has many: what broke and the line that repeats it.
std::string finding_in_brief(PageItem const& item, std::size_t number);

}  // namespace adamant::scenarios
