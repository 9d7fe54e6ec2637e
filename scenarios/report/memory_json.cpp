#include "scenarios/report/memory_json.h"

#include <string>
#include <utility>

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

Json to_json(BytesByPurpose const& bytes) {
  Json json = Json::object();
  for (int i = 0; i < purpose_count; ++i) {
    LiveBytes const& one = bytes[static_cast<std::size_t>(i)];
    if (one != LiveBytes())
      json[std::string(name_of(static_cast<Purpose>(i)))] = {{"device", one.device},
                                                             {"pinned", one.pinned}};
  }
  return json;
}

BytesByPurpose bytes_from(Json const& json) {
  BytesByPurpose bytes{};
  for (int i = 0; i < purpose_count; ++i) {
    auto const one = json.find(std::string(name_of(static_cast<Purpose>(i))));
    if (one != json.end())
      bytes[static_cast<std::size_t>(i)] = {.device = one->at("device"),
                                            .pinned = one->at("pinned")};
  }
  return bytes;
}

Json to_json(Numbers const& numbers) {
  return {numbers.first, numbers.last};
}

Numbers numbers_from(Json const& json) {
  return {.first = json.at(0), .last = json.at(1)};
}

Json to_json(PlannedMemory const& planned) {
  Json ranks = Json::array();
  for (RankBlock const& block : planned.ranks)
    ranks.push_back({{"shards", to_json(block.shards)}, {"replicas", to_json(block.replicas)}});
  return {{"from_operation", planned.from_operation},
          {"world", {{"shard", planned.mesh.shards}, {"replicate", planned.mesh.replicas}}},
          {"ranks", std::move(ranks)},
          {"by_purpose", to_json(planned.peak)},
          {"at_start", to_json(planned.at_start)},
          {"between_operations", to_json(planned.between)}};
}

PlannedMemory planned_from(Json const& json) {
  PlannedMemory planned;
  planned.from_operation = json.at("from_operation");
  planned.mesh.shards = json.at("world").at("shard");
  planned.mesh.replicas = json.at("world").at("replicate");
  for (Json const& block : json.at("ranks"))
    planned.ranks.push_back({.shards = numbers_from(block.at("shards")),
                             .replicas = numbers_from(block.at("replicas"))});
  planned.peak = bytes_from(json.at("by_purpose"));
  planned.at_start = bytes_from(json.at("at_start"));
  planned.between = bytes_from(json.at("between_operations"));
  return planned;
}

/// Of the rank that needs most, device and pinned each.
LiveBytes most_of(std::vector<PlannedMemory> const& all) {
  LiveBytes most;
  for (PlannedMemory const& planned : all) raise_to(most, sum_of(planned.peak));
  return most;
}

}  // namespace

Json memory_to_json(RunResult const& result) {
  LiveBytes const most =
      result.planned ? most_of(*result.planned)
                     : LiveBytes{.device = static_cast<std::int64_t>(result.device_peak_bytes),
                                 .pinned = static_cast<std::int64_t>(result.pinned_peak_bytes)};
  Json json{{"device_peak_bytes", most.device},
            {"pinned_peak_bytes", most.pinned},
            {"by_purpose", to_json(result.peak_bytes)}};
  if (!result.planned) return json;
  json["ranks"] = Json::array();
  for (PlannedMemory const& planned : *result.planned) json["ranks"].push_back(to_json(planned));
  return json;
}

void take_memory(Json const& json, RunResult& result) {
  result.device_peak_bytes = json.at("device_peak_bytes");
  result.pinned_peak_bytes = json.at("pinned_peak_bytes");
  result.peak_bytes = bytes_from(json.at("by_purpose"));
  if (!json.contains("ranks")) return;
  result.planned.emplace();
  for (Json const& planned : json.at("ranks")) result.planned->push_back(planned_from(planned));
}

}  // namespace adamant::scenarios
