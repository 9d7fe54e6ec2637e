#include "scenarios/report/html/escape.h"

#include <algorithm>
#include <cstddef>

#include "scenarios/language/plain_text.h"

namespace adamant::scenarios {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

std::string_view written(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      break;
  }
  return {};
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto const [value, size] = first_code_point(text);
    bool const shown = size > 0 && (!is_control(value) || value == '\n' || value == '\t');
    std::string_view const instead = shown ? written(text.front()) : replacement;
    std::string_view const taken = text.substr(0, std::max<std::size_t>(size, 1));
    result += instead.empty() ? taken : instead;
    text.remove_prefix(taken.size());
  }
  return result;
}

}  // namespace adamant::scenarios
