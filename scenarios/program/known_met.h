// What a search met of what is known of its engine, and what that cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/campaign/tally.h"
#include "scenarios/language/json_text.h"
#include "scenarios/search/case_search.h"
#include "scenarios/search/known_here.h"

namespace adamant::scenarios {

/// Seconds of all processes together, by this call.
struct TimeSpent {
  double all = 0;
  double masked = 0;  // in cases that met a known defect

  void add(SearchedCase const& ended);
};

struct KnownMet {
  struct Defect {
    std::string name;
    std::string cause;
    std::string thread;  // empty: none
    std::uint64_t cases = 0;
  };

  KnownMet() = default;
  KnownMet(KnownHere const& known, Tally const& tally, TimeSpent const& spent);

  /// Is nothing known of the engine?
  bool empty() const { return defects.empty(); }

  std::vector<Defect> defects;                 // all that is known
  std::vector<std::string> not_shown;          // names of those that do not show here
  std::vector<std::string> of_other_versions;  // names of those that show in another version, too
  std::uint64_t masked = 0;                    // cases that met any
  double share_of_time = 0;                    // of those cases
};

StrictJson to_json(KnownMet const& known);

/// Lines for people; none where nothing is known.
std::string describe(KnownMet const& known, std::uint64_t cases);

}  // namespace adamant::scenarios
