// Values of the language as the protocol writes and reads them: words as texts, settings as the
// binary32 numbers that they are. Which keys an engine in another process is told is the table's.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/language/table.h"

namespace adamant::scenarios {

template <typename Enum>
nlohmann::json json_of(kinds::Words<Enum>, Enum value) {
  return word_for(value);
}
inline nlohmann::json json_of(kinds::Flag, bool value) {
  return value;
}
inline nlohmann::json json_of(kinds::Integer, std::int64_t value) {
  return value;
}
inline nlohmann::json json_of(kinds::Real, float value) {
  return value;
}
inline nlohmann::json json_of(kinds::Betas, std::array<float, 2> const& value) {
  return value;
}
inline nlohmann::json json_of(kinds::Norm, Clip const& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}
inline nlohmann::json json_of(kinds::Scale, LossScale const& value) {
  if (value.kind == LossScale::Kind::fixed) return value.value;
  return value.kind == LossScale::Kind::dynamic ? "dynamic" : "none";
}

/// Is it a setting that every group has a value of?
constexpr bool is_of_groups(std::string_view key) {
  auto const& keys = key_names<AdamOverride>;
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// Adds the keys that engines are told and that `wanted(key)` names, those that are there.
template <typename T, typename Wanted>
void tell_keys(T const& whole, Wanted const& wanted, nlohmann::json& message) {
  for_each_key<T>([&](auto const& row) {
    using Row = std::remove_cvref_t<decltype(row)>;
    if constexpr (requires { json_of(row.kind, typename KindOf<Row>::Value{}); }) {
      if (!row.about.told || !wanted(row.key)) return;
      auto const& value = value_at(whole, row.place);
      if constexpr (may_be_absent<T, Row>) {
        if (value) message[std::string(row.key)] = json_of(row.kind, *value);
      } else {
        message[std::string(row.key)] = json_of(row.kind, value);
      }
    }
  });
}

}  // namespace adamant::scenarios
