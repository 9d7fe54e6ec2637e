#include "scenarios/report/violation_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "scenarios/language/words.h"
#include "scenarios/report/words/words.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;
using Names = std::span<std::string_view const>;

constexpr auto format_names =
    std::to_array<std::string_view>({"fp32", "bf16", "fp16", "fp8", "remainder"});
constexpr auto recipe_names =
    std::to_array<std::string_view>({"fp8_delayed", "fp8_current", "fp8_block", "mxfp8", "nvfp4"});
constexpr auto kind_names = std::to_array<std::string_view>(
    {"parameter", "gradient", "exp_avg", "exp_avg_sq", "main", "cast_gradient"});
constexpr auto scaling_names =
    std::to_array<std::string_view>({"loss_scale", "skipped", "inverse", "norm", "coefficient",
                                     "max_norm", "growth_tracker", "hysteresis"});
static_assert(scaling_names.size() == scaling_number_count);
constexpr auto part_names = std::to_array<std::string_view>(
    {"some", "whole", "shards", "saved_shards", "block", "last_block"});
constexpr auto ending_names = std::to_array<std::string_view>({"error", "signal", "exit", "none"});

template <typename Enum>
std::string_view name_in(Names names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

/// What has the name there. Another program may know more of them.
template <typename Found>
auto known(Found const& found, Json const& name) {
  if (!found) throw std::invalid_argument("this adamant knows no " + name.dump());
  return *found;
}

template <typename Enum>
Enum value_in(Names names, Json const& name) {
  return known(value_named<Enum>(names, name.get<std::string>()), name);
}

// ---- numbers: as bits, because JSON has no NaN and no infinity ---------------------------------

std::string bits_text(Number number) {
  return fmt::format("{:08x}", number.bits);
}

Number number_from(Json const& bits) {
  Number number;
  number.bits = static_cast<std::uint32_t>(std::stoul(bits.get<std::string>(), nullptr, 16));
  return number;
}

float float_from(Json const& bits) {
  return number_from(bits).value();
}

// ---- subjects ----------------------------------------------------------------------------------

struct SubjectJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(Tensor const& tensor) const {
    return {{"tensor", tensor.parameter},
            {"kind", name_in(kind_names, tensor.kind)},
            {"whole", tensor.whole}};
  }
  Json operator()(StepCount const& steps) const { return {{"step_count", steps.parameter}}; }
  Json operator()(GroupSettings const& settings) const {
    return {{"settings_of_group", settings.group}};
  }
  Json operator()(ScalingNumber number) const {
    return {{"scaling", name_in(scaling_names, number)}};
  }
  Json operator()(Buffers const& buffers) const { return {{"buffers", name_of(buffers.purpose)}}; }
  Json operator()(Call const& call) const {
    return {{"call", call.verb},
            {"ending", name_in(ending_names, call.ending)},
            {"status", call.status}};
  }
  Json operator()(Named const& named) const { return {{"named", named.name}}; }
  Json operator()(DamagedFiles const& files) const {
    Json list = Json::array();
    for (FileDamage const& damage : files) {
      list.push_back({{"file", damage.file}, {"damage", word_for(damage.how)}, {"at", damage.at}});
      if (damage.beside) list.back()["beside"] = true;
    }
    return {{"files", std::move(list)}};
  }
};

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

Json to_json(std::vector<ElementRange> const& ranges) {
  Json json = Json::array();
  for (ElementRange const range : ranges) json.push_back(Json::array({range.begin, range.end}));
  return json;
}

std::vector<ElementRange> ranges_from(Json const& json) {
  std::vector<ElementRange> ranges;
  for (Json const& range : json) ranges.push_back({.begin = range.at(0), .end = range.at(1)});
  return ranges;
}

// ---- sides -------------------------------------------------------------------------------------

struct ValueJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(Number number) const { return {{"fp32", bits_text(number)}}; }
  Json operator()(Interval const& interval) const {
    Json json{{"interval", Json::array()},
              {"inf", interval.may_be_pos_inf},
              {"-inf", interval.may_be_neg_inf},
              {"nan", interval.may_be_nan}};
    if (interval.finite_possible)
      json["interval"] = {bits_text(Number(interval.lo)), bits_text(Number(interval.hi))};
    return json;
  }
  Json operator()(Elements const& elements) const {
    Json json = {{"elements", to_json(elements.ranges)},
                 {"row_numel", elements.row_numel},
                 {"format", name_in(format_names, elements.format)}};
    if (elements.recipe) json["recipe"] = name_in(recipe_names, *elements.recipe);
    return json;
  }
  Json operator()(Count count) const { return {{"count", count.count}}; }
  Json operator()(Presence presence) const { return {{"there", presence.there}}; }
  Json operator()(AdamConfig const& config) const {
    return {{"optimizer", word_for(config.mode)},
            {"lr", bits_text(Number(config.learning_rate))},
            {"beta1", bits_text(Number(config.beta1))},
            {"beta2", bits_text(Number(config.beta2))},
            {"eps", bits_text(Number(config.epsilon))},
            {"weight_decay", bits_text(Number(config.weight_decay))},
            {"bias_correction", config.bias_correction}};
  }
  Json operator()(LiveBytes const& live) const {
    return {{"device_bytes", live.device}, {"pinned_bytes", live.pinned}};
  }
  Json operator()(Allocated const& allocated) const {
    return {{"bytes", allocated.bytes}, {"on_host", allocated.on_host}};
  }
  Json operator()(Digest digest) const {
    return {{"digest", fmt::format("{:016x}", digest.digest)}};
  }
};

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
  return {.mode = value_in<AdamMode>(words_of<AdamMode>, json.at("optimizer")),
          .learning_rate = float_from(json.at("lr")),
          .beta1 = float_from(json.at("beta1")),
          .beta2 = float_from(json.at("beta2")),
          .epsilon = float_from(json.at("eps")),
          .weight_decay = float_from(json.at("weight_decay")),
          .bias_correction = json.at("bias_correction")};
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

