// JSON Schemas of the language, made from its tables: what an editor checks while somebody writes a
// scenario is what the reader takes. It says nothing of names that must be defined elsewhere.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "scenarios/language/verbs.h"

namespace adamant::scenarios {

using OrderedJson = nlohmann::ordered_json;

/// scenarios/schema.json.
OrderedJson scenario_schema();

// ---- one value ----------------------------------------------------------------------------------

OrderedJson reference_to(std::string_view definition);

/// A value with what people are told of it: what an editor shows beside the key.
OrderedJson described(std::string_view meaning, OrderedJson const& value);

template <typename Words>
OrderedJson enumeration(Words const& words) {
  OrderedJson list = OrderedJson::array();
  for (std::string_view const word : words) list.push_back(std::string(word));
  return {{"enum", std::move(list)}};
}

template <typename Kind>
requires requires {
  Kind::definition;
}
OrderedJson schema_of(Kind const&) {
  return reference_to(Kind::definition);
}
template <typename Enum>
OrderedJson schema_of(kinds::Words<Enum>) {
  return enumeration(words_of<Enum>);
}
/// In several maps, so defined once.
inline OrderedJson schema_of(kinds::Words<Layout>) {
  return reference_to("layout");
}
OrderedJson schema_of(kinds::Flag);
OrderedJson schema_of(kinds::Real kind);
OrderedJson schema_of(kinds::Fraction);
OrderedJson schema_of(kinds::Integer kind);
OrderedJson schema_of(kinds::Seed);
OrderedJson schema_of(kinds::Text);
OrderedJson schema_of(kinds::Names);
OrderedJson schema_of(kinds::Parts);
OrderedJson schema_of(kinds::Version);
OrderedJson schema_of(kinds::Worlds);
OrderedJson schema_of(kinds::Groups);
OrderedJson schema_of(kinds::Offloaded);
OrderedJson schema_of(kinds::EngineName);
OrderedJson schema_of(kinds::EngineOptions);
OrderedJson schema_of(kinds::Choices);
OrderedJson schema_of(kinds::Expected);

template <typename T>
OrderedJson schema_of(kinds::Map<T>) {
  return reference_to(map_name<T>.name);
}
template <typename T>
OrderedJson schema_of(kinds::Maps<T>) {
  return {{"type", "array"}, {"items", reference_to(map_name<T>.name)}};
}

// ---- a map --------------------------------------------------------------------------------------

/// What a map with the keys of T may contain.
template <typename T>
OrderedJson schema_of_map() {
  OrderedJson schema = OrderedJson::object();
  if (!map_name<T>.meaning.empty()) schema["description"] = std::string(map_name<T>.meaning);
  schema["type"] = "object";
  schema["additionalProperties"] = false;
  schema["properties"] = OrderedJson::object();
  OrderedJson required = OrderedJson::array();
  for_each_key<T>([&](auto const& row) {
    schema["properties"][std::string(row.key)] = described(row.about.meaning, schema_of(row.kind));
    std::string const key(row.key);
    std::string const unless(row.about.unless);
    if (!unless.empty()) {
      for (std::string const& either : {key, unless})
        schema["oneOf"].push_back({{"required", OrderedJson::array({either})}});
    } else if (row.about.required) {
      required.push_back(key);
    }
  });
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

// ---- operations ---------------------------------------------------------------------------------

/// What may stand behind a verb.
template <typename Struct>
OrderedJson schema_of_argument(NoArgument) {
  return {{"not", OrderedJson::object()}};
}
template <typename Struct>
OrderedJson schema_of_argument(OptionalKeys) {
  return reference_to(map_name<Struct>.name);
}
template <typename Struct>
OrderedJson schema_of_argument(NameOrKeys) {
  return {{"oneOf", {schema_of(kinds::Name{}), reference_to(map_name<Struct>.name)}}};
}
template <typename Struct, typename Place, typename Kind>
OrderedJson schema_of_argument(OneValue<Place, Kind> const& one) {
  return schema_of(one.kind);
}

/// One operation with its argument.
template <typename AnyAction>
OrderedJson schema_of_operation() {
  OrderedJson properties = OrderedJson::object();
  for_each_verb<AnyAction>([&](auto const& verb) {
    using Struct = typename std::remove_cvref_t<decltype(verb)>::Action;
    properties[std::string(verb.word)] =
        described(verb.meaning, schema_of_argument<Struct>(verb.argument));
  });
  return {{"description", "One operation with its argument."},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)},
          {"minProperties", 1},
          {"maxProperties", 1}};
}

/// A list of operations, of which some are bare words.
template <typename AnyAction>
OrderedJson schema_of_program() {
  OrderedJson either = OrderedJson::array();
  for_each_verb<AnyAction>([&](auto const& verb) {
    if constexpr (may_be_bare<std::remove_cvref_t<decltype(verb.argument)>>)
      either.push_back(described(verb.meaning, {{"const", std::string(verb.word)}}));
  });
  either.push_back(reference_to("operation"));
  return {{"type", "array"}, {"minItems", 1}, {"items", {{"oneOf", std::move(either)}}}};
}

/// `json` over lines of at most 120 characters, where its texts are short enough, from column
/// `indent` on; `before` and `behind` stand in its first and last line.
std::string text_of(OrderedJson const& json, std::size_t indent = 0, std::string const& before = "",
                    std::string const& behind = "");

}  // namespace adamant::scenarios
