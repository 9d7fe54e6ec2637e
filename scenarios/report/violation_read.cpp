#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "scenarios/language/words.h"
#include "scenarios/report/violation_json.h"
#include "scenarios/report/violation_names.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

/// What has the name there. Another program may know more of them.
template <typename Found>
auto known(Found const& found, Json const& name) {
  if (!found) throw std::invalid_argument("this adamant knows no " + name.dump());
  return *found;
}

template <typename Enum>
Enum value_in(std::span<std::string_view const> names, Json const& name) {
  return known(value_named<Enum>(names, name.get<std::string>()), name);
}

Number number_from(Json const& bits) {
  Number number;
  number.bits = static_cast<std::uint32_t>(std::stoul(bits.get<std::string>(), nullptr, 16));
  return number;
}

float float_from(Json const& bits) {
  return number_from(bits).value();
}

DamagedFiles files_from(Json const& list) {
  DamagedFiles files;
  for (Json const& item : list)
    files.push_back({.file = item.at("file"),
                     .how = value_in<Fault::Then>(words_of<Fault::Then>, item.at("damage")),
                     .at = item.at("at"),
                     .beside = item.value("beside", false)});
  return files;
}

Subject subject_from(Json const& json) {
  if (json.contains("tensor"))
    return Tensor{.parameter = json.at("tensor"),
                  .kind = value_in<TensorKind>(kind_names, json.at("kind")),
                  .whole = json.at("whole")};
  if (json.contains("step_count")) return StepCount{.parameter = json.at("step_count")};
  if (json.contains("settings_of_group"))
    return GroupSettings{.group = json.at("settings_of_group")};
  if (json.contains("scaling")) return value_in<ScalingNumber>(scaling_names, json.at("scaling"));
  if (json.contains("buffers"))
    return Buffers{.purpose = value_in<Purpose>(purpose_names, json.at("buffers"))};
  if (json.contains("call"))
    return Call{.verb = json.at("call"),
                .ending = value_in<Ending>(ending_names, json.at("ending")),
                .status = json.at("status")};
  if (json.contains("named")) return Named{.name = json.at("named")};
  return files_from(json.at("files"));
}

constexpr std::int64_t elements_max = std::int64_t{1} << 60;  // of a tensor, as in a scenario

/// A place in a tensor, or how many of its elements.
std::int64_t elements_in(Json const& json) {
  auto const elements = integer_in<std::int64_t>(json);
  if (elements < 0 || elements > elements_max)
    throw std::invalid_argument("no tensor has " + json.dump() + " elements");
  return elements;
}

std::vector<ElementRange> ranges_from(Json const& json) {
  std::vector<ElementRange> ranges;
  for (Json const& range : json) {
    ranges.push_back({.begin = elements_in(range.at(0)), .end = elements_in(range.at(1))});
    if (ranges.back().numel() < 0)
      throw std::invalid_argument("no elements lie in " + range.dump());
  }
  return ranges;
}

Interval interval_from(Json const& json) {
  Interval interval{.finite_possible = !json.at("interval").empty(),
                    .may_be_nan = json.at("nan"),
                    .may_be_pos_inf = json.at("inf"),
                    .may_be_neg_inf = json.at("-inf")};
  if (!interval.finite_possible) return interval;
  interval.lo = float_from(json.at("interval").at(0));
  interval.hi = float_from(json.at("interval").at(1));
  return interval;
}

AdamConfig settings_from(Json const& json) {
  AdamConfig config{.mode = value_in<AdamMode>(words_of<AdamMode>, json.at("optimizer")),
                    .bias_correction = json.at("bias_correction")};
  for (AdamNumber const& number : numbers_of_adam())
    config.*number.place = float_from(json.at(std::string(number.name)));
  return config;
}

Elements elements_from(Json const& json) {
  Elements elements{.ranges = ranges_from(json.at("elements")),
                    .row_numel = json.at("row_numel"),
                    .format = value_in<NumberFormat>(format_names, json.at("format"))};
  if (json.contains("recipe")) elements.recipe = value_in<Recipe>(recipe_names, json.at("recipe"));
  return elements;
}

