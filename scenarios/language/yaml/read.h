// From a map of a document to the struct that a table of keys says it is: one walk for all of them.
// What one value looks like is said kind by kind; those that are odd stand in decode_*.cpp.
#pragma once

#include <string>
#include <utility>

#include "scenarios/language/table.h"
#include "scenarios/language/yaml/reader.h"

namespace adamant::scenarios {

// ---- one value: leaves `value` alone and returns false where it has noted a problem -------------

template <typename Enum>
bool read_value(Reader& reader, Field const& field, kinds::Words<Enum>, Enum& value) {
  return reader.word(field, value);
}
bool read_value(Reader& reader, Field const& field, kinds::Flag, bool& value);
bool read_value(Reader& reader, Field const& field, kinds::Real kind, float& value);
bool read_value(Reader& reader, Field const& field, kinds::Fraction, double& value);
bool read_value(Reader& reader, Field const& field, kinds::Integer kind, std::int64_t& value);
bool read_value(Reader& reader, Field const& field, kinds::Seed, std::uint64_t& value);
bool read_value(Reader& reader, Field const& field, kinds::Text, std::string& value);
bool read_value(Reader& reader, Field const& field, kinds::Name, std::string& value);
bool read_value(Reader& reader, Field const& field, kinds::Names, std::vector<std::string>& value);
bool read_value(Reader& reader, Field const& field, kinds::Parts, std::vector<std::string>& value);
bool read_value(Reader& reader, Field const& field, kinds::Earlier, std::string& value);

bool read_value(Reader& reader, Field const& field, kinds::Version, std::int64_t& value);
bool read_value(Reader& reader, Field const& field, kinds::Worlds, std::vector<World>& value);
bool read_value(Reader& reader, Field const& field, kinds::Betas, std::array<float, 2>& value);
bool read_value(Reader& reader, Field const& field, kinds::Norm, Clip& value);
bool read_value(Reader& reader, Field const& field, kinds::Scale, LossScale& value);
bool read_value(Reader& reader, Field const& field, kinds::Shape, std::vector<std::int64_t>& value);
bool read_value(Reader& reader, Field const& field, kinds::Params, kinds::Params::Value& value);
bool read_value(Reader& reader, Field const& field, kinds::Groups, std::vector<Group>& value);
bool read_value(Reader& reader, Field const& field, kinds::Offloaded, Offload& value);
bool read_value(Reader& reader, Field const& field, kinds::Operations,
                std::vector<Operation>& value);
bool read_value(Reader& reader, Field const& field, kinds::EngineName, std::string& value);
bool read_value(Reader& reader, Field const& field, kinds::EngineOptions,
                kinds::EngineOptions::Value& value);
bool read_value(Reader& reader, Field const& field, kinds::Choices,
                std::vector<std::uint32_t>& value);
bool read_value(Reader& reader, Field const& field, kinds::Bug, std::string& value);
bool read_value(Reader& reader, Field const& field, kinds::Expected, Expectation& value);

template <typename T>
void read_map(Reader& reader, Field const& field, T& value);

template <typename T>
bool read_value(Reader& reader, Field const& field, kinds::Map<T>, T& value) {
  std::size_t const before = reader.problems().size();
  read_map(reader, field, value);
  return reader.problems().size() == before;
}

template <typename T>
bool read_value(Reader& reader, Field const& field, kinds::Maps<T> kind, std::vector<T>& value) {
  if (!reader.is_sequence(field, std::string(kind.of_what))) return false;
  std::size_t const before = reader.problems().size();
  for (std::size_t i = 0; i < field.node->items.size(); ++i)
    read_map(reader, field.item(i), value.emplace_back());
  return reader.problems().size() == before;
}

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
  using Value = typename KindOf<Row>::Value;
  Value value{};
  if constexpr (!may_be_absent<T, Row>) value = value_at(whole, row.place);
  if (!read_value(reader, field, row.kind, value)) return;
  if constexpr (may_be_absent<T, Row>) {
    put(whole, row.place, std::optional<Value>(std::move(value)));
  } else {
    put(whole, row.place, std::move(value));
  }
}

/// Reads the keys of T into `value`, which keeps what the map does not say.
template <typename T>
void read_map(Reader& reader, Field const& field, T& value) {
  MapReader const map(reader, field, key_names<T>);
  for_each_key<T>([&](auto const& row) {
    auto const read = [&](Field const& found) { read_key(reader, found, row, value); };
    bool const spared = !row.about.unless.empty() && map.find(row.about.unless);
    row.about.required && !spared ? map.required(row.key, read) : map.optional(row.key, read);
  });
  check_keys(reader, map, value);
}

}  // namespace adamant::scenarios
