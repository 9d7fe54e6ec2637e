// Values that the oracle's own tests name. Tests alone include it.
#pragma once

#include <limits>

namespace adamant::oracle {

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace adamant::oracle