Value value_from(Json const& json) {
  if (json.contains("fp32")) return number_from(json.at("fp32"));
  if (json.contains("interval")) return interval_from(json);
  if (json.contains("elements")) return elements_from(json);
  if (json.contains("count")) return Count{.count = json.at("count")};
  if (json.contains("there")) return Presence{.there = json.at("there")};
  if (json.contains("optimizer")) return settings_from(json);
  if (json.contains("device_bytes"))
    return LiveBytes{.device = json.at("device_bytes"), .pinned = json.at("pinned_bytes")};
  if (json.contains("bytes"))
    return Allocated{.bytes = json.at("bytes"), .on_host = json.at("on_host")};
  return Digest{std::stoull(json.at("digest").get<std::string>(), nullptr, 16)};
}

Location location_from(Json const& json) {
  Location location{
      .file = json.at("file"), .line = json.at("line"), .function = json.at("function")};
  for (Json const& caller : json.value("callers", Json::array()))
    location.callers.push_back(location_from(caller));
  return location;
}

Location location_in(Json const& json, char const* key) {
  return json.contains(key) ? location_from(json.at(key)) : Location{};
}

Access access_from(Json const& json) {
  return {.rank = json.at("rank"),
          .stream = json.at("stream"),
          .operation = json.at("operation"),
          .name = "",
          .kind = json.at("kind"),
          .buffer = json.at("buffer"),
          .begin = json.at("begin"),
          .end = json.at("end"),
          .at = location_in(json, "at"),
          .enqueued_at = location_in(json, "enqueued_at"),
          .captured_at = location_in(json, "captured_at"),
          .allocated_at = location_in(json, "allocated_at"),
          .freed_at = location_in(json, "freed_at")};
}

}  // namespace

Thrown thrown_in(Json const& json) {
  return {.kind = json.value("kind", ""),
          .where = json.value("where", ""),
          .traceback = json.value("traceback", "")};
}

Violation violation_from_json(Json const& json) {
  Violation violation{
      .law = known(law_of(json.at("law").get<std::string>()), json.at("law")),
      .breach = known(breach_of(json.at("breach").get<std::string>()), json.at("breach")),
      .operation = json.at("operation").is_null() ? -1 : json.at("operation").get<int>(),
      .rank = json.at("rank"),
      .index = json.value("index", std::int64_t{-1}),
      .run = json.value("run", ""),
      .reason = json.value("reason", ""),
      .text = json.value("text", ""),
      .thrown = thrown_in(json),
      .missing = json.value("missing", ""),
      .at = location_in(json, "at"),
      .ranks = {},
      .count = json.value("count", std::int64_t{1})};
  if (auto ranks = json.value("ranks", std::vector<int>{}); ranks.size() > 1)
    violation.ranks = std::move(ranks);
  if (json.contains("subject")) violation.subject = subject_from(json.at("subject"));
  if (json.contains("elements")) {
    Json const& wrong = json.at("elements");
    violation.elements = {.ranges = ranges_from(wrong.at("ranges")),
                          .count = elements_in(wrong.at("count")),
                          .part = value_in<WrongElements::Part>(part_names, wrong.at("part")),
                          .ranks = wrong.at("ranks")};
  }
  if (json.contains("expected_value")) violation.expected = value_from(json.at("expected_value"));
  if (json.contains("actual_value")) violation.actual = value_from(json.at("actual_value"));
  if (json.contains("ulp")) violation.ulp = json.at("ulp").get<std::uint64_t>();
  for (Json const& access : json.value("accesses", Json::array()))
    violation.accesses.push_back(access_from(access));
  for (Json const& related : json.value("related", Json::array()))
    violation.related.push_back(
        {.what = related.at("what"), .rank = related.at("rank"), .at = location_in(related, "at")});
  for (Json const& waiting : json.value("waiting", Json::array()))
    violation.waiting.push_back({.rank = waiting.at("rank"), .at = location_in(waiting, "at")});
  return violation;
}

}  // namespace adamant::scenarios
