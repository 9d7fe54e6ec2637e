#include "scenarios/language/schema/engine_parts.h"

#include <algorithm>
#include <functional>

#include "scenarios/language/capability_table.h"

namespace adamant::scenarios {

namespace {

// ---- one value, as the protocol has it ----------------------------------------------------------

/// Where an enumeration is defined.
template <typename Enum>
constexpr std::string_view definition_of = {};
template <>
constexpr std::string_view definition_of<Layout> = "layout";
template <>
constexpr std::string_view definition_of<AdamMode> = "mode";
template <>
constexpr std::string_view definition_of<StepCounter> = "step_counter";
template <>
constexpr std::string_view definition_of<GradientClass> = "gradients";
template <>
constexpr std::string_view definition_of<ParamType> = "param_type";
template <>
constexpr std::string_view definition_of<GradType> = "grad_type";
template <>
constexpr std::string_view definition_of<MainType> = "main_type";
template <>
constexpr std::string_view definition_of<StateType> = "state_type";

/// Are values told as a scenario has them?
template <typename Kind>
constexpr bool is_told_as_written =
    std::is_same_v<Kind, kinds::Flag> || std::is_same_v<Kind, kinds::Text> ||
    std::is_same_v<Kind, kinds::Real> || std::is_same_v<Kind, kinds::Betas> ||
    std::is_same_v<Kind, kinds::Norm> || std::is_same_v<Kind, kinds::Scale>;

template <typename Enum>
OrderedJson told_schema(kinds::Words<Enum>) {
  if (definition_of<Enum>.empty()) return enumeration(words_of<Enum>);
  return reference_to(definition_of<Enum>);
}
template <typename Kind>
requires is_told_as_written<Kind> OrderedJson told_schema(Kind const& kind) {
  return schema_of(kind);
}
OrderedJson told_schema(kinds::Integer kind) {
  return {{"type", "integer"}, {"minimum", kind.range.least}};
}
OrderedJson told_schema(kinds::ScaleKind) {
  return enumeration(scale_kind_words);
}
OrderedJson told_schema(kinds::SettableKey) {
  return enumeration(key_names<SettingsChange>);
}
/// What a fault at a load can do.
OrderedJson told_schema(kinds::Damage) {
  auto const words = words_of<Fault::Then>;
  auto const first = static_cast<std::size_t>(Fault::Then::flip_byte);
  return enumeration(words.subspan(first));
}
OrderedJson told_schema(kinds::Map<PrecisionOffer>) {
  return reference_to("precisions");
}
template <typename Of>
OrderedJson told_schema(kinds::List<Of> const& kind) {
  OrderedJson schema{{"type", "array"}, {"items", told_schema(kind.of)}};
  if (!kind.may_be_empty) schema["minItems"] = 1;
  return schema;
}

// ---- maps ---------------------------------------------------------------------------------------

bool is_among(std::string_view key, std::span<std::string_view const> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

using Wanted = std::function<bool(std::string_view key)>;

/// The keys of T that engines are told and that are wanted.
template <typename T>
OrderedJson told_properties(Wanted const& wanted) {
  OrderedJson properties = OrderedJson::object();
  for_each_key<T>([&](auto const& row) {
    if constexpr (requires { told_schema(row.kind); })
      if (row.about.told && wanted(row.key))
        properties[std::string(row.key)] = told_schema(row.kind);
  });
  return properties;
}

template <typename T>
OrderedJson properties_with_meanings() {
  OrderedJson properties = OrderedJson::object();
  for_each_key<T>([&](auto const& row) {
    OrderedJson property = OrderedJson::object();
    if (!row.about.meaning.empty()) property["description"] = std::string(row.about.meaning);
    property.update(told_schema(row.kind));
    properties[std::string(row.key)] = std::move(property);
  });
  return properties;
}

template <typename T>
OrderedJson required_keys() {
  OrderedJson keys = OrderedJson::array();
  for_each_key<T>([&](auto const& row) {
    if (row.about.required) keys.push_back(std::string(row.key));
  });
  return keys;
}

OrderedJson names_of_properties(OrderedJson const& properties) {
  OrderedJson names = OrderedJson::array();
  for (auto const& [name, schema] : properties.items()) names.push_back(name);
  return names;
}

/// A group of `open` or `set` begins with its name.
OrderedJson with_name(OrderedJson const& properties) {
  OrderedJson named{{"name", {{"type", "string"}}}};
  named.update(properties);
  return named;
}

/// The types of a world, and what their scales cover: told where there are any.
OrderedJson properties_of_precision(OrderedJson const& told) {
  OrderedJson properties = told;
  OrderedJson covers = {{"description",
                         "What a scale of fp16 and fp8 states covers: the whole tensor, or each "
                         "rank's rows; with none, fp16 states are plain numbers. Left out where no "
                         "state is of these types."}};
  covers.update(told_schema(kinds::Words<StateScale>{}));
  properties["state_scale"] = std::move(covers);
  return properties;
}

OrderedJson properties_of_world(OrderedJson const& told) {
  OrderedJson properties = told;
  OrderedJson outer = {{"description", "Told where it is not none."}};
  outer.update(told_schema(kinds::Words<Outer>{}));
  properties["outer"] = std::move(outer);
  return properties;
}

class SchemaParts {
 public:
  void add(std::string const& place, OrderedJson json) { all_.push_back({place, std::move(json)}); }
  /// An object all of whose properties have to be there.
  void add_whole(std::string const& place, OrderedJson const& properties) {
    add(place + "/required", names_of_properties(properties));
    add(place + "/properties", properties);
  }
  template <typename Enum>
  void add_words() {
    add("/$defs/" + std::string(definition_of<Enum>) + "/enum",
        enumeration(words_of<Enum>).at("enum"));
  }
  std::vector<SchemaPart> all() { return std::move(all_); }

 private:
  std::vector<SchemaPart> all_;
};

}  // namespace

std::vector<SchemaPart> engine_schema_parts() {
  auto const of_group = [](std::string_view key) { return is_among(key, key_names<AdamOverride>); };
  auto const settable = [](std::string_view key) {
    return is_among(key, key_names<SettingsChange>);
  };
  auto const of_world = [&](std::string_view key) { return !of_group(key); };
  std::string const open = "/$defs/open_request/properties/";
  std::string const set = "/$defs/set_request/properties/";
  SchemaParts parts;
  OrderedJson const mesh = told_properties<World>(of_world);
  parts.add(open + "world/required", names_of_properties(mesh));
  parts.add(open + "world/properties", properties_of_world(mesh));
  parts.add_whole(open + "groups/items", with_name(told_properties<AdamOverride>(of_group)));
  parts.add_whole(open + "optimizer", told_properties<Optimizer>(of_world));
  OrderedJson const types = told_properties<Precision>(of_world);
  parts.add(open + "precision/required", names_of_properties(types));
  parts.add(open + "precision/properties", properties_of_precision(types));
  parts.add(set + "groups/items/properties", with_name(told_properties<AdamOverride>(settable)));
  OrderedJson const changes = told_properties<SettingsChange>(of_world);
  for (auto const& [key, schema] : changes.items()) parts.add(set + key, schema);
  parts.add("/$defs/capabilities/properties", properties_with_meanings<Capabilities>());
  parts.add("/$defs/capabilities/required", required_keys<Capabilities>());
  parts.add("/$defs/precisions/properties", properties_with_meanings<PrecisionOffer>());
  parts.add("/$defs/precisions/required", required_keys<PrecisionOffer>());
  parts.add("/$defs/arithmetic/enum", enumeration(words_of<Arithmetic>).at("enum"));
  parts.add_words<Layout>();
  parts.add_words<AdamMode>();
  parts.add_words<StepCounter>();
  parts.add_words<GradientClass>();
  parts.add_words<ParamType>();
  parts.add_words<GradType>();
  parts.add_words<MainType>();
  parts.add_words<StateType>();
  return parts.all();
}

}  // namespace adamant::scenarios
