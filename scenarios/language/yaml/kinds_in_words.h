// What each kind of value takes, in the words of messages and of `adamant help`, and one value of
// it as an example.
#pragma once

#include <string>

#include "scenarios/language/verbs.h"

namespace adamant::scenarios {

// ---- what is accepted ---------------------------------------------------------------------------

template <typename Kind>
requires requires {
  Kind::in_words;
}
std::string values_of(Kind const&) {
  return std::string(Kind::in_words);
}
template <typename Enum>
std::string values_of(kinds::Words<Enum>) {
  return list_words(words_of<Enum>);
}
std::string values_of(kinds::Real kind);
std::string values_of(kinds::Integer kind);
std::string values_of(kinds::Worlds);
std::string values_of(kinds::Norm);
std::string values_of(kinds::Scale);
std::string values_of(kinds::EngineName);

template <typename T>
std::string values_of(kinds::Map<T>) {
  return "a map with keys among " + list_words(key_names<T>);
}
template <typename T>
std::string values_of(kinds::Maps<T> kind) {
  return "a list of " + std::string(kind.of_what) + ", each " + values_of(kinds::Map<T>{});
}

// ---- an example ---------------------------------------------------------------------------------

/// Names are "a" in all of them, and that of an earlier parameter "b".
template <typename Kind>
requires requires {
  Kind::example();
}
typename Kind::Value example_of(Kind const&, typename Kind::Value const&) {
  return Kind::example();
}
template <typename Enum>
Enum example_of(kinds::Words<Enum>, Enum usual) {
  return static_cast<Enum>(usual == Enum{} ? 1 : 0);
}
bool example_of(kinds::Flag, bool usual);
std::int64_t example_of(kinds::Integer kind, std::int64_t usual);
std::int64_t example_of(kinds::Version, std::int64_t usual);
kinds::Params::Value example_of(kinds::Params, kinds::Params::Value const& usual);
std::vector<Group> example_of(kinds::Groups, std::vector<Group> const& usual);
std::string example_of(kinds::EngineName, std::string const& usual);
std::string example_of(kinds::Bug, std::string const& usual);
Expectation example_of(kinds::Expected, Expectation const& usual);

/// What a key makes necessary beside itself.
template <typename T>
void complete_example(T&) {}
void complete_example(Again& again);
void complete_example(Schedule& schedule);
void complete_example(Param& param);

/// What stands before an example in a file.
template <typename T>
std::string before_example(T const&) {
  return std::string(map_name<T>.before);
}
std::string before_example(Param const& param);

template <typename T, typename Row>
void put_example(T& whole, Row const& row) {
  using Value = typename KindOf<Row>::Value;
  if constexpr (may_be_absent<T, Row>) {
    put(whole, row.place, std::optional<Value>(example_of(row.kind, Value{})));
  } else {
    put(whole, row.place, Value(example_of(row.kind, value_at(T{}, row.place))));
  }
}

/// A T that says its key `row`, and what it has to say.
template <typename T, typename Row>
T example_with(Row const& row) {
  T whole{};
  for_each_key<T>([&](auto const& other) {
    if (other.about.required || other.key == row.key) put_example(whole, other);
  });
  complete_example(whole);
  return whole;
}

template <typename T>
T example_of(kinds::Map<T>, T const&) {
  return example_with<T>(std::get<0>(keys_of<T>));
}
template <typename T>
std::vector<T> example_of(kinds::Maps<T>, std::vector<T> const&) {
  return {example_with<T>(std::get<0>(keys_of<T>))};
}

}  // namespace adamant::scenarios
