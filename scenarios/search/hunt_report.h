// What the searches for one bug came to together: medians, and how often it was missed. Text for
// people, a JSON object for machines, a RunResult for JUnit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/language/json_text.h"
#include "scenarios/report/text.h"
#include "scenarios/search/findings.h"
#include "scenarios/search/hunt_search.h"

namespace adamant::scenarios {

/// A find that was minimised, and what that took.
struct HuntMinimized {
  Finding finding;
  std::string text = "";  // of the scenario, in its normal form
  double seconds = 0;
};

struct Hunted {
  bugs::Bug bug;
  std::vector<HuntEnd> searches;              // those that ended
  std::vector<HuntMinimized> minimized = {};  // of those that found it
  std::string path = "";  // where the commonest of these was written; empty: nowhere
};

/// Of what several searches minimised to: the scenario that most of them came to, the lightest of
/// several. REQUIRES: hunted.minimized is not empty.
HuntMinimized const& commonest(Hunted const& hunted);
/// How many came to that one.
std::size_t alike(Hunted const& hunted);

/// The middle one of `values`, the lower of two. REQUIRES: values is not empty.
double median(std::vector<double> values);

/// Is the median search one that found it? Then its medians exist.
bool is_found(Hunted const& hunted);

std::int64_t operations_of(HuntMinimized const& minimized);
/// REQUIRES: hunted.minimized is not empty.
double median_minimize_seconds(Hunted const& hunted);

/// Over all searches, those that missed it counted as longer than all others. REQUIRES: is_found().
double median_seconds(Hunted const& hunted);
std::uint64_t median_cases(Hunted const& hunted);
/// Searches in which a case broke another law before one broke the bug's.
int other_law_first(Hunted const& hunted);

/// One line, and one more for each thing that is wrong.
std::string describe(Hunted const& hunted);
StrictJson to_json(Hunted const& hunted);
/// Expected is that the bug is found.
Reported reported(Hunted const& hunted, std::string const& replay);

}  // namespace adamant::scenarios
