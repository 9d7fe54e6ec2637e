#include "scenarios/campaign/ledger.h"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/laws.h"
#include "scenarios/search/portion.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

/// How many of the shards' cases have a number from `first` on.
std::uint64_t cases_from(std::uint64_t first, Ledger const& ledger) {
  std::uint64_t cases = 0;
  for (auto const& [index, done] : ledger.shards) {
    Portion const shard{.index = index, .count = ledger.settings.shards};
    cases += done - std::min(done, shard.count_in(0, first));
  }
  return cases;
}

std::uint64_t failed_from(std::uint64_t first, std::vector<std::uint64_t> const& cases) {
  return static_cast<std::uint64_t>(std::count_if(
      cases.begin(), cases.end(), [&](std::uint64_t index) { return index >= first; }));
}

/// Can its cases break it?
bool may_break(Law law, CampaignSettings const& settings) {
  return !is_peer(settings.engine) || is_seen_outside(law);
}

/// All laws in their order by which its cases are judged, other ways to fail where there are some,
/// and all of them together.
std::vector<LedgerLaw> laws_of(Ledger const& ledger) {
  std::vector<std::string> ids;
  for (Meaning const& law : laws())
    if (may_break(*law_of(law.id), ledger.settings)) ids.emplace_back(law.id);
  for (auto const& [id, cases] : ledger.tally.failed)
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  std::vector<LedgerLaw> rows;
  LedgerLaw any{.id = "any"};
  std::uint64_t any_full = 0;
  for (std::string const& id : ids) {
    auto const found = ledger.tally.failed.find(id);
    auto const cases =
        found != ledger.tally.failed.end() ? found->second : std::vector<std::uint64_t>();
    std::uint64_t const full = failed_from(ledger.settings.first_full_case, cases);
    rows.push_back(
        {.id = id, .cases = cases.size(), .at_most = chance_at_most(full, ledger.full_cases)});
    any.cases += cases.size();
    any_full += full;
  }
  any.at_most = chance_at_most(any_full, ledger.full_cases);
  rows.push_back(std::move(any));
  return rows;
}

std::vector<LedgerDepth> depths_of(Tally const& tally) {
  std::map<int, Chances> by_depth;
  for (auto const& [kind, count] : tally.pct) by_depth[kind.first][kind.second] += count;
  std::vector<LedgerDepth> rows;
  for (auto const& [depth, chances] : by_depth) {
    LedgerDepth row{.depth = depth,
                    .missed_at_most = missed_at_most(chances),
                    .share_at_most = share_at_most(chances)};
    for (auto const& [chance, count] : chances) {
      row.schedules += count;
      if (chance == 0) row.too_long += count;
    }
    rows.push_back(row);
  }
  return rows;
}

/// The logarithm of the chance to miss a bug that a share of the cases has: each schedule meets it
/// with that share of its chance.
double log_missed(Chances const& chances, double share) {
  double sum = 0;
  for (auto const& [chance, count] : chances)
    sum += static_cast<double>(count) * std::log1p(-share * chance);
  return sum;
}

}  // namespace

std::uint64_t Ledger::schedules(Schedule::Strategy strategy) const {
  std::uint64_t const random = tally.seen.count(Feature::schedule_random);
  std::uint64_t const pct = tally.seen.count(Feature::schedule_pct);
  if (strategy == Schedule::Strategy::random) return random;
  if (strategy == Schedule::Strategy::pct) return pct;
  return strategy == Schedule::Strategy::fifo ? tally.cases() - random - pct : 0;
}

Ledger ledger_of(CampaignSettings settings, std::map<std::uint64_t, Tally> const& shards) {
  Ledger ledger{.settings = std::move(settings)};
  for (auto const& [index, tally] : shards) {
    ledger.shards[index] = tally.cases();
    ledger.tally.add(tally);
  }
  ledger.tally.findings = folded(std::move(ledger.tally.findings));
  ledger.full_cases = cases_from(ledger.settings.first_full_case, ledger);
  ledger.laws = laws_of(ledger);
  ledger.depths = depths_of(ledger.tally);
  return ledger;
}

Json to_json(Ledger const& ledger) {
  CampaignSettings const& settings = ledger.settings;
  Json json{{"seed", settings.seed}, {"engine", settings.engine}, {"bug", settings.bug}};
  json["shards"] = Json::array();
  for (std::uint64_t index = 0; index < settings.shards; ++index) {
    auto const found = ledger.shards.find(index);
    json["shards"].push_back(found == ledger.shards.end() ? 0 : found->second);
  }
  json["cases"] = ledger.tally.cases();
  json["schedules"] = {{"fifo", ledger.schedules(Schedule::Strategy::fifo)},
                       {"random", ledger.schedules(Schedule::Strategy::random)},
                       {"pct", ledger.schedules(Schedule::Strategy::pct)}};
  json["two_schedules"] = to_json(ledger.tally.values);
  if (!ledger.tally.known.empty())
    json["known"] = {{"cases", ledger.tally.masked}, {"defects", ledger.tally.known}};
  json["confidence"] = confidence;
  json["full_cases"] = ledger.full_cases;
  json["laws"] = Json::array();
  for (LedgerLaw const& law : ledger.laws)
    json["laws"].push_back(
        {{"law", law.id}, {"cases", law.cases}, {"chance_at_most", law.at_most}});
  json["pct"] = Json::array();
  for (LedgerDepth const& depth : ledger.depths)
    json["pct"].push_back({{"depth", depth.depth},
                           {"schedules", depth.schedules},
                           {"too_long", depth.too_long},
                           {"missed_at_most", depth.missed_at_most},
                           {"share_at_most", depth.share_at_most}});
  if (ledger.has_marks()) {
    json["marks"] = Json::object();
    for (std::size_t mark = 0; mark < sim::mark_count; ++mark)
      json["marks"][std::string(name_of(static_cast<sim::CoverageMark>(mark)))] =
          ledger.tally.marks[mark];
  }
  json["distribution"] = features_json(ledger.tally.seen, settings.lacking);
  json["pairs"] = pairs_json(ledger.tally.seen, settings.lacking);
  json["exclusive_pairs"] = exclusive_json(settings.lacking);
  json["never"] = never_json(ledger.tally.seen, settings.lacking);
  return json;
}

double chance_at_most(std::uint64_t failed, std::uint64_t cases) {
  if (failed >= cases) return 1;
  auto const n = static_cast<double>(cases);
  if (failed == 0) return -std::expm1(std::log1p(-confidence) / n);
  auto const k = static_cast<double>(failed);
  return boost::math::ibeta_inv(k + 1, n - k, confidence);
}

double missed_at_most(Chances const& chances) {
  return std::exp(log_missed(chances, 1));
}

double share_at_most(Chances const& chances) {
  double const enough = std::log1p(-confidence);
  if (log_missed(chances, 1) > enough) return 1;
  // The larger the share, the smaller the chance to miss it: halve until doubles end.
  double low = 0;
  double high = 1;
  for (;;) {
    double const middle = std::midpoint(low, high);
    if (middle <= low || middle >= high) return high;
    (log_missed(chances, middle) > enough ? low : high) = middle;
  }
}

}  // namespace adamant::scenarios
