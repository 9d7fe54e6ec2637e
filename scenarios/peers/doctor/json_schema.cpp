#include "scenarios/peers/doctor/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace adamant::scenarios {

namespace {

using Json = nlohmann::json;
using Mismatches = std::vector<Mismatch>;

constexpr std::size_t excerpt_bytes = 80;

constexpr auto said_to_people =
    std::to_array<std::string_view>({"$schema", "$id", "$defs", "title", "description"});
constexpr auto understood = std::to_array<std::string_view>(
    {"$ref", "additionalProperties", "anyOf", "const", "enum", "exclusiveMaximum",
     "exclusiveMinimum", "items", "maxItems", "minItems", "minimum", "oneOf", "pattern",
     "properties", "required", "type"});

/// The only pattern there is: an absolute path.
constexpr std::string_view absolute_path = "^/";

bool contains(auto const& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string excerpt_of(Json const& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > excerpt_bytes) text = text.substr(0, excerpt_bytes) + "…";
  return text;
}

std::string listed(Json const& values) {
  std::string text;
  for (Json const& value : values) {
    if (!text.empty()) text += ", ";
    text += value.is_string() ? value.get<std::string>() : value.dump();
  }
  return text;
}

bool has_type(Json const& value, std::string const& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  throw std::invalid_argument("a type that is not understood: " + type);
}

/// One comparison of one value with one schema.
class Comparison {
 public:
  explicit Comparison(Json const& definitions) : definitions_(definitions) {}

