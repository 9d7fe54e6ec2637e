#include "scenarios/report/markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

std::string grouped(std::uint64_t number, std::string_view separator) {
  std::string const digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += separator;
    text += digits[i];
  }
  return text;
}

std::string duration(double seconds) {
  if (seconds == 0) return {};
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1000);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  auto const whole = static_cast<std::uint64_t>(std::llround(seconds));
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace adamant::scenarios
