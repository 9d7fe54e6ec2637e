// How long a script may be.
#pragma once

#include <cstddef>
#include <string>

namespace adamant::scenarios {

/// Lines that people read. A script that would have more says some things shorter; what has more
/// even then is no script.
inline constexpr std::size_t script_lines_max = 80;

/// Passes on a script that is short enough.
///
/// Errors: NoScript where it has more lines than people read, of whatever kind it is.
std::string of_readable_length(std::string script);

}  // namespace adamant::scenarios