  Mismatches compare(Json const& value, Json const& node, std::string const& where) {
    Mismatches found;
    if (node.contains("$ref")) found = compare(value, target(node), where);
    if (node.contains("type") && !has_type(value, node["type"].get<std::string>()))
      return {mismatch(value, where, "a value of type " + node["type"].get<std::string>())};
    auto const add = [&](Mismatches more) {
      found.insert(found.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
    };
    add(compare_words(value, node, where));
    if (value.is_object()) add(compare_object(value, node, where));
    if (value.is_array()) add(compare_array(value, node, where));
    if (value.is_number()) add(compare_number(value, node, where));
    if (value.is_string()) add(compare_text(value, node, where));
    if (node.contains("oneOf")) add(compare_alternatives(value, node["oneOf"], where, 1));
    if (node.contains("anyOf"))
      add(compare_alternatives(value, node["anyOf"], where, node["anyOf"].size()));
    return found;
  }

 private:
  static Mismatch mismatch(Json const& value, std::string where, std::string expected) {
    return {.where = std::move(where), .expected = std::move(expected), .found = excerpt_of(value)};
  }

  Json const& target(Json const& node) const {
    constexpr std::string_view prefix = "#/$defs/";
    return definitions_.at(node.at("$ref").get<std::string>().substr(prefix.size()));
  }

  static Mismatches compare_words(Json const& value, Json const& node, std::string const& where) {
    if (node.contains("const") && value != node["const"])
      return {mismatch(value, where, listed(Json::array({node["const"]})))};
    if (node.contains("enum") &&
        std::find(node["enum"].begin(), node["enum"].end(), value) == node["enum"].end())
      return {mismatch(value, where, "one of " + listed(node["enum"]))};
    return {};
  }

  Mismatches compare_object(Json const& value, Json const& node, std::string const& where) {
    Mismatches found;
    for (Json const& key : node.value("required", Json::array()))
      if (!value.contains(key.get<std::string>()))
        found.push_back(mismatch(value, where, "the field `" + key.get<std::string>() + "`"));
    Json const properties = node.value("properties", Json::object());
    Json const others = node.value("additionalProperties", Json(true));
    for (auto const& [key, member] : value.items()) {
      std::string const place = where.empty() ? key : where + "." + key;
      bool const known = properties.contains(key);
      if (!known && others == false) found.push_back(mismatch(member, place, "no such field"));
      if (!known && !others.is_object()) continue;
      for (Mismatch& one : compare(member, known ? properties[key] : others, place))
        found.push_back(std::move(one));
    }
    return found;
  }

  Mismatches compare_array(Json const& value, Json const& node, std::string const& where) {
    std::size_t const least = node.value("minItems", std::size_t{0});
    std::size_t const most = node.value("maxItems", value.size());
    if (value.size() < least)
      return {mismatch(value, where, fmt::format("at least {} entries", least))};
    if (value.size() > most)
      return {mismatch(value, where, fmt::format("at most {} entries", most))};
    Mismatches found;
    if (!node.contains("items")) return found;
    for (std::size_t i = 0; i < value.size(); ++i)
      for (Mismatch& one : compare(value[i], node["items"], fmt::format("{}[{}]", where, i)))
        found.push_back(std::move(one));
    return found;
  }

  static Mismatches compare_number(Json const& value, Json const& node, std::string const& where) {
    auto const number = value.get<double>();
    auto const limit = [&](char const* keyword) { return node[keyword].get<double>(); };
    if (node.contains("minimum") && number < limit("minimum"))
      return {mismatch(value, where, fmt::format("at least {}", limit("minimum")))};
    if (node.contains("exclusiveMinimum") && number <= limit("exclusiveMinimum"))
      return {mismatch(value, where, fmt::format("more than {}", limit("exclusiveMinimum")))};
    if (node.contains("exclusiveMaximum") && number >= limit("exclusiveMaximum"))
      return {mismatch(value, where, fmt::format("less than {}", limit("exclusiveMaximum")))};
    return {};
  }

  static Mismatches compare_text(Json const& value, Json const& node, std::string const& where) {
    if (node.contains("pattern") && !value.get<std::string>().starts_with('/'))
      return {mismatch(value, where, "an absolute path")};
    return {};
  }

  Mismatches compare_alternatives(Json const& value, Json const& alternatives,
                                  std::string const& where, std::size_t fitting_max) {
    std::size_t fitting = 0;
    std::pair<bool, Mismatches> nearest;
    for (Json const& alternative : alternatives) {
      std::pair<bool, Mismatches> missed{!words_fit(value, alternative),
                                         compare(value, alternative, where)};
      if (missed.second.empty()) ++fitting;
      if (&alternative == &alternatives.front() || is_nearer(missed, nearest))
        nearest = std::move(missed);
    }
    if (fitting > fitting_max)
      return {mismatch(value, where, fmt::format("only one of {} kinds", alternatives.size()))};
    return fitting > 0 ? Mismatches{} : nearest.second;
  }

  static bool is_nearer(std::pair<bool, Mismatches> const& a,
                        std::pair<bool, Mismatches> const& b) {
    return std::pair(a.first, a.second.size()) < std::pair(b.first, b.second.size());
  }

  /// Do the members of an object that an alternative names by words have these words?
  bool words_fit(Json const& value, Json const& alternative) const {
    if (alternative.contains("$ref")) return words_fit(value, target(alternative));
    if (!value.is_object()) return true;
    auto const properties = alternative.value("properties", Json::object());
    for (auto const& [key, node] : properties.items())
      if (value.contains(key) && !compare_words(value[key], node, key).empty()) return false;
    return true;
  }

  Json const& definitions_;
};

}  // namespace

JsonSchema::JsonSchema(Json schema) : schema_(std::move(schema)) {
  check(schema_, "schema");
}

void JsonSchema::check(Json const& node, std::string const& place) const {
  if (node.is_boolean()) return;
  for (auto const& [key, value] : node.items()) {
    if (key == "$defs" || key == "properties") {
      for (auto const& [name, part] : value.items()) check(part, place + "." + name);
    } else if (key == "oneOf" || key == "anyOf") {
      for (Json const& part : value) check(part, place + "." + key);
    } else if (key == "items" || key == "additionalProperties") {
      check(value, place + "." + key);
    } else if (key == "pattern" ? value != absolute_path
                                : !contains(said_to_people, key) && !contains(understood, key)) {
      throw std::invalid_argument(fmt::format("{}: `{}` is not understood", place, key));
    }
    if (key == "$ref") definition(value.get<std::string>().substr(std::string("#/$defs/").size()));
  }
}

std::vector<Mismatch> JsonSchema::mismatches(Json const& value, std::string_view name) const {
  return Comparison(definitions()).compare(value, definition(name), "");
}

JsonSchema::Json const& JsonSchema::definition(std::string_view name) const {
  auto const found = definitions().find(name);
  if (found == definitions().end())
    throw std::out_of_range(fmt::format("the schema does not define `{}`", name));
  return *found;
}

}  // namespace adamant::scenarios
