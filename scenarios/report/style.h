// Colours of terminal text, where they are wanted.
#pragma once

#include <string>
#include <string_view>

namespace adamant::scenarios {

enum class Verbosity { quiet, normal, verbose };
enum class ColorMode { automatic, always, never };
enum class Color { red, green, yellow, bold };

/// How results are printed.
struct Style {
  Verbosity verbosity = Verbosity::normal;
  bool colored = false;

  /// `text` in `color` where colours are on.
  std::string paint(Color color, std::string_view text) const;
};

/// automatic: `is_terminal`, unless the user asked programs for none (https://no-color.org).
bool wants_color(ColorMode mode, bool is_terminal);

}  // namespace adamant::scenarios
