// What searching some cases came to, as one value: tallies of disjoint cases add up to that of all,
// in any order. A journal is made of them, a line each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/json_text.h"
#include "scenarios/search/case_search.h"
#include "scenarios/search/findings.h"
#include "sim/marks.h"

namespace adamant::scenarios {

/// A finding and how it was come by, as a journal keeps it.
struct KeptFinding {
  std::uint64_t shard = 0;
  std::string signature = {};              // of the failure (search/failures.h)
  std::set<std::string> ingredients = {};  // of its case
  std::string file = {};                   // in the folder of its shard
  Finding finding = {};

  /// Does it explain a failure that looks so and has these ingredients?
  bool covers(std::string const& signature_seen, std::set<std::string> const& has) const;
};

struct Tally {
  Distribution seen = {};
  /// By depth and least chance (RunResult::schedule_chance): how many pct schedules.
  std::map<std::pair<int, double>, std::uint64_t> pct = {};
  /// In how many cases the simulated hardware did what sim/marks.h names.
  std::array<std::uint64_t, sim::mark_count> marks = {};
  ValuesCompared values = {};
  /// The numbers of the cases that failed, by what they are known by: a law, the reason of a
  /// refusal, "error".
  std::map<std::string, std::vector<std::uint64_t>> failed = {};
  /// By the names of known defects: how many cases met them. One case may meet several.
  std::map<std::string, std::uint64_t> known = {};
  std::uint64_t masked = 0;  // cases that met any
  std::vector<KeptFinding> findings = {};

  std::uint64_t cases() const { return seen.cases(); }
  void add(SearchedCase const& ended);
  void add(Tally const& other);
};

StrictJson to_json(Tally const& tally);
/// The inverse; what it finds is of `shard`. Errors: those of nlohmann::json and of reading
/// scenarios, where `json` was not made by to_json().
Tally tally_from_json(StrictJson const& json, std::uint64_t shard);

/// Of those that are one defect the one that is told first, in the order in which they are told:
/// those with one scenario, and those of one look where the first explains the others. Whatever the
/// order in which they come.
std::vector<KeptFinding> folded(std::vector<KeptFinding> findings);

}  // namespace adamant::scenarios
