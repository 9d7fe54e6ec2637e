#include "scenarios/language/schema/schema.h"

#include <algorithm>
#include <set>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/laws.h"

namespace adamant::scenarios {

namespace {

OrderedJson number_in(OrderedJson least, OrderedJson most) {
  return {{"type", "integer"}, {"minimum", std::move(least)}, {"maximum", std::move(most)}};
}

/// Exactly one of the keys.
OrderedJson one_of_keys(OrderedJson properties) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)},
          {"minProperties", 1},
          {"maxProperties", 1}};
}

OrderedJson name_schema() {
  return {{"description", "Of a parameter, group or checkpoint."},
          {"type", "string"},
          {"pattern", "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"},
          {"not", {{"pattern", "\\.\\."}}}};
}

OrderedJson bug_schema() {
  return {{"description", "A bug of the catalogue: scenarios/bugs has a file of this name."},
          {"type", "string"},
          {"pattern", "^[A-Za-z0-9_]+$"}};
}

OrderedJson params_schema() {
  OrderedJson const list{
      {"type", "array"}, {"minItems", 1}, {"items", reference_to(map_name<Param>.name)}};
  return {{"oneOf", {list, reference_to("params_from_model")}}};
}

OrderedJson params_from_model_schema() {
  return {
      {"description", "The list of a public model in scenarios/models."},
      {"type", "object"},
      {"additionalProperties", false},
      {"properties", {{"model", described("a file of scenarios/models", reference_to("name"))}}},
      {"required", {"model"}}};
}

OrderedJson shape_schema() {
  return {{"type", "array"},
          {"maxItems", 64},
          {"prefixItems", OrderedJson::array({number_in(0, count_max)})},
          {"items", number_in(0, std::int64_t{1} << 60)}};
}

OrderedJson betas_schema() {
  OrderedJson const beta = schema_of(kinds::Real{RealRange::below_one});
  return {{"type", "array"}, {"prefixItems", {beta, beta}}, {"minItems", 2}, {"maxItems", 2}};
}

OrderedJson clip_schema() {
  return {{"oneOf", {{{"const", "none"}}, schema_of(kinds::Real{RealRange::positive})}}};
}

OrderedJson loss_scale_schema() {
  OrderedJson const words{{"enum", {"none", "dynamic"}}};
  return {{"oneOf", {words, schema_of(kinds::Real{RealRange::positive})}}};
}

OrderedJson offload_schema() {
  return one_of_keys(
      {{"states", described("states are on the host between steps", reference_to("states"))},
       {"hybrid", described("a part of the step runs on the CPU", reference_to("hybrid"))}});
}

OrderedJson set_schema() {
  OrderedJson schema = schema_of_map<SettingsChange>();
  schema["minProperties"] = 1;
  return schema;
}

/// Recorded choices stand alone, and only pct has a depth.
OrderedJson schedule_schema() {
  OrderedJson schema = schema_of_map<Schedule>();
  OrderedJson const is_pct{{"properties", {{"strategy", {{"const", "pct"}}}}},
                           {"required", {"strategy"}}};
  schema["if"] = {{"required", {"choices"}}};
  schema["then"] = {{"maxProperties", 1}};
  schema["else"] = {{"if", {{"required", {"depth"}}}}, {"then", is_pct}};
  return schema;
}

OrderedJson expect_schema() {
  std::set<std::string_view> laws_and_prefixes;
  for (Meaning const& law : laws()) {
    laws_and_prefixes.insert(law.id);
    laws_and_prefixes.insert(law.id.substr(0, law.id.find('.')));
  }
  OrderedJson violates{{"description", "A law, or a prefix of one up to a dot."}};
  violates.update(enumeration(laws_and_prefixes));
  std::string reasons = "^(any|unsupported(\\.[a-z_]+)?";
  for (Meaning const& reason : refusal_reasons())
    if (!matches("unsupported", reason.id)) reasons.append("|").append(reason.id);
  OrderedJson const refused{
      {"description",
       "A reason, a prefix of one up to a dot, or any; details are listed by `adamant laws`."},
      {"type", "string"},
      {"pattern", reasons + ")$"}};
  return one_of_keys({{"violates", std::move(violates)}, {"refused", refused}});
}

constexpr std::size_t longest_line = 120;

