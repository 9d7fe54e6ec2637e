#include "scenarios/language/schema/engine_parts.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "scenarios/language/capability_table.h"

namespace adamant::scenarios {

namespace {

// ---- one value, as the protocol has it ----------------------------------------------------------

/// An enumeration that is defined by itself, under this name.
template <typename Enum>
struct Defined {
  std::string_view name;
};
constexpr std::tuple defined_enumerations{
    Defined<Layout>{"layout"},
    Defined<AdamMode>{"mode"},
    Defined<StepCounter>{"step_counter"},
    Defined<GradientClass>{"gradients"},
    Defined<ParamType>{"param_type"},
    Defined<GradType>{"grad_type"},
    Defined<MainType>{"main_type"},
    Defined<StateType>{"state_type"},
};

/// Of one that is not: empty.
template <typename Enum>
constexpr std::string_view definition_of = std::apply(
    [](auto const&... one) {
      std::string_view name;
      ((name = std::is_same_v<decltype(one), Defined<Enum> const&> ? one.name : name), ...);
      return name;
    },
    defined_enumerations);

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

/// Properties, and one that is told only where it is said to be.
template <typename Kind>
OrderedJson with_seldom_told(OrderedJson properties, std::string const& key, Kind const& kind,
                             std::string_view when) {
  properties[key] = described(when, told_schema(kind));
  return properties;
}

/// A schema, part by part.
class Schema {
 public:
  explicit Schema(OrderedJson json) : json_(std::move(json)) {}

  void put(std::string const& place, OrderedJson part) {
    json_.at(OrderedJson::json_pointer(place)) = std::move(part);
  }
  /// An object all of whose properties have to be there.
  void put_whole(std::string const& place, OrderedJson const& properties) {
    put(place + "/required", names_of_properties(properties));
    put(place + "/properties", properties);
  }
  template <typename T>
  void put_keys(std::string const& place) {
    put(place + "/properties", properties_with_meanings<T>());
    put(place + "/required", required_keys<T>());
  }
  template <typename Enum>
  void put_words(std::string_view definition) {
    put("/$defs/" + std::string(definition) + "/enum", enumeration(words_of<Enum>).at("enum"));
  }
  OrderedJson json() { return std::move(json_); }

 private:
  OrderedJson json_;
};

}  // namespace

OrderedJson with_engine_parts(OrderedJson json) {
  auto const of_group = [](std::string_view key) { return is_among(key, key_names<AdamOverride>); };
  auto const settable = [](std::string_view key) {
    return is_among(key, key_names<SettingsChange>);
  };
  auto const of_world = [&](std::string_view key) { return !of_group(key); };
  std::string const open = "/$defs/open_request/properties/";
  std::string const set = "/$defs/set_request/properties/";
  Schema schema(std::move(json));
  OrderedJson const mesh = told_properties<World>(of_world);
  schema.put_whole(open + "world", mesh);
  schema.put(open + "world/properties",
             with_seldom_told(mesh, "outer", kinds::Words<Outer>{}, "Told where it is not none."));
  schema.put_whole(open + "groups/items", with_name(told_properties<AdamOverride>(of_group)));
  schema.put_whole(open + "optimizer", told_properties<Optimizer>(of_world));
  OrderedJson const types = told_properties<Precision>(of_world);
  schema.put_whole(open + "precision", types);
  schema.put(open + "precision/properties",
             with_seldom_told(types, "state_scale", kinds::Words<StateScale>{},
                              "What a scale of fp16 and fp8 states covers: the whole tensor, or "
                              "each rank's rows; with none, fp16 states are plain numbers. Left "
                              "out where no state is of these types."));
  schema.put(set + "groups/items/properties", with_name(told_properties<AdamOverride>(settable)));
  OrderedJson const changes = told_properties<SettingsChange>(of_world);
  for (auto const& [key, change] : changes.items()) schema.put(set + key, change);
  schema.put_keys<Capabilities>("/$defs/capabilities");
  schema.put_keys<PrecisionOffer>("/$defs/precisions");
  schema.put_words<Arithmetic>("arithmetic");
  std::apply([&]<typename... Enums>(
                 Defined<Enums> const&... one) { (schema.put_words<Enums>(one.name), ...); },
             defined_enumerations);
  return schema.json();
}

}  // namespace adamant::scenarios
