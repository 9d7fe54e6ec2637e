#include "scenarios/report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace adamant::scenarios {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> outcome_names{"pass", "violated", "refused", "error"};

Outcome outcome_from(std::string const& name) {
  auto const found = std::find(outcome_names.begin(), outcome_names.end(), name);
  return static_cast<Outcome>(found - outcome_names.begin());
}

Json to_json(AccessReport const& access) {
  return {{"rank", access.rank}, {"stream", access.stream}, {"operation", access.operation},
          {"kind", access.kind}, {"buffer", access.buffer}, {"begin", access.begin},
          {"end", access.end}};
}

AccessReport access_from(Json const& json) {
  return {.rank = json.at("rank"),
          .stream = json.at("stream"),
          .operation = json.at("operation"),
          .kind = json.at("kind"),
          .buffer = json.at("buffer"),
          .begin = json.at("begin"),
          .end = json.at("end")};
}

/// Laws of access and order have these fields, be they empty: a deadlock has no two accesses.
bool is_about_accesses(std::string_view law) {
  return law.starts_with("access.") || law.starts_with("order.");
}

/// What the violation is not about is absent, but for `operation`, which is null outside of all.
Json to_json(ViolationReport const& violation) {
  Json json{{"law", violation.law}};
  json["operation"] = violation.operation >= 0 ? Json(violation.operation) : Json(nullptr);
  json["rank"] = violation.rank;
  if (!violation.tensor.empty()) json["tensor"] = violation.tensor;
  if (violation.index >= 0) json["index"] = violation.index;
  if (!violation.expected.empty()) json["expected"] = violation.expected;
  if (!violation.actual.empty()) json["actual"] = violation.actual;
  if (!violation.expected_decimal.empty()) json["expected_decimal"] = violation.expected_decimal;
  if (!violation.actual_decimal.empty()) json["actual_decimal"] = violation.actual_decimal;
  if (violation.ulp) json["ulp"] = *violation.ulp;
  json["message"] = violation.message;
  if (!is_about_accesses(violation.law)) return json;
  json["accesses"] = Json::array();
  for (AccessReport const& access : violation.accesses) json["accesses"].push_back(to_json(access));
  json["missing"] = violation.missing;
  return json;
}

ViolationReport violation_from(Json const& json) {
  ViolationReport violation;
  violation.law = json.at("law");
  violation.operation = json.at("operation").is_null() ? -1 : json.at("operation").get<int>();
  violation.rank = json.at("rank");
  violation.message = json.at("message");
  violation.tensor = json.value("tensor", "");
  violation.index = json.value("index", std::int64_t{-1});
  violation.expected = json.value("expected", "");
  violation.actual = json.value("actual", "");
  violation.expected_decimal = json.value("expected_decimal", "");
  violation.actual_decimal = json.value("actual_decimal", "");
  if (json.contains("ulp")) violation.ulp = json.at("ulp").get<std::uint64_t>();
  for (Json const& access : json.value("accesses", Json::array())) {
    violation.accesses.push_back(access_from(access));
  }
  violation.missing = json.value("missing", "");
  return violation;
}

void add_optional(Json& json, RunResult const& result) {
  if (!result.reason.empty()) json["reason"] = result.reason;
  if (!result.message.empty()) json["message"] = result.message;
  if (!result.notes.empty()) json["notes"] = result.notes;
  if (!result.met && !result.choices.empty()) json["choices"] = result.choices;
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
            {"operations", result.operations},
            {"schedules", result.schedules},
            {"digest", fmt::format("{:016x}", result.digest)},
            {"wall_seconds", result.wall_seconds},
            {"simulated_seconds", result.simulated_seconds}};
  json["violations"] = Json::array();
  for (auto const& violation : result.violations) json["violations"].push_back(to_json(violation));
  json["memory"] = {{"device_peak_bytes", result.device_peak_bytes},
                    {"pinned_peak_bytes", result.pinned_peak_bytes}};
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
  result.schedules = json.at("schedules");
  result.digest = std::stoull(json.at("digest").get<std::string>(), nullptr, 16);
  result.wall_seconds = json.at("wall_seconds");
  result.simulated_seconds = json.at("simulated_seconds");
  for (Json const& each : json.at("violations")) result.violations.push_back(violation_from(each));
  result.device_peak_bytes = json.at("memory").at("device_peak_bytes");
  result.pinned_peak_bytes = json.at("memory").at("pinned_peak_bytes");
  result.reason = json.value("reason", "");
  result.message = json.value("message", "");
  result.notes = json.value("notes", result.notes);
  result.choices = json.value("choices", result.choices);
  return result;
}

Json make_document(std::string_view command) {
  return {{"adamant", ADAMANT_VERSION}, {"command", command}};
}

std::string to_text(Json const& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_line(Json const& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace adamant::scenarios
