// What a campaign has done and what follows from it: cases, schedules, features and pairs that
// occurred and that did not, and with which confidence the chance of one more failure is how small.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/campaign/settings.h"
#include "scenarios/campaign/tally.h"
#include "scenarios/language/json_text.h"
#include "scenarios/search/distribution.h"

namespace adamant::scenarios {

/// How often one law was broken, and what that says.
struct LedgerLaw {
  std::string id;           // or another way to fail; "any": all of them
  std::uint64_t cases = 0;  // that broke it
  double at_most = 1;       // the chance that one more case does (chance_at_most)
};

/// What the pct schedules of one depth say of bugs of that depth.
struct LedgerDepth {
  int depth = 0;
  std::uint64_t schedules = 0;
  std::uint64_t too_long = 0;  // of these: runs too long for a chance to be known
  double missed_at_most = 1;
  double share_at_most = 1;
};

struct Ledger {
  CampaignSettings settings = {};
  std::map<std::uint64_t, std::uint64_t> shards = {};  // cases of those that have begun
  Tally tally = {};
  std::uint64_t full_cases = 0;  // that were drawn alike: what chances are about
  std::vector<LedgerLaw> laws = {};
  std::vector<LedgerDepth> depths = {};

  std::uint64_t schedules(Schedule::Strategy strategy) const;
  /// Are the cases of a simulated world? Others have neither schedules nor marks.
  bool has_marks() const { return !has(settings.lacking, Feature::schedule_random); }
};

/// The ledger of these shards, by index. It does not depend on how they came to their cases.
Ledger ledger_of(CampaignSettings settings, std::map<std::uint64_t, Tally> const& shards);

/// For people, without the findings.
std::string describe(Ledger const& ledger, Zeros zeros);

/// The keys of a document, without the findings.
StrictJson to_json(Ledger const& ledger);

/// Of bounds on chances. They are exact: nothing else of them is approximated or picked by hand.
inline constexpr double confidence = 0.95;

/// The chance that one more case fails is at most this, with `confidence`, where `failed` of
/// `cases` independent cases did; 1 without any case. Source: Clopper and Pearson 1934, the upper
/// limit of the one-sided interval: the largest chance with which so few failures are not rarer
/// than 1 - confidence. Without failures it is 1 - (1 - confidence)^(1 / cases).
double chance_at_most(std::uint64_t failed, std::uint64_t cases);

/// Schedules by the least chance with which each meets a bug.
using Chances = std::map<double, std::uint64_t>;

/// The chance with which all of them together have missed a bug that each of their cases has.
double missed_at_most(Chances const& chances);

/// The share of cases that have a bug which all of them together have missed is at most this, with
/// `confidence`; 1 where so many schedules exclude nothing.
double share_at_most(Chances const& chances);

}  // namespace adamant::scenarios
