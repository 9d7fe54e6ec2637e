// One row of the language's tables: a key of a map, with all that is said of it in one place. Also
// the walks over such rows that reader, writer, schemas, minimiser and help share. Which keys there
// are is table.h.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "scenarios/language/features.h"

namespace adamant::scenarios {

/// What is said of a key, or of a verb, beside what it takes.
struct About {
  std::string_view meaning = {};  // one line for people
  bool required = false;          // no default: it has to be written
  std::string_view unless = {};   // where it is required: but not beside this key
  bool told = false;              // to engines in other processes, by `open` and `set`
  std::string_view reason = {};   // of a refusal, unsupported.<reason>; empty: the key itself
  /// What makes a scenario special: value number i, from 1, has feature i - 1. Number 0 is the
  /// default; what is no list of words has one value more, any other.
  FeaturesOfValues features = {};
};

/// Where no capability is needed.
struct NoOffer {};

/// A key: `place` is where its value lies in the struct that the map becomes (a pointer to a
/// member, or something with get and set), `kind` what it takes (kinds.h), `offer` the member of
/// Capabilities that says what of it an engine does.
template <typename Place, typename Kind, typename Offer = NoOffer>
struct Key {
  std::string_view key;
  Place place;
  Kind kind;
  About about;
  Offer offer = {};
};

template <typename Place, typename Kind>
Key(std::string_view, Place, Kind, About) -> Key<Place, Kind, NoOffer>;
template <typename Place, typename Kind, typename Offer>
Key(std::string_view, Place, Kind, About, Offer) -> Key<Place, Kind, Offer>;

/// The keys of the map that a T is written as, in the order in which they are written and listed.
template <typename T>
inline constexpr auto keys_of = std::tuple<>{};

// ---- places -------------------------------------------------------------------------------------

/// A place in a member.
template <typename Outer, typename Inner>
struct Within {
  Outer outer;
  Inner inner;
};

template <typename Whole, typename Place>
decltype(auto) value_at(Whole const& whole, Place const& place) {
  if constexpr (std::is_member_object_pointer_v<Place>) {
    return (whole.*place);
  } else {
    return place.get(whole);
  }
}
template <typename Whole, typename Outer, typename Inner>
decltype(auto) value_at(Whole const& whole, Within<Outer, Inner> const& place) {
  return value_at(whole.*(place.outer), place.inner);
}

template <typename Whole, typename Place, typename Value>
void put(Whole& whole, Place const& place, Value value) {
  if constexpr (std::is_member_object_pointer_v<Place>) {
    whole.*place = std::move(value);
  } else {
    place.set(whole, std::move(value));
  }
}
template <typename Whole, typename Outer, typename Inner, typename Value>
void put(Whole& whole, Within<Outer, Inner> const& place, Value value) {
  put(whole.*(place.outer), place.inner, std::move(value));
}

/// `key` of a struct, as a key of another that has it in its member `outer`.
template <typename Outer, typename Place, typename Kind, typename Offer>
constexpr auto within(Outer outer, Key<Place, Kind, Offer> const& key) {
  return Key{key.key, Within<Outer, Place>{outer, key.place}, key.kind, key.about, key.offer};
}

/// The same of all keys of a table.
template <typename Outer, typename... Rows>
constexpr auto within(Outer outer, std::tuple<Rows...> const& rows) {
  return std::apply([&](auto const&... key) { return std::tuple{within(outer, key)...}; }, rows);
}

// ---- values -------------------------------------------------------------------------------------

template <typename Row>
using KindOf = decltype(Row::kind);

/// May a T be without the value of this key?
template <typename T, typename Row>
inline constexpr bool may_be_absent =
    std::is_same_v<std::remove_cvref_t<decltype(value_at(std::declval<T const&>(),
                                                         std::declval<Row const&>().place))>,
                   std::optional<typename KindOf<Row>::Value>>;

/// Has it the value that it has where nothing is said?
template <typename T, typename Row>
bool is_default(T const& whole, Row const& row) {
  return value_at(whole, row.place) == value_at(T{}, row.place);
}

template <typename T, typename Row>
void reset(T& whole, Row const& row) {
  T const fresh{};
  put(whole, row.place, value_at(fresh, row.place));
}

// ---- walks --------------------------------------------------------------------------------------

/// Calls `visit(row)` for every key of T, in order.
template <typename T, typename Visit>
constexpr void for_each_key(Visit const& visit) {
  std::apply([&](auto const&... row) { (visit(row), ...); }, keys_of<T>);
}

template <typename T>
inline constexpr std::size_t key_count =
    std::tuple_size_v<std::remove_cvref_t<decltype(keys_of<T>)>>;

template <typename... Rows>
constexpr auto names_of(std::tuple<Rows...> const& rows) {
  return std::apply(
      [](auto const&... row) { return std::array<std::string_view, sizeof...(row)>{row.key...}; },
      rows);
}

/// The keys of T as they are written.
template <typename T>
inline constexpr auto key_names = names_of(keys_of<T>);

/// The number of a key of T. REQUIRES: there is one of that name.
template <typename T>
consteval std::size_t index_of_key(std::string_view name) {
  std::size_t index = 0;
  while (key_names<T>.at(index) != name) ++index;
  return index;
}

/// Calls `visit(row of Change, row of Whole)` for every key of Change, with the key of the same
/// name that Whole has.
template <typename Whole, typename Change, typename Visit>
constexpr void for_each_common_key(Visit const& visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit(std::get<I>(keys_of<Change>),
           std::get<index_of_key<Whole>(key_names<Change>[I])>(keys_of<Whole>)),
     ...);
  }
  (std::make_index_sequence<key_count<Change>>());
}

/// `whole` with everything that `change` names replaced.
template <typename Whole, typename Change>
Whole changed(Whole whole, Change const& change) {
  for_each_common_key<Whole, Change>([&](auto const& from, auto const& to) {
    if (auto const& value = value_at(change, from.place)) put(whole, to.place, *value);
  });
  return whole;
}

/// What leads from one to the other: changed(from, difference_of<Change>(from, to)) is `to`, as far
/// as a Change can say it.
template <typename Change, typename Whole>
Change difference_of(Whole const& from, Whole const& to) {
  Change change;
  for_each_common_key<Whole, Change>([&](auto const& in_change, auto const& in_whole) {
    auto const& value = value_at(to, in_whole.place);
    using Given = std::remove_cvref_t<decltype(value_at(change, in_change.place))>;
    if (value != value_at(from, in_whole.place)) put(change, in_change.place, Given(value));
  });
  return change;
}

}  // namespace adamant::scenarios
