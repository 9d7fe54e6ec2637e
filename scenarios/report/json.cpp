#include "scenarios/report/json.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "scenarios/language/plain_text.h"
#include "scenarios/language/words.h"
#include "scenarios/report/violation_json.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

constexpr std::array<std::string_view, 4> outcome_names{"pass", "violated", "refused", "error"};

Outcome outcome_from(std::string const& name) {
  auto const found = value_named<Outcome>(outcome_names, name);
  if (!found) throw std::invalid_argument("this adamant knows no outcome `" + name + "`");
  return *found;
}

void add_execution(Json& json, RunResult const& result) {
  json["schedules"] = result.schedules;
  json["digest"] = fmt::format("{:016x}", result.digest);
  json["values_digest"] = fmt::format("{:016x}", result.values_digest);
  json["wall_seconds"] = result.wall_seconds;
  json["simulated_seconds"] = result.simulated_seconds;
}

void take_execution(Json const& json, RunResult& result) {
  result.schedules = json.at("schedules");
  result.digest = std::stoull(json.at("digest").get<std::string>(), nullptr, 16);
  result.values_digest = std::stoull(json.at("values_digest").get<std::string>(), nullptr, 16);
  result.simulated_seconds = json.at("simulated_seconds");
}

void add_optional(Json& json, RunResult const& result) {
  if (!result.reason.empty()) json["reason"] = result.reason;
  if (std::string const message = message_of(result); !message.empty()) json["message"] = message;
  if (result.failed_at) {
    json["failed_at"] = {{"rank", result.failed_at->rank},
                         {"operation", result.failed_at->operation},
                         {"text", result.message}};
    add_thrown(json["failed_at"], result.failed_at->thrown);
  }
  if (!result.notes.empty()) json["notes"] = result.notes;
  if (!result.met && !result.choices.empty()) json["choices"] = result.choices;
}

/// Characters may be written by their numbers: then a terminal that is shown the file is not
/// steered, and who reads it gets what there was.
std::string without_controls(std::string const& json) {
  std::string text;
  for (std::string_view rest = json; !rest.empty();) {
    auto const [value, size] = first_code_point(rest);
    if (value < 0x7F || !is_control(value))
      text += rest.substr(0, size);
    else if (value <= 0xFFFF)
      text += fmt::format("\\u{:04x}", value);
    else  // in two halves
      text += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (value >> 10), 0xDC00 + (value & 0x3FF));
    rest.remove_prefix(size);
  }
  return text;
}

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

/// What a run had at most, or what a dry run says that ranks would need. Peaks of the whole run,
/// and `by_purpose` those of the rank that had most of each; purposes that had none are left out.
/// Of a dry run peaks are sums over purposes of one rank, and `ranks` has each world's ranks by
/// what they need.
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

}  // namespace

std::string_view name_of(Outcome outcome) {
  return outcome_names[static_cast<std::size_t>(outcome)];
}

Json to_json(RunResult const& result) {
  Json json{{"scenario", result.name},
            {"file", result.file},
            {"engine", result.engine},
            {"seed", result.seed},
            {"outcome", name_of(result.outcome)},
            {"expected", result.expected},
            {"met", result.met},
            {"operations", result.operations}};
  if (result.planned) {
    json["dry_run"] = true;
    json["wall_seconds"] = result.wall_seconds;
  } else {
    add_execution(json, result);
  }
  json["violations"] = Json::array();
  for (auto const& violation : result.violations) json["violations"].push_back(to_json(violation));
  json["warnings"] = Json::array();
  for (auto const& warning : result.warnings) json["warnings"].push_back(to_json(warning));
  json["memory"] = memory_to_json(result);
  add_optional(json, result);
  return json;
}

RunResult result_from_json(Json const& json) {
  RunResult result;
  result.name = json.at("scenario");
  result.file = json.at("file");
  result.engine = json.at("engine");
  result.seed = json.at("seed");
  result.outcome = outcome_from(json.at("outcome"));
  result.expected = json.at("expected");
  result.met = json.at("met");
  result.operations = json.at("operations");
  result.wall_seconds = json.at("wall_seconds");
  if (!json.contains("dry_run")) take_execution(json, result);
  for (Json const& each : json.at("violations"))
    result.violations.push_back(violation_from_json(each));
  for (Json const& each : json.at("warnings")) result.warnings.push_back(violation_from_json(each));
  take_memory(json.at("memory"), result);
  result.reason = json.value("reason", "");
  result.message = json.value("message", "");
  if (json.contains("failed_at")) {
    Json const& failed = json.at("failed_at");
    result.failed_at = FailedAt{.rank = failed.at("rank"),
                                .operation = failed.at("operation"),
                                .thrown = thrown_in(failed)};
    result.message = failed.at("text");
  }
  result.notes = json.value("notes", result.notes);
  result.choices = json.value("choices", result.choices);
  return result;
}

Json make_document(std::string_view command) {
  return {{"adamant", ADAMANT_VERSION}, {"command", command}};
}

std::string to_text(Json const& json) {
  return without_controls(json.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string to_line(Json const& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace adamant::scenarios
