#include "scenarios/bugs/weaver/woven_text.h"

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <sstream>

#include "sim/lexer/tokens.h"

namespace adamant::bugs {

namespace {

/// For each line: may a directive stand before it?
std::vector<bool> find_seams(std::vector<WovenLine> const& lines) {
  std::string text;
  for (WovenLine const& line : lines) text.append(line.text).append("\n");
  std::vector<bool> seams = {true};
  int depth = 0;
  for (sim::Token const& token : sim::tokenize(text)) {
    if (token.kind == sim::TokenKind::mark) {
      if (token.text == "(" || token.text == "[") ++depth;
      if (token.text == ")" || token.text == "]") --depth;
    }
    auto const line_ends = static_cast<std::size_t>(std::ranges::count(token.text, '\n'));
    seams.insert(seams.end(), line_ends, depth == 0 && token.text == "\n");
  }
  return seams;
}

}  // namespace

std::string as_literal(std::string_view text) {
  return (std::ostringstream() << std::quoted(text)).str();
}

std::string line_directive(int number, std::string_view file) {
  return "#line " + std::to_string(number) + " " + as_literal(file) + "\n";
}

std::string woven_text(std::vector<WovenLine> const& lines) {
  std::vector<bool> const seams = find_seams(lines);
  std::string text;
  std::string_view file;  // what the compiler believes of the next line
  int number = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool const follows = lines[i].file == file && lines[i].number == number;
    if (!follows && seams[i]) {
      text += line_directive(lines[i].number, lines[i].file);
      file = lines[i].file;
      number = lines[i].number;
    }
    text.append(lines[i].text).append("\n");
    ++number;
  }
  return text;
}

}  // namespace adamant::bugs
