#include "scenarios/language/yaml/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/language/words.h"
#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios {

namespace {

constexpr std::size_t problems_max = 20;

/// What is wrong with a key that is none. `world {shard: 2}` is a map with the key `world {shard`.
std::string about_unknown(std::string_view key, std::span<std::string_view const> keys) {
  std::string_view const before_colon = key.substr(0, key.find(':'));
  if (before_colon != key && std::find(keys.begin(), keys.end(), before_colon) != keys.end())
    return fmt::format("a space is missing after `{}:`", before_colon);
  std::string_view const word = key.substr(0, key.find(' '));
  if (word != key && std::find(keys.begin(), keys.end(), word) != keys.end())
    return fmt::format("`{0}` has no colon; expected `{0}:`", word);
  return "unknown key" + suggest(key, keys) + "; known: " + list_words(keys);
}

}  // namespace

std::string describe(Node const& node) {
  if (node.kind == Node::Kind::map) return "a map";
  if (node.kind == Node::Kind::sequence) return "a list";
  switch (node.scalar) {
    case ScalarKind::null:
      return "nothing";
    case ScalarKind::boolean:
      return "the boolean " + quote(node.text);
    case ScalarKind::integer:
      return "the integer " + quote(node.text);
    case ScalarKind::real:
      return "the number " + quote(node.text);
    case ScalarKind::text:
      break;
  }
  return "the text " + quote(node.text);
}

std::vector<Field> Field::items() const {
  std::vector<Field> fields;
  for (std::size_t i = 0; i < node->items.size(); ++i) fields.push_back(item(i));
  return fields;
}

std::nullopt_t Reader::fail(int line, std::string key, std::string message) {
  problems_.push_back({line, std::move(key), std::move(message)});
  if (problems_.size() < problems_max) return std::nullopt;
  Problem last = std::move(problems_.back());
  problems_.pop_back();
  throw BadInput(std::move(last));
}

std::nullopt_t Reader::fail(Field const& field, std::string message) {
  return fail(field.node->line, field.path.empty() ? "document" : field.path, std::move(message));
}

std::nullopt_t Reader::mismatch(Field const& field, std::string const& expected) {
  return fail(field, "expected " + expected + ", found " + describe(*field.node));
}

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

std::optional<Field> MapReader::require(std::string_view key) const {
  auto found = find(key);
  if (!found && is_map_)
    reader_.fail({field_.node, join_path(field_.path, key)}, "this key is required but missing");
  return found;
}

}  // namespace adamant::scenarios
