// From a struct to the map that a table of keys says it is: one walk for all of them, on one line,
// without what has its default. What one value looks like is said kind by kind.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "scenarios/language/verbs.h"
#include "scenarios/language/yaml/scalar.h"

namespace adamant::scenarios {

/// YAML's flow collections, "{a: 1, b: 2}" and "[1, 2]", put together from parts in order.
class Flow {
 public:
  explicit Flow(char open, char close) : open_(open), close_(close) {}

  void add(std::string const& part) { parts_ += (parts_.empty() ? "" : ", ") + part; }
  void add(std::string_view key, std::string const& value) { add(std::string(key) + ": " + value); }
  bool empty() const { return parts_.empty(); }
  std::string text() const { return open_ + parts_ + close_; }

 private:
  char open_;
  char close_;
  std::string parts_;
};

inline Flow flow_map() {
  return Flow('{', '}');
}
inline Flow flow_list() {
  return Flow('[', ']');
}

/// Truth values, numbers, texts, and lists of them.
template <typename Value>
inline constexpr bool is_plain = std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>;
template <typename One>
inline constexpr bool is_plain<std::vector<One>> = is_plain<One>;
template <typename One, std::size_t count>
inline constexpr bool is_plain<std::array<One, count>> = is_plain<One>;

template <typename Value>
std::string write_plain(Value const& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<Value>) {
    return write_number(value);
  } else if constexpr (std::is_integral_v<Value>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return write_text(value);
  } else {
    Flow list = flow_list();
    for (auto const& one : value) list.add(write_plain(one));
    return list.text();
  }
}

// ---- one value ----------------------------------------------------------------------------------

template <typename Kind>
requires is_plain<typename Kind::Value> std::string write_value(Kind const&,
                                                                typename Kind::Value const& value) {
  return write_plain(value);
}
template <typename Enum>
std::string write_value(kinds::Words<Enum>, Enum value) {
  return std::string(word_for(value));
}

std::string write_value(kinds::Worlds, std::vector<World> const& value);
std::string write_value(kinds::Norm, Clip const& value);
std::string write_value(kinds::Scale, LossScale const& value);
std::string write_value(kinds::Params, kinds::Params::Value const& value);
std::string write_value(kinds::Groups, std::vector<Group> const& value);
std::string write_value(kinds::Offloaded, Offload const& value);
std::string write_value(kinds::Operations, std::vector<Operation> const& value);
std::string write_value(kinds::EngineOptions, kinds::EngineOptions::Value const& value);
std::string write_value(kinds::Expected, Expectation const& value);

template <typename T>
std::string write_map(T const& whole);

template <typename T>
std::string write_value(kinds::Map<T>, T const& value) {
  return write_map(value);
}
template <typename T>
std::string write_value(kinds::Maps<T>, std::vector<T> const& value) {
  Flow list = flow_list();
  for (T const& one : value) list.add(write_map(one));
  return list.text();
}

// ---- a map --------------------------------------------------------------------------------------

/// Does `whole` say the key of that name, so that it is not at its default?
template <typename T>
bool says(T const& whole, std::string_view key) {
  bool said = false;
  for_each_key<T>(
      [&](auto const& row) { said = said || (row.key == key && !is_default(whole, row)); });
  return said;
}

/// Calls `write(row, value)` for every key that a file has to say.
template <typename T, typename Write>
void for_each_written_key(T const& whole, Write const& write) {
  for_each_key<T>([&](auto const& row) {
    using Row = std::remove_cvref_t<decltype(row)>;
    auto const& value = value_at(whole, row.place);
    if constexpr (may_be_absent<T, Row>) {
      if (value) write(row, *value);
    } else {
      bool const spared = !row.about.unless.empty() && says(whole, row.about.unless);
      if (!spared && (row.about.required || !is_default(whole, row))) write(row, value);
    }
  });
}

/// The value of one key. REQUIRES: it is there.
template <typename T, typename Row>
std::string write_key(T const& whole, Row const& row) {
  auto const& value = value_at(whole, row.place);
  if constexpr (may_be_absent<T, Row>) {
    return write_value(row.kind, *value);
  } else {
    return write_value(row.kind, value);
  }
}

template <typename T>
std::string write_map(T const& whole) {
  Flow map = flow_map();
  for_each_written_key(whole, [&](auto const& row, auto const& value) {
    map.add(row.key, write_value(row.kind, value));
  });
  return map.text();
}

// ---- an action ----------------------------------------------------------------------------------

/// What stands behind a verb; empty for a bare word.
template <typename Struct>
std::string write_argument(NoArgument, Struct const&) {
  return "";
}
template <typename Struct>
std::string write_argument(OptionalKeys, Struct const& action) {
  return action == Struct{} ? "" : write_map(action);
}
template <typename Struct>
std::string write_argument(NameOrKeys, Struct const& action) {
  auto const& name = std::get<0>(keys_of<Struct>);
  Struct name_alone;
  put(name_alone, name.place, value_at(action, name.place));
  return action == name_alone ? write_value(name.kind, value_at(action, name.place))
                              : write_map(action);
}
template <typename Struct, typename Place, typename Kind>
std::string write_argument(OneValue<Place, Kind> const& one, Struct const& action) {
  return write_value(one.kind, value_at(action, one.place));
}

/// A bare word, or "word: argument".
template <typename AnyAction>
std::string write_action(AnyAction const& action) {
  std::string text;
  for_each_verb<AnyAction>([&](auto const& verb) {
    auto const* const one =
        std::get_if<typename std::remove_cvref_t<decltype(verb)>::Action>(&action);
    if (one == nullptr) return;
    std::string const argument = write_argument(verb.argument, *one);
    text = verb.word;
    if (!argument.empty()) text += ": " + argument;
  });
  return text;
}

}  // namespace adamant::scenarios
