#include "scenarios/report/json.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <stdexcept>

#include "scenarios/language/plain_text.h"
#include "scenarios/language/words.h"
#include "scenarios/report/memory_json.h"
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
