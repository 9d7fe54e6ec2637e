// From a map of a document to the struct that a table of keys says it is: one walk for all of them.
// What one value looks like is said kind by kind; those that are odd stand in decode_*.cpp.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/table.h"
#include "scenarios/language/yaml/reader.h"

namespace adamant::scenarios {

// ---- one value: nothing where a problem was noted -----------------------------------------------

template <typename Kind>
using Read = std::optional<typename Kind::Value>;

Read<kinds::Flag> read_value(Reader& reader, Field const& field, kinds::Flag kind);
Read<kinds::Real> read_value(Reader& reader, Field const& field, kinds::Real kind);
Read<kinds::Fraction> read_value(Reader& reader, Field const& field, kinds::Fraction kind);
Read<kinds::Integer> read_value(Reader& reader, Field const& field, kinds::Integer kind);
Read<kinds::Seed> read_value(Reader& reader, Field const& field, kinds::Seed kind);
Read<kinds::Text> read_value(Reader& reader, Field const& field, kinds::Text);
Read<kinds::Name> read_value(Reader& reader, Field const& field, kinds::Name kind);
Read<kinds::Names> read_value(Reader& reader, Field const& field, kinds::Names kind);
Read<kinds::Parts> read_value(Reader& reader, Field const& field, kinds::Parts);
Read<kinds::Earlier> read_value(Reader& reader, Field const& field, kinds::Earlier);
Read<kinds::Version> read_value(Reader& reader, Field const& field, kinds::Version kind);
Read<kinds::Worlds> read_value(Reader& reader, Field const& field, kinds::Worlds kind);
Read<kinds::Betas> read_value(Reader& reader, Field const& field, kinds::Betas kind);
Read<kinds::Norm> read_value(Reader& reader, Field const& field, kinds::Norm kind);
Read<kinds::Scale> read_value(Reader& reader, Field const& field, kinds::Scale kind);
Read<kinds::Shape> read_value(Reader& reader, Field const& field, kinds::Shape kind);
Read<kinds::Params> read_value(Reader& reader, Field const& field, kinds::Params);
Read<kinds::Groups> read_value(Reader& reader, Field const& field, kinds::Groups kind);
Read<kinds::Offloaded> read_value(Reader& reader, Field const& field, kinds::Offloaded kind);
Read<kinds::Operations> read_value(Reader& reader, Field const& field, kinds::Operations kind);
Read<kinds::EngineName> read_value(Reader& reader, Field const& field, kinds::EngineName kind);
Read<kinds::EngineOptions> read_value(Reader& reader, Field const& field,
                                      kinds::EngineOptions kind);
Read<kinds::Choices> read_value(Reader& reader, Field const& field, kinds::Choices kind);
Read<kinds::Bug> read_value(Reader& reader, Field const& field, kinds::Bug);
Read<kinds::Expected> read_value(Reader& reader, Field const& field, kinds::Expected kind);

/// One of `words`: its number.
std::optional<std::size_t> read_word(Reader& reader, Field const& field,
                                     std::span<std::string_view const> words);

template <typename Enum>
std::optional<Enum> read_value(Reader& reader, Field const& field, kinds::Words<Enum>) {
  auto const number = read_word(reader, field, words_of<Enum>);
  return number ? std::optional(static_cast<Enum>(*number)) : std::nullopt;
}

template <typename T>
void read_map(Reader& reader, Field const& field, T& value);

template <typename T>
std::optional<T> read_value(Reader& reader, Field const& field, kinds::Map<T>) {
  std::size_t const before = reader.problems().size();
  T value;
  read_map(reader, field, value);
  return reader.problems().size() == before ? std::optional(std::move(value)) : std::nullopt;
}

/// Every item of a list, by `read(item)`; nothing where one of them has a problem.
template <typename Item>
std::optional<std::vector<Item>> read_items(Reader& reader, Field const& field,
                                            std::string const& expected, auto const& read) {
  if (field.node->kind != Node::Kind::sequence) return reader.mismatch(field, expected);
  std::size_t const before = reader.problems().size();
  std::vector<Item> values;
  for (Field const& item : field.items())
    if (std::optional<Item> value = read(item)) values.push_back(std::move(*value));
  return reader.problems().size() == before ? std::optional(std::move(values)) : std::nullopt;
}

template <typename T>
std::optional<std::vector<T>> read_value(Reader& reader, Field const& field, kinds::Maps<T> kind) {
  return read_items<T>(
      reader, field, "a list of " + std::string(kind.of_what),
      [&](Field const& item) { return read_value(reader, item, kinds::Map<T>{}); });
}

/// Reads a value into its place, which stays as it is where there is a problem.
template <typename Kind>
bool read_into(Reader& reader, Field const& field, Kind const& kind, typename Kind::Value& value) {
  auto found = read_value(reader, field, kind);
  if (found) value = std::move(*found);
  return found.has_value();
}

/// Whether `text` is a legal name of a parameter, group or checkpoint.
bool is_name(std::string_view text);

// ---- a map --------------------------------------------------------------------------------------

/// What has to hold between the keys of one map; most have nothing.
template <typename T>
void check_keys(Reader&, MapReader const&, T const&) {}
void check_keys(Reader& reader, MapReader const& map, Scenario const& scenario);
void check_keys(Reader& reader, MapReader const& map, Again const& again);
void check_keys(Reader& reader, MapReader const& map, Schedule const& schedule);
void check_keys(Reader& reader, MapReader const& map, SettingsChange const& change);
void check_keys(Reader& reader, MapReader const& map, Param const& param);

template <typename T, typename Row>
void read_key(Reader& reader, Field const& field, Row const& row, T& whole) {
  if (auto found = read_value(reader, field, row.kind)) put(whole, row.place, std::move(*found));
}

/// Reads the keys of T into `value`, which keeps what the map does not say.
template <typename T>
void read_map(Reader& reader, Field const& field, T& value) {
  MapReader const map(reader, field, key_names<T>);
  for_each_key<T>([&](auto const& row) {
    bool const spared = !row.about.unless.empty() && map.find(row.about.unless);
    auto const found = row.about.required && !spared ? map.require(row.key) : map.find(row.key);
    if (found) read_key(reader, *found, row, value);
  });
  check_keys(reader, map, value);
}

}  // namespace adamant::scenarios
