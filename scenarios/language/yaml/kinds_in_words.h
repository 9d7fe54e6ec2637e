// What each kind of value takes, in the words of messages and of `adamant help`, and one value of
// it as an example.
#pragma once

#include <string>

#include "scenarios/language/verbs.h"

namespace adamant::scenarios {

// ---- what is accepted ---------------------------------------------------------------------------

template <typename Enum>
std::string values_of(kinds::Words<Enum>) {
  return list_words(words_of<Enum>);
}
std::string values_of(kinds::Flag);
std::string values_of(kinds::Real kind);
std::string values_of(kinds::Fraction);
std::string values_of(kinds::Integer kind);
std::string values_of(kinds::Seed);
std::string values_of(kinds::Text);
std::string values_of(kinds::Name);
std::string values_of(kinds::Names);
std::string values_of(kinds::Parts);
std::string values_of(kinds::Earlier);
std::string values_of(kinds::Version);
std::string values_of(kinds::Worlds);
std::string values_of(kinds::Betas);
std::string values_of(kinds::Norm);
std::string values_of(kinds::Scale);
std::string values_of(kinds::Shape);
std::string values_of(kinds::Params);
std::string values_of(kinds::Groups);
std::string values_of(kinds::Offloaded);
std::string values_of(kinds::Operations);
std::string values_of(kinds::EngineName);
std::string values_of(kinds::EngineOptions);
std::string values_of(kinds::Choices);
std::string values_of(kinds::Bug);
std::string values_of(kinds::Expected);

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
template <typename Enum>
Enum example_of(kinds::Words<Enum>, Enum usual) {
  return static_cast<Enum>(usual == Enum{} ? 1 : 0);
}
bool example_of(kinds::Flag, bool usual);
float example_of(kinds::Real, float usual);
double example_of(kinds::Fraction, double usual);
std::int64_t example_of(kinds::Integer kind, std::int64_t usual);
std::uint64_t example_of(kinds::Seed, std::uint64_t usual);
std::string example_of(kinds::Text, std::string const& usual);
std::string example_of(kinds::Name, std::string const& usual);
std::vector<std::string> example_of(kinds::Names, std::vector<std::string> const& usual);
std::vector<std::string> example_of(kinds::Parts, std::vector<std::string> const& usual);
std::string example_of(kinds::Earlier, std::string const& usual);
std::int64_t example_of(kinds::Version, std::int64_t usual);
std::vector<World> example_of(kinds::Worlds, std::vector<World> const& usual);
std::array<float, 2> example_of(kinds::Betas, std::array<float, 2> const& usual);
Clip example_of(kinds::Norm, Clip const& usual);
LossScale example_of(kinds::Scale, LossScale const& usual);
std::vector<std::int64_t> example_of(kinds::Shape, std::vector<std::int64_t> const& usual);
kinds::Params::Value example_of(kinds::Params, kinds::Params::Value const& usual);
std::vector<Group> example_of(kinds::Groups, std::vector<Group> const& usual);
Offload example_of(kinds::Offloaded, Offload const& usual);
std::vector<Operation> example_of(kinds::Operations, std::vector<Operation> const& usual);
std::string example_of(kinds::EngineName, std::string const& usual);
kinds::EngineOptions::Value example_of(kinds::EngineOptions,
                                       kinds::EngineOptions::Value const& usual);
std::vector<std::uint32_t> example_of(kinds::Choices, std::vector<std::uint32_t> const& usual);
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
