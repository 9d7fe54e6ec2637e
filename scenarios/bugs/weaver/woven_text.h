// Lines that come from several files, as text that tells a compiler so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace adamant::bugs {

/// A line, and where it comes from.
struct WovenLine {
  std::string_view text;
  std::string_view file;
  int number = 1;
};

/// As a literal of C++. REQUIRES: it is one line.
std::string as_literal(std::string_view text);

/// What makes the next line `number` of `file`.
std::string line_directive(int number, std::string_view file);

/// Each line with its line end; a directive wherever a line does not follow the one above it. There
/// is none where it could not stand, in parentheses (they may be a macro's) and in what spans
/// lines: numbers are off there by as much as was changed above, up to the next line that can have
/// one.
std::string woven_text(std::vector<WovenLine> const& lines);

}  // namespace adamant::bugs
