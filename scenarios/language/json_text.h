// JSON that somebody else wrote: it is parsed only where it is nested no deeper than anything of
// ours, because what prints, copies or compares a value walks down into it; and a number is an
// integer only where it is written as one. It knows no reader.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adamant::scenarios {

inline constexpr int json_depth_max = 64;  // the same as of a scenario

/// Are lists and objects nested deeper than `json_depth_max`, as far as this is JSON?
bool is_nested_too_deep(std::string_view json);

/// Errors: Json::exception where it is no JSON, or nested too deep; where it `may_throw` not, a
/// discarded value instead, as from Json::parse().
template <typename Json>
Json parse_json(std::string_view text, bool may_throw = true) {
  if (!is_nested_too_deep(text)) return Json::parse(text, nullptr, may_throw);
  if (!may_throw) return Json::value_t::discarded;
  throw Json::other_error::create(
      600, "nested deeper than " + std::to_string(json_depth_max) + " lists and objects", nullptr);
}

/// Json::get() cuts floats off, and has no defined result for large ones.
///
/// Errors: Json::exception where this is no integer, or none of this type.
template <typename Integer, typename Json>
Integer integer_in(Json const& json) {
  bool const fits =
      json.is_number_unsigned()
          ? std::in_range<Integer>(json.template get<std::uint64_t>())
          : json.is_number_integer() && std::in_range<Integer>(json.template get<std::int64_t>());
  if (fits) return json.template get<Integer>();
  throw Json::type_error::create(302, "expected an integer, found " + json.dump(), &json);
}

/// The same of a list.
template <typename Integer, typename Json>
std::vector<Integer> integers_in(Json const& json) {
  if (!json.is_array())
    throw Json::type_error::create(302, "expected a list of integers, found " + json.dump(), &json);
  std::vector<Integer> integers;
  for (Json const& number : json) integers.push_back(integer_in<Integer>(number));
  return integers;
}

}  // namespace adamant::scenarios
