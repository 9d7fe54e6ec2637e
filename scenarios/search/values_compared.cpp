#include "scenarios/search/values_compared.h"

#include <fmt/format.h>

namespace adamant::scenarios {

void ValuesCompared::add(ValuesCompared const& other) {
  cases += other.cases;
  different += other.different;
}

std::string describe(ValuesCompared const& values) {
  if (values.cases == 0) return {};
  return fmt::format("{} ran under two schedules: values depended on the schedule in {}\n",
                     values.cases == 1 ? "1 case" : fmt::format("{} cases", values.cases),
                     values.different);
}

StrictJson to_json(ValuesCompared const& values) {
  return {{"cases", values.cases}, {"different_values", values.different}};
}

ValuesCompared values_compared_from_json(StrictJson const& json) {
  return {.cases = json.at("cases"), .different = json.at("different_values")};
}

}  // namespace adamant::scenarios
