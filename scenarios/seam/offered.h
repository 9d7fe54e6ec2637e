// Refusals of single keys, by the table alone: a key names the capability that it needs, and its
// kind says what would be supported. What depends on more than one key is settings_refusals.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/table.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// "replicate: 1", or up to how many.
std::string replicas(std::int64_t max);

// ---- is a value offered, by the type of what is offered -----------------------------------------

/// Yes or no: only the default goes without.
template <typename Value>
bool is_offered(bool offered, Value const& value, Value const& usual) {
  return offered || value == usual;
}
inline bool is_offered(std::int64_t most, std::int64_t value, std::int64_t) {
  return value <= most;
}
template <typename Value>
bool is_offered(std::vector<Value> const& offered, Value const& value, Value const&) {
  return offers(offered, value);
}
inline bool is_offered(std::vector<LossScale::Kind> const& offered, LossScale const& value,
                       LossScale const&) {
  return offers(offered, value.kind);
}

// ---- what would be supported --------------------------------------------------------------------

inline std::string supported(kinds::Flag, bool) {
  return "supported: false";
}
inline std::string supported(kinds::Norm, bool) {
  return "supported: none";
}
inline std::string supported(kinds::Bug, bool) {
  return "this engine has none to switch on";
}
inline std::string supported(kinds::Integer, std::int64_t most) {
  return "supported: " + replicas(most);
}
inline std::string supported(kinds::Flag, std::vector<bool> const& offered) {
  return offers(offered, true) ? "supported: true" : "supported: false";
}
inline std::string supported(kinds::Words<Outer>, std::vector<Outer> const& offered) {
  return "supported: outer: " + listed(offered);
}
template <typename Kind, typename Enum>
std::string supported(Kind, std::vector<Enum> const& offered) {
  return "supported: " + listed(offered);
}

// ---- refusals -----------------------------------------------------------------------------------

/// Does the engine offer what `whole` has under this key?
template <typename T, typename Row>
bool is_key_offered(Row const& row, T const& whole, Capabilities const& able) {
  auto const& value = value_at(whole, row.place);
  if constexpr (may_be_absent<T, Row>) {
    return !value || is_offered(able.*(row.offer), *value, typename KindOf<Row>::Value{});
  } else {
    return is_offered(able.*(row.offer), value, value_at(T{}, row.place));
  }
}

/// The refusal of what `whole` has under this key, or none.
template <typename T, typename Place, typename Kind, typename Offer>
std::optional<Refusal> refuse_key(Key<Place, Kind, Offer> const& row, T const& whole,
                                  Capabilities const& able, SourceLine line) {
  if constexpr (!std::is_same_v<Offer, NoOffer>) {
    if (is_key_offered(row, whole, able)) return std::nullopt;
    std::string_view const reason = row.about.reason.empty() ? row.key : row.about.reason;
    return unsupported(
        reason, std::string(reason) + " is asked for; " + supported(row.kind, able.*(row.offer)),
        line);
  } else {
    return std::nullopt;
  }
}

/// The first refusal of a key of `whole`, in the order of the table; `line_of(key)` is where a key
/// stands.
template <typename T, typename LineOf>
std::optional<Refusal> refuse_keys(T const& whole, Capabilities const& able,
                                   LineOf const& line_of) {
  std::optional<Refusal> refusal;
  for_each_key<T>([&](auto const& row) {
    if (!refusal) refusal = refuse_key(row, whole, able, line_of(row.key));
  });
  return refusal;
}

}  // namespace adamant::scenarios
