#include "scenarios/campaign/shard.h"

#include <fmt/format.h>

#include <system_error>

#include "scenarios/campaign/settings.h"
#include "scenarios/language/json_text.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

constexpr char const* journal_name = "journal.jsonl";

/// The sum of the lines. Each says how many cases came before it, so that none is missing.
Tally sum_of(std::vector<std::string> const& lines, std::filesystem::path const& file,
             std::uint64_t shard) {
  Tally sum;
  for (std::size_t number = 1; number <= lines.size(); ++number) {
    if (interrupted()) throw CampaignError("interrupted");
    try {
      Json const line = parse_json<Json>(lines[number - 1]);
      if (line.at("from") != sum.cases())
        throw CampaignError(fmt::format("it goes on from case {}, but {} came before it",
                                        line.at("from").dump(), sum.cases()));
      sum.add(tally_from_json(line, shard));
    } catch (std::exception const& error) {
      throw CampaignError(
          fmt::format("{}:{}: is no line of a journal: {}; remove the shard's folder to search its "
                      "cases again",
                      file.string(), number, error.what()));
    }
  }
  return sum;
}

void remove_leftovers(std::filesystem::path const& folder) {
  std::error_code gone;
  for (auto const& entry : std::filesystem::directory_iterator(folder, gone))
    if (entry.path().extension() == ".tmp") std::filesystem::remove(entry.path(), gone);
}

}  // namespace

std::string name_of(Portion shard) {
  return fmt::format("{}-of-{}", shard.index, shard.count);
}

CampaignShard::CampaignShard(std::filesystem::path const& campaign, Portion portion)
    : portion_(portion),
      folder_(campaign / name_of(portion)),
      journal_(folder_ / journal_name),
      tally_(sum_of(journal_.take_lines(), folder_ / journal_name, portion.index)) {
  remove_leftovers(folder_);
}

void CampaignShard::append(Tally const& next) {
  Json line{{"from", tally_.cases()}};
  line.update(to_json(next));
  journal_.append(to_line(line));
  tally_.add(next);
}

std::map<std::uint64_t, Tally> read_shards(std::filesystem::path const& campaign,
                                           CampaignSettings const& settings) {
  std::map<std::uint64_t, Tally> shards;
  for (std::uint64_t index = 0; index < settings.shards; ++index) {
    if (interrupted()) throw CampaignError("interrupted");
    auto const file = campaign / name_of({.index = index, .count = settings.shards}) / journal_name;
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown))
      shards[index] = sum_of(read_journal(file), file, index);
  }
  return shards;
}

}  // namespace adamant::scenarios
