#include "scenarios/language/yaml/map_reader.h"

#include <algorithm>
#include <utility>

#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios {

namespace {

/// What is wrong with a key that is none. `world {shard: 2}` is a map with the key `world {shard`.
std::string about_unknown(std::string_view key, std::span<std::string_view const> keys) {
  std::string_view const before_colon = key.substr(0, key.find(':'));
  if (before_colon != key && std::find(keys.begin(), keys.end(), before_colon) != keys.end())
    return "a space is missing after `" + std::string(before_colon) + ":`";
  std::string_view const word = key.substr(0, key.find(' '));
  if (word != key && std::find(keys.begin(), keys.end(), word) != keys.end())
    return "`" + std::string(word) + "` has no colon; expected `" + std::string(word) + ":`";
  return "unknown key" + suggest(key, keys) + "; known: " + list_words(keys);
}

}  // namespace

MapReader::MapReader(Reader& reader, Field field, std::span<std::string_view const> keys)
    : reader_(reader), field_(std::move(field)), is_map_(field_.node->kind == Node::Kind::map) {
  if (!is_map_) {
    reader_.mismatch(field_, "a map with keys among " + list_words(keys));
    return;
  }
  for (Entry const& entry : field_.node->entries) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
    reader_.fail(entry.line, join_path(field_.path, entry.key), about_unknown(entry.key, keys));
  }
}

std::optional<Field> MapReader::find(std::string_view key) const {
  if (!is_map_) return std::nullopt;
  auto const& entries = field_.node->entries;
  auto const found = std::find_if(entries.begin(), entries.end(),
                                  [&](Entry const& entry) { return entry.key == key; });
  return found == entries.end() ? std::nullopt : std::optional(field_.value(*found));
}

void MapReader::optional(std::string_view key,
                         std::function<void(Field const&)> const& read) const {
  if (auto const field = find(key)) read(*field);
}

void MapReader::required(std::string_view key,
                         std::function<void(Field const&)> const& read) const {
  auto const field = find(key);
  if (field) return read(*field);
  if (!is_map_) return;
  Field missing = field_;
  missing.path = join_path(missing.path, key);
  reader_.fail(missing, "this key is required but missing");
}

}  // namespace adamant::scenarios
