// What makes the shards of a campaign one search: which case a number stands for, and how many
// shards share them. It is written down once, by the first who comes, and all others must want the
// same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/language/features.h"
#include "scenarios/report/provenance.h"
#include "scenarios/search/case_search.h"

namespace adamant::scenarios {

struct CampaignSettings {
  Writer program = {};
  std::uint64_t seed = 0;
  std::uint64_t shards = 1;
  std::string engine = {};
  std::string versions = {};               // that the engine gives (seam/versions.h)
  std::string bug = {};                    // empty: none
  bool strict = false;                     // warnings fail, too
  std::string first_cases = {};            // a digest of them: other programs draw other cases
  std::uint64_t first_full_case = 0;       // from there on cases are drawn alike
  FeatureSet lacking = {};                 // features that the engine's cases never have
  std::vector<std::string> features = {};  // by number, as journals have them

  friend bool operator==(CampaignSettings const&, CampaignSettings const&) = default;
};

/// Those of this search by so many shards.
///
/// Errors: MachineLacks, where an engine that has to be asked is not there.
CampaignSettings settings_of(CaseSearch const& cases, std::uint64_t shards, Writer const& program);

/// What is written in `directory`; nothing where there is no campaign yet.
///
/// Errors: CampaignError where it is written in a way that this program does not know.
std::optional<CampaignSettings> read_settings(std::filesystem::path const& directory);

/// The settings of the campaign in `directory`, which are those that `wanted_with` makes of its
/// seed. Where there are none yet they are written: of several processes that come at once one
/// writes, whole, and the others find it. The seed is the one that is asked for; else that of who
/// came first; and who comes first takes `drawn`.
///
/// Errors: CannotWrite; CampaignError where what is there differs from what is wanted.
CampaignSettings join_campaign(
    std::filesystem::path const& directory, std::optional<std::uint64_t> asked, std::uint64_t drawn,
    std::function<CampaignSettings(std::uint64_t seed)> const& wanted_with);

/// What differs, in words: "seed is 7, not 8"; empty where nothing does.
std::string difference(CampaignSettings const& there, CampaignSettings const& wanted);

/// A campaign that cannot be gone on with, or not be read. what() names the file, what is there and
/// what to do. Nothing has changed.
struct CampaignError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace adamant::scenarios
