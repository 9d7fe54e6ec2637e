// What other processes of this program have written: the lines of workers and of journals.
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "scenarios/campaign/ledger.h"
#include "scenarios/campaign/settings.h"
#include "scenarios/campaign/shard.h"
#include "scenarios/language/json_text.h"
#include "scenarios/report/html/ledger_tables.h"
#include "scenarios/report/html/page.h"
#include "scenarios/report/json.h"
#include "scenarios/report/junit.h"
#include "scenarios/report/text.h"
#include "scenarios/report/trace/formats.h"
#include "scenarios/report/worker_lines.h"

namespace adamant::properties {

namespace {

using scenarios::Reported;

/// All that is ever written of a result.
void report(Reported const& reported) {
  scenarios::Style const style{.verbosity = scenarios::Verbosity::verbose};
  std::string text = scenarios::describe(reported, style) + scenarios::annotation(reported) +
                     scenarios::to_junit("f", {&reported, 1});
  scenarios::PageItem item{.reported = reported, .scenes = scenarios::draw_scenes(reported.result)};
  text += scenarios::to_html({.command = "run", .verdict = "", .items = {std::move(item)}});
  if (!reported.result.timeline.empty()) text += scenarios::to_chrome_trace(reported.result);
  require(!text.empty(), "a result is written as nothing");
}

/// Written and read, what was read is the same.
void expect_same_again(scenarios::RunResult const& result) {
  auto const written = scenarios::to_line(scenarios::to_json(result));
  auto const again =
      scenarios::result_from_json(scenarios::parse_json<scenarios::StrictJson>(written));
  require(scenarios::to_line(scenarios::to_json(again)) == written,
          "a result that is written and read is another: " + written);
}

std::optional<scenarios::Ended> ended_in(std::string const& line) {
  static scenarios::Scenario const scenario;
  try {
    return scenarios::ended_with(scenarios::parse_json<scenarios::StrictJson>(line), scenario, {});
  } catch (scenarios::StrictJson::exception const&) {  // as main() says them
    return std::nullopt;
  } catch (std::invalid_argument const&) {
    return std::nullopt;
  } catch (std::out_of_range const&) {
    return std::nullopt;
  }
}

std::map<std::uint64_t, scenarios::Tally> shards_in(std::filesystem::path const& campaign,
                                                    scenarios::CampaignSettings const& settings) {
  try {
    return scenarios::read_shards(campaign, settings);
  } catch (scenarios::CampaignError const&) {
    return {};
  }
}

std::optional<scenarios::CampaignSettings> settings_in(std::filesystem::path const& campaign) {
  try {
    return scenarios::read_settings(campaign);
  } catch (scenarios::CampaignError const&) {
    return std::nullopt;
  }
}

}  // namespace

bool read_worker(Bytes line) {
  auto const ended = ended_in(text_of(line));
  if (!ended) return false;
  expect_same_again(ended->result);
  report({.result = ended->result, .replay = "adamant run f.yaml"});
  return true;
}

bool read_journal(Bytes bytes) {
  Room const& room = Room::of_this_process();
  auto const parts = split(bytes, "----");
  room.write("campaign/campaign.json", parts.front());
  std::string journal = parts.size() > 1 ? parts[1] : "";
  if (!journal.ends_with('\n')) journal += '\n';
  room.write("campaign/0-of-1/journal.jsonl", journal);
  auto settings = settings_in(room.path() / "campaign");
  if (!settings) return false;
  scenarios::difference(*settings, {});
  settings->shards = 1;  // the folder has the journal of one
  auto const shards = shards_in(room.path() / "campaign", *settings);
  if (shards.empty()) return false;
  auto const ledger = scenarios::ledger_of(*settings, shards);
  scenarios::describe(ledger, scenarios::Zeros::shown);
  scenarios::ledger_section(ledger);
  scenarios::to_text(scenarios::to_json(ledger));
  for (auto const& kept : ledger.tally.findings)
    report({.result = kept.finding.result, .replay = "adamant run f.yaml"});
  return true;
}

}  // namespace adamant::properties
