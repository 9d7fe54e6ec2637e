#include "scenarios/campaign/tally.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

/// Nobody can expect how long a run took, or repeat it.
Json without_time(Json result) {
  result["wall_seconds"] = 0;
  return result;
}

Json to_json(KeptFinding const& kept) {
  return {{"case", kept.finding.case_index},
          {"signature", kept.signature},
          {"ingredients", kept.ingredients},
          {"runs", kept.finding.runs},
          {"complete", kept.finding.complete},
          {"file", kept.file},
          {"scenario", write_scenario(kept.finding.scenario)},
          {"result", without_time(to_json(kept.finding.result))}};
}

KeptFinding finding_from_json(Json const& json, std::uint64_t shard) {
  KeptFinding kept{.shard = shard,
                   .signature = json.at("signature"),
                   .ingredients = json.at("ingredients"),
                   .file = json.at("file")};
  Finding& finding = kept.finding;
  finding.case_index = json.at("case");
  finding.scenario = load_scenario_text(json.at("scenario").get<std::string>(), kept.file);
  finding.result = result_from_json(json.at("result"));
  finding.symptom = symptom_of(finding.result, finding.scenario.expect).value_or(finding.symptom);
  finding.runs = json.at("runs");
  finding.complete = json.value("complete", true);  // older journals do not say
  return kept;
}

double chance_in(Json const& json) {
  double const chance = json.get<double>();
  if (chance < 0 || chance > 1) throw std::invalid_argument("a chance is " + json.dump());
  return chance;
}

Distribution distribution_from(Json const& json) {
  std::vector<std::uint64_t> const counts = json.at("seen");
  if (counts.size() != Distribution().counts().size())
    throw std::invalid_argument("`seen` has another number of counts");
  return {json.at("cases"), counts};
}

}  // namespace

bool KeptFinding::covers(std::string const& signature_seen,
                         std::set<std::string> const& has) const {
  if (signature == signature_seen && ingredients == has) return true;
  // One that could not be minimised says nothing of others.
  return finding.is_minimized() &&
         Explained{signature, ingredients_of(finding.scenario)}.covers(signature_seen, has);
}

void Tally::add(SearchedCase const& ended) {
  seen.add(ended.features);
  if (ended.schedule_depth > 0) ++pct[{ended.schedule_depth, ended.schedule_chance}];
  sim::CoverageMarks const marked(ended.marks);
  for (std::size_t mark = 0; mark < marks.size(); ++mark) marks[mark] += marked.test(mark) ? 1 : 0;
  values.add(ended.values);
  for (std::string const& name : ended.known) ++known[name];
  if (!ended.known.empty()) ++masked;
  if (!ended.failure) return;
  auto const symptom = symptom_of(ended.failure->result);
  failed[symptom ? id_of(*symptom) : "error"].push_back(ended.index);
}

void Tally::add(Tally const& other) {
  seen.add(other.seen);
  for (auto const& [kind, count] : other.pct) pct[kind] += count;
  for (std::size_t mark = 0; mark < marks.size(); ++mark) marks[mark] += other.marks[mark];
  values.add(other.values);
  for (auto const& [what, cases] : other.failed)
    failed[what].insert(failed[what].end(), cases.begin(), cases.end());
  for (auto const& [name, cases] : other.known) known[name] += cases;
  masked += other.masked;
  findings.insert(findings.end(), other.findings.begin(), other.findings.end());
}

Json to_json(Tally const& tally) {
  Json json{{"cases", tally.cases()}, {"seen", tally.seen.counts()}};
  json["pct"] = Json::array();
  for (auto const& [kind, count] : tally.pct)
    json["pct"].push_back({kind.first, kind.second, count});
  json["marks"] = tally.marks;
  json["two_schedules"] = to_json(tally.values);
  json["failed"] = tally.failed;
  json["known"] = tally.known;
  json["masked"] = tally.masked;
  json["findings"] = Json::array();
  for (KeptFinding const& kept : tally.findings) json["findings"].push_back(to_json(kept));
  return json;
}

Tally tally_from_json(Json const& json, std::uint64_t shard) {
  Tally tally{.seen = distribution_from(json)};
  for (Json const& entry : json.at("pct"))
    tally.pct[{entry.at(0).get<int>(), chance_in(entry.at(1))}] = entry.at(2);
  if (json.at("marks").size() != tally.marks.size())
    throw std::invalid_argument("`marks` has another number of counts");
  tally.marks = json.at("marks");
  tally.values = values_compared_from_json(json.at("two_schedules"));
  tally.failed = json.at("failed");
  tally.known = json.at("known");
  tally.masked = json.at("masked");
  for (Json const& entry : json.at("findings"))
    tally.findings.push_back(finding_from_json(entry, shard));
  return tally;
}

std::vector<KeptFinding> folded(std::vector<KeptFinding> findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](KeptFinding const& a, KeptFinding const& b) {
                     if (is_told_before(a.finding, b.finding)) return true;
                     if (is_told_before(b.finding, a.finding)) return false;
                     return std::tuple(write_scenario(a.finding.scenario), a.finding.case_index) <
                            std::tuple(write_scenario(b.finding.scenario), b.finding.case_index);
                   });
  std::vector<KeptFinding> kept;
  for (KeptFinding& finding : findings) {
    bool const known = std::any_of(kept.begin(), kept.end(), [&](KeptFinding const& other) {
      Scenario same = other.finding.scenario;
      same.name = finding.finding.scenario.name;  // which tells it from others of its shard
      return other.covers(finding.signature, finding.ingredients) ||
             same == finding.finding.scenario;
    });
    if (!known) kept.push_back(std::move(finding));
  }
  return kept;
}

}  // namespace adamant::scenarios
