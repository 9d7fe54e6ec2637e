// Finds where hunks fit. They carry no line numbers: the lines that a hunk keeps and removes must
// stand in exactly one place, of the function that it names or, without one, of the file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/bugs/weaver/bug_file.h"
#include "scenarios/bugs/weaver/functions.h"

namespace adamant::bugs {

/// A file that bugs change.
struct Target {
  Target(std::string file, std::string content);
  Target(Target const&) = delete;  // lines and functions look into text
  Target& operator=(Target const&) = delete;

  /// The lines of a function, from its first to its last.
  std::string_view lines_of(Function const& function) const;
  /// Where `part` of the text, or a line, begins in it.
  std::size_t offset_of(std::string_view part) const;

  std::string const path;  // from the project's root
  std::string const text;
  std::vector<std::string_view> const lines;
  std::vector<Function> const functions;
};

/// Where a hunk fits.
struct Fit {
  std::size_t first = 0;     // index of the first of its lines in the target
  std::size_t function = 0;  // index; none of a hunk outside of functions
};

/// Errors: one problem, at the hunk's line in `bug`, that says what was expected and what is
/// nearest; then nothing is returned.
std::optional<Fit> fit(Hunk const& hunk, Target const& target, std::string const& bug,
                       Problems& problems);

}  // namespace adamant::bugs
