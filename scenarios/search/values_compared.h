// In how many cases of a search the values depended on the schedule, although every schedule
// passed: a sum of floats that is taken in the order in which ranks come, for one.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/language/json_text.h"

namespace adamant::scenarios {

/// Of cases that ran under two schedules and passed.
struct ValuesCompared {
  std::uint64_t cases = 0;
  std::uint64_t different = 0;  // of those: with other values under the second

  void add(ValuesCompared const& other);
};

/// A line; nothing where there are no such cases.
std::string describe(ValuesCompared const& values);

StrictJson to_json(ValuesCompared const& values);
/// The inverse. Errors: those of nlohmann::json.
ValuesCompared values_compared_from_json(StrictJson const& json);

}  // namespace adamant::scenarios