std::string on_one_line(OrderedJson const& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (auto const& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += OrderedJson(key).dump() + ": ";
    text += on_one_line(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

OrderedJson reference_to(std::string_view definition) {
  return {{"$ref", "#/$defs/" + std::string(definition)}};
}

OrderedJson described(std::string_view meaning, OrderedJson const& value) {
  OrderedJson whole{{"description", std::string(meaning)}};
  whole.update(value);
  return whole;
}

OrderedJson schema_of(kinds::Flag) {
  return {{"type", "boolean"}};
}

OrderedJson schema_of(kinds::Real kind) {
  if (kind.range == RealRange::positive) return {{"type", "number"}, {"exclusiveMinimum", 0}};
  OrderedJson schema{{"type", "number"}, {"minimum", 0}};
  if (kind.range == RealRange::below_one) schema["exclusiveMaximum"] = 1;
  return schema;
}

OrderedJson schema_of(kinds::Fraction) {
  return {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
}

OrderedJson schema_of(kinds::Integer kind) {
  return number_in(kind.range.least, kind.range.most);
}

OrderedJson schema_of(kinds::Seed) {
  return number_in(0, std::numeric_limits<std::uint64_t>::max());
}

OrderedJson schema_of(kinds::Text) {
  return {{"type", "string"}};
}

OrderedJson schema_of(kinds::Names) {
  return {{"type", "array"}, {"items", reference_to("name")}};
}

OrderedJson schema_of(kinds::Parts) {
  return {
      {"type", "array"}, {"items", reference_to("name")}, {"minItems", 1}, {"uniqueItems", true}};
}

OrderedJson schema_of(kinds::Version) {
  return {{"const", 1}};
}

OrderedJson schema_of(kinds::Worlds) {
  OrderedJson const one{
      {"oneOf", {number_in(mesh_range.least, mesh_range.most), reference_to("world")}}};
  return {{"type", "array"}, {"items", one}, {"minItems", 1}};
}

OrderedJson schema_of(kinds::Groups) {
  return {{"type", "object"},
          {"propertyNames", reference_to("name")},
          {"additionalProperties", reference_to(map_name<AdamOverride>.name)}};
}

OrderedJson schema_of(kinds::Offloaded) {
  return {{"oneOf", {{{"const", "none"}}, reference_to("offload")}}};
}

OrderedJson schema_of(kinds::EngineName) {
  return {{"type", "string"},
          {"pattern", "^([A-Za-z][A-Za-z0-9_-]*|" + std::string(exec_prefix) + ".+)$"}};
}

OrderedJson schema_of(kinds::EngineOptions) {
  OrderedJson const scalar{{"type", {"string", "number", "boolean"}}};
  return {{"type", "object"}, {"additionalProperties", scalar}};
}

OrderedJson schema_of(kinds::Choices) {
  return {{"type", "array"}, {"items", number_in(0, 0xFFFFFFFF)}};
}

OrderedJson schema_of(kinds::Expected) {
  return {{"oneOf", {{{"const", "pass"}}, reference_to("expect")}}};
}

OrderedJson scenario_schema() {
  OrderedJson const definitions{{"scenario", schema_of_map<Scenario>()},
                                {"bug", bug_schema()},
                                {"name", name_schema()},
                                {"world", schema_of_map<World>()},
                                {"layout", enumeration(words_of<Layout>)},
                                {"params", params_schema()},
                                {"param", schema_of_map<Param>()},
                                {"params_from_model", params_from_model_schema()},
                                {"shape", shape_schema()},
                                {"group", schema_of_map<AdamOverride>()},
                                {"betas", betas_schema()},
                                {"clip", clip_schema()},
                                {"loss_scale", loss_scale_schema()},
                                {"precision", schema_of_map<Precision>()},
                                {"optimizer", schema_of_map<Optimizer>()},
                                {"offload", offload_schema()},
                                {"states", schema_of_map<OffloadedStates>()},
                                {"hybrid", schema_of_map<HybridOffload>()},
                                {"program", schema_of_program<Action>()},
                                {"operation", schema_of_operation<Action>()},
                                {"backward", schema_of_map<Backward>()},
                                {"zero_grad", schema_of_map<ZeroGrad>()},
                                {"set", set_schema()},
                                {"load", schema_of_map<Load>()},
                                {"again", schema_of_map<Again>()},
                                {"engine", schema_of_map<EngineChoice>()},
                                {"schedule", schedule_schema()},
                                {"fault", schema_of_map<Fault>()},
                                {"expect", expect_schema()}};
  return {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", "https://adamant.invalid/scenario-1.json"},
      {"title", "adamant scenario, format version 1"},
      {"description",
       "What a scenario file may contain. Names that must be defined elsewhere in the file, and "
       "the rounding of numbers to binary32, are checked by the reader alone."},
      {"$ref", "#/$defs/scenario"},
      {"$defs", definitions}};
}

std::string text_of(OrderedJson const& json, std::size_t indent, std::string const& before,
                    std::string const& behind) {
  std::string const margin(indent, ' ');
  std::string const line = margin + before + on_one_line(json) + behind;
  if (line.size() <= longest_line || !json.is_structured() || json.empty()) return line + "\n";
  bool const is_object = json.is_object();
  std::string text = margin + before + (is_object ? "{" : "[") + "\n";
  std::size_t left = json.size();
  for (auto const& [key, value] : json.items())
    text += text_of(value, indent + 2, is_object ? OrderedJson(key).dump() + ": " : "",
                    --left > 0 ? "," : "");
  return text + margin + (is_object ? "}" : "]") + behind + "\n";
}

}  // namespace adamant::scenarios
