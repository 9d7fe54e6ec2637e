// A curve as a picture in SVG. It knows numbers alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace adamant::scenarios {

/// How many of `events` are below each number from 0 to `last`: a step up at each. `title` is for
/// who cannot see it. REQUIRES: events are not above `last`, which is not 0.
std::string step_curve(std::vector<std::uint64_t> events, std::uint64_t last,
                       std::string const& title);

}  // namespace adamant::scenarios
