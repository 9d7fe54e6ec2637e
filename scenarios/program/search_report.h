// What the commands that search have alike: options of runs, and what they say at their end, also
// of the known defects that they met.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/campaign/ledger.h"
#include "scenarios/campaign/tally.h"
#include "scenarios/language/json_text.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/text.h"
#include "scenarios/runner/run.h"
#include "scenarios/search/case_search.h"
#include "scenarios/search/distribution.h"
#include "scenarios/search/findings.h"
#include "scenarios/search/known_here.h"

namespace adamant::scenarios {

/// Seconds of all processes together, by this call.
struct TimeSpent {
  double all = 0;
  double masked = 0;  // in cases that met a known defect

  void add(SearchedCase const& ended);
};

/// What a search met of what is known of its engine, and what that cost.
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

/// Cases, where nobody says how many or how long.
inline constexpr std::uint64_t searched_by_default = 1000;

/// What the command line says of known defects and waits, to be said again.
std::string repeated_options(Arguments const& arguments);

/// What the command line says of each run of a search.
RunOptions run_options(Arguments const& arguments);

/// What was searched, and how fast.
struct Searched {
  std::uint64_t seed = 0;
  Distribution seen = {};
  FeatureSet lacking = {};
  ValuesCompared values = {};
  KnownMet known = {};
  std::uint64_t cases_now = 0;  // by this call
  double seconds = 0;

  double cases_per_second() const {
    return seconds > 0 ? static_cast<double>(cases_now) / seconds : 0;
  }
};

/// What `--junit` lists: the search itself, and then what it found.
std::vector<Reported> with_search(Searched const& searched, std::span<Reported const> results);

/// Prints the distribution, and in one line how the search ended, and writes the files. The ledger
/// is for the page.
///
/// Errors: CannotWrite.
void report_search(Arguments const& arguments, Searched const& searched,
                   std::span<Reported const> results, Outputs& outputs, HtmlOutput& html,
                   std::function<Ledger()> const& ledger);

/// The line that runs a file.
std::string replay_of_file(Arguments const& arguments, std::filesystem::path const& file);

/// A finding as it is reported. `file` is where it was written, or empty.
Reported reported(Arguments const& arguments, std::uint64_t seed, Finding const& finding,
                  std::filesystem::path const& file);

}  // namespace adamant::scenarios