// ---- the whole ---------------------------------------------------------------------------------

// ---- lines of the source: absent where they are not known --------------------------------------

Json to_json(Location const& location) {
  Json json{{"file", location.file}, {"line", location.line}, {"function", location.function}};
  for (Location const& caller : location.callers) json["callers"].push_back(to_json(caller));
  return json;
}

Location location_from(Json const& json) {
  Location location{
      .file = json.at("file"), .line = json.at("line"), .function = json.at("function")};
  for (Json const& caller : json.value("callers", Json::array()))
    location.callers.push_back(location_from(caller));
  return location;
}

void add_location(Json& json, char const* key, Location const& location) {
  if (location.known()) json[key] = to_json(location);
}

Location location_in(Json const& json, char const* key) {
  return json.contains(key) ? location_from(json.at(key)) : Location{};
}

// ---- who accessed, who waits
// ---------------------------------------------------------------------

Json to_json(Access const& access) {
  Json json{{"rank", access.rank}, {"stream", access.stream}, {"operation", access.operation},
            {"kind", access.kind}, {"buffer", access.buffer}, {"begin", access.begin},
            {"end", access.end}};
  add_location(json, "at", access.at);
  add_location(json, "enqueued_at", access.enqueued_at);
  add_location(json, "captured_at", access.captured_at);
  add_location(json, "allocated_at", access.allocated_at);
  add_location(json, "freed_at", access.freed_at);
  return json;
}

Access access_from(Json const& json) {
  return {.rank = json.at("rank"),
          .stream = json.at("stream"),
          .operation = json.at("operation"),
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

Json to_json(Related const& related) {
  Json json{{"what", related.what}, {"rank", related.rank}};
  add_location(json, "at", related.at);
  return json;
}

Json to_json(Waiting const& waiting) {
  Json json{{"rank", waiting.rank}};
  add_location(json, "at", waiting.at);
  return json;
}

Json to_json(WrongElements const& wrong) {
  return {{"count", wrong.count},
          {"ranges", to_json(wrong.ranges)},
          {"part", name_in(part_names, wrong.part)},
          {"ranks", wrong.ranks}};
}

void add_text(Json& json, char const* key, std::string const& text) {
  if (!text.empty()) json[key] = text;
}

void add_words(Json& json, Violation const& violation) {
  Sides const sides = sides_in_words(violation);
  add_text(json, "tensor", subject_in_words(violation));
  if (violation.index >= 0) json["index"] = violation.index;
  if (violation.elements) json["elements"] = to_json(*violation.elements);
  add_text(json, "expected", sides.expected);
  add_text(json, "actual", sides.actual);
  add_text(json, "expected_decimal", sides.expected_decimal);
  add_text(json, "actual_decimal", sides.actual_decimal);
  if (violation.ulp) json["ulp"] = *violation.ulp;
  json["message"] = message_of(violation);
}

void add_values(Json& json, Violation const& violation) {
  json["breach"] = name_of(violation.breach);
  auto const add = [&](char const* key, Json value) {
    if (!value.is_null()) json[key] = std::move(value);
  };
  add("subject", std::visit(SubjectJson{}, violation.subject));
  add("expected_value", std::visit(ValueJson{}, violation.expected));
  add("actual_value", std::visit(ValueJson{}, violation.actual));
  add_text(json, "run", violation.run);
  add_text(json, "reason", violation.reason);
  add_text(json, "text", violation.text);
  add_thrown(json, violation.thrown);
}

}  // namespace

void add_thrown(Json& json, Thrown const& thrown) {
  add_text(json, "kind", thrown.kind);
  add_text(json, "where", thrown.where);
  add_text(json, "traceback", thrown.traceback);
}

Thrown thrown_in(Json const& json) {
  return {.kind = json.value("kind", ""),
          .where = json.value("where", ""),
          .traceback = json.value("traceback", "")};
}

Json to_json(Violation const& violation) {
  Json json{{"law", id_of(violation.law)}};
  json["operation"] = violation.operation >= 0 ? Json(violation.operation) : Json(nullptr);
  json["rank"] = violation.rank;
  json["ranks"] = ranks_of(violation);
  json["count"] = violation.count;
  add_words(json, violation);
  // Of access and order these are there, be they empty: a deadlock has no two accesses.
  bool const always = is_about_accesses(violation.law);
  if (always || !violation.accesses.empty()) json["accesses"] = Json::array();
  for (Access const& access : violation.accesses) json["accesses"].push_back(to_json(access));
  if (always || !violation.missing.empty()) json["missing"] = violation.missing;
  add_location(json, "at", violation.at);
  for (Related const& related : violation.related) json["related"].push_back(to_json(related));
  for (Waiting const& waiting : violation.waiting) json["waiting"].push_back(to_json(waiting));
  add_values(json, violation);
  return json;
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
                          .count = wrong.at("count"),
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
