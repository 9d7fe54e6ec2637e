#include "scenarios/report/html/numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace adamant::scenarios {

std::string grouped(std::uint64_t number) {
  std::string const digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += "\u00A0";
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
