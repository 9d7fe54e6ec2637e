// How a page looks: on light and dark screens, wide and narrow, and on paper. Colours are
// variables, of which text and what it stands on have a contrast of at least 4.5 to 1
// (WCAG 2.2, 1.4.3).
#pragma once

#include <string_view>

namespace adamant::scenarios {

/// The colours of the two looks, a rule each.
std::string_view colors_light();
std::string_view colors_dark();

/// All other rules.
std::string_view rules();

}  // namespace adamant::scenarios
