#include "scenarios/report/style.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace adamant::scenarios {

namespace {

constexpr std::array<std::string_view, 4> codes{"31", "32", "33", "1"};

bool needs_no_quotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
}

}  // namespace

std::string Style::paint(Color color, std::string_view text) const {
  if (!colored) return std::string(text);
  std::string result = "\x1b[";
  result += codes[static_cast<std::size_t>(color)];
  result += "m";
  result += text;
  result += "\x1b[0m";
  return result;
}

bool wants_color(ColorMode mode, bool is_terminal) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  char const* const no_color = std::getenv("NO_COLOR");
  return is_terminal && (no_color == nullptr || *no_color == '\0');
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return result;
}

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), needs_no_quotes)) {
    return std::string(word);
  }
  std::string result = "'";
  for (char const c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

}  // namespace adamant::scenarios
