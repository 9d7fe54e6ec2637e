// One shard of a campaign: the cases that are its, how far it has come, and what it has found. It
// writes into a folder of its own alone; the journal there says everything, and the files of
// findings beside it are for people.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "scenarios/campaign/journal.h"
#include "scenarios/campaign/settings.h"
#include "scenarios/campaign/tally.h"
#include "scenarios/search/portion.h"

namespace adamant::scenarios {

/// "3-of-8".
std::string name_of(Portion shard);

class CampaignShard {
 public:
  /// Goes on where the journal in `campaign` ends. What a killed process left besides is removed.
  ///
  /// Errors: CannotWrite; CampaignError where another process has the shard, or where its journal
  /// is broken.
  CampaignShard(std::filesystem::path const& campaign, Portion portion);

  std::filesystem::path const& folder() const { return folder_; }
  /// All that was searched so far.
  Tally const& tally() const { return tally_; }
  /// The number of the case at a position among those of the shard; positions below
  /// tally().cases() have been searched.
  std::uint64_t case_at(std::uint64_t position) const {
    return portion_.index + position * portion_.count;
  }

  /// Keeps what the next cases came to. Once it returns, they are not searched again.
  ///
  /// Errors: CannotWrite; then they are.
  void append(Tally const& next);

 private:
  Portion portion_;
  std::filesystem::path folder_;
  Journal journal_;
  Tally tally_;
};

/// What the shards in `campaign` have journalled so far, by their index. They may be at work.
///
/// Errors: CampaignError where a journal is broken.
std::map<std::uint64_t, Tally> read_shards(std::filesystem::path const& campaign,
                                           CampaignSettings const& settings);

}  // namespace adamant::scenarios
