#include "scenarios/report/style.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdlib>

namespace adamant::scenarios {

namespace {

constexpr std::array<std::string_view, 4> codes{"31", "32", "33", "1"};

}  // namespace

std::string Style::paint(Color color, std::string_view text) const {
  if (!colored) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(color)], text);
}

bool wants_color(ColorMode mode, bool is_terminal) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  char const* const no_color = std::getenv("NO_COLOR");
  return is_terminal && (no_color == nullptr || *no_color == '\0');
}

}  // namespace adamant::scenarios
