#include "scenarios/report/violation_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "scenarios/language/words.h"
#include "scenarios/report/violation_names.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

// ---- numbers: as bits, because JSON has no NaN and no infinity ---------------------------------

std::string bits_text(Number number) {
  return fmt::format("{:08x}", number.bits);
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

Json to_json(std::vector<ElementRange> const& ranges) {
  Json json = Json::array();
  for (ElementRange const range : ranges) json.push_back(Json::array({range.begin, range.end}));
  return json;
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
    Json json{{"optimizer", word_for(config.mode)}};
    for (AdamNumber const& number : numbers_of_adam())
      json[std::string(number.name)] = bits_text(Number(config.*number.place));
    json["bias_correction"] = config.bias_correction;
    return json;
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

// ---- the whole ---------------------------------------------------------------------------------

// ---- lines of the source: absent where they are not known --------------------------------------

Json to_json(Location const& location) {
  Json json{{"file", location.file}, {"line", location.line}, {"function", location.function}};
  for (Location const& caller : location.callers) json["callers"].push_back(to_json(caller));
  return json;
}

void add_location(Json& json, char const* key, Location const& location) {
  if (location.known()) json[key] = to_json(location);
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

}  // namespace adamant::scenarios
