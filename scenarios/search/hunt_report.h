// What the searches for one bug came to together: medians, and how often it was missed. Text for
// people, a JSON object for machines, a RunResult for JUnit.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/report/text.h"
#include "scenarios/search/hunt_search.h"

namespace adamant::scenarios {

/// A find that was minimised, and what that took.
struct HuntMinimized {
  std::string path = "";  // empty: not written
  int operations = 0;
  std::uint64_t runs = 0;
  double seconds = 0;
};

struct Hunted {
  bugs::Bug bug;
  std::vector<HuntEnd> searches;  // those that ended
  std::optional<HuntMinimized> minimized;
};

/// The middle one of `values`, the lower of two. REQUIRES: values is not empty.
double median(std::vector<double> values);

/// Is the median search one that found it? Then its medians exist.
bool is_found(Hunted const& hunted);

/// Over all searches, those that missed it counted as longer than all others. REQUIRES: is_found().
double median_seconds(Hunted const& hunted);
std::uint64_t median_cases(Hunted const& hunted);
/// Searches in which a case broke another law before one broke the bug's.
int other_law_first(Hunted const& hunted);

/// One line, and one more for each thing that is wrong.
std::string describe(Hunted const& hunted);
nlohmann::ordered_json to_json(Hunted const& hunted);
/// Expected is that the bug is found.
Reported reported(Hunted const& hunted, std::string const& replay);

}  // namespace adamant::scenarios
