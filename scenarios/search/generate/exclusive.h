// Which features no scenario has together, and why.
#pragma once

#include <string_view>

#include "scenarios/search/generate/features.h"

namespace adamant::scenarios {

/// Empty where one scenario can have both.
std::string_view why_exclusive(Feature a, Feature b);

/// Can one scenario have both?
inline bool compatible(Feature a, Feature b) {
  return why_exclusive(a, b).empty();
}

}  // namespace adamant::scenarios
