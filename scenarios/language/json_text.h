// JSON that somebody else wrote: it is parsed only where it is nested no deeper than anything of
// ours, because what prints, copies or compares a value walks down into it; and a number is an
// integer only where it is written as one. It knows no reader.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace adamant::scenarios {

inline constexpr int json_depth_max = 64;  // the same as of a scenario

/// Are lists and objects nested deeper than `json_depth_max`, as far as this is JSON?
bool is_nested_too_deep(std::string_view json);

inline constexpr char const* nested_too_deep = "nested deeper than 64 lists and objects";
static_assert(json_depth_max == 64);

/// Where keys keep their order each is looked for among all before it: what we write has some
/// hundred in one object at most.
inline constexpr int ordered_keys_max = 1000;

/// Has an object more keys than `ordered_keys_max`? REQUIRES: not nested too deep.
bool has_too_many_keys(std::string_view json);

template <typename Json>
inline constexpr bool keeps_order = requires {
  typename Json::object_t::Container;
};

/// Errors: Json::exception where it is no JSON, nested too deep, or has more keys in order than
/// that; where it `may_throw` not, a discarded value instead, as from Json::parse().
template <typename Json>
Json parse_json(std::string_view text, bool may_throw = true) {
  bool const is_deep = is_nested_too_deep(text);
  if (!is_deep && !(keeps_order<Json> && has_too_many_keys(text)))
    return Json::parse(text, nullptr, may_throw);
  if (!may_throw) return Json::value_t::discarded;
  throw Json::other_error::create(
      600, is_deep ? nested_too_deep : "more than 1000 keys in one object", nullptr);
}

/// Json::get() cuts floats off, and has no defined result for large ones.
///
/// Errors: Json::exception where this is no integer, or none of this type.
template <typename Integer, typename Json>
Integer integer_in(Json const& json) {
  auto const* const natural = json.template get_ptr<typename Json::number_unsigned_t const*>();
  auto const* const whole = json.template get_ptr<typename Json::number_integer_t const*>();
  if (natural != nullptr ? std::in_range<Integer>(*natural)
                         : whole != nullptr && std::in_range<Integer>(*whole))
    return static_cast<Integer>(*whole);
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

/// nlohmann's, but that it takes integers as integer_in() does, whatever is made of them.
template <typename T, typename = void>
struct StrictSerializer : nlohmann::adl_serializer<T> {};

template <typename T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct StrictSerializer<T, void>
    : nlohmann::adl_serializer<T> {
  template <typename Json>
  static void from_json(Json const& json, T& value) {
    value = integer_in<T>(json);
  }
};

/// Of what is read back: journals, campaigns, lines of workers. Keys stay in their order.
using StrictJson =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                         std::uint64_t, double, std::allocator, StrictSerializer>;

}  // namespace adamant::scenarios
