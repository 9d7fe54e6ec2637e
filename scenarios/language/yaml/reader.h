// Typed reading of YAML nodes: each function takes one kind of value out of a node or says at its
// line and key what it expected and what it found. Problems are collected, so that one reading
// reports several. It knows vocabulary and ranges only as they are handed to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/kinds.h"
#include "scenarios/language/words.h"
#include "scenarios/language/yaml/problem.h"
#include "scenarios/language/yaml/tree.h"

namespace adamant::scenarios {

/// A node and the path of keys that leads to it.
struct Field {
  Node const* node;
  std::string path;

  Field item(std::size_t index) const { return {node->items[index], join_path(path, index)}; }
  Field value(Entry const& entry) const { return {entry.value, join_path(path, entry.key)}; }
};

/// What was found at a node, for messages: "the text `x`", "a map", "nothing".
std::string describe(Node const& node);

/// Reads values and collects what is wrong with them. A reading function leaves `value` alone and
/// returns false where it has noted a problem.
class Reader {
 public:
  Reader() = default;
  /// Params may name a list of public models in that directory; empty: the usual one.
  explicit Reader(std::filesystem::path models_directory)
      : models_directory_(std::move(models_directory)) {}

  std::filesystem::path const& models_directory() const { return models_directory_; }

  /// Notes a problem; at the twentieth the reading ends with BadInput.
  void fail(int line, std::string key, std::string message);
  void fail(Field const& field, std::string message);
  /// "expected `expected`, found …".
  void mismatch(Field const& field, std::string const& expected);

  std::vector<Problem> const& problems() const { return problems_; }

  bool text(Field const& field, std::string& value);
  /// Text in the alphabet of names: [A-Za-z0-9_][A-Za-z0-9_.-]*, without "..".
  bool name(Field const& field, std::string& value);
  bool boolean(Field const& field, bool& value);
  bool integer(Field const& field, IntegerRange range, std::int64_t& value);
  bool seed(Field const& field, std::uint64_t& value);
  bool real(Field const& field, RealRange range, float& value);
  bool fraction(Field const& field, double& value);
  bool is_sequence(Field const& field, std::string const& of_what);
  bool is_map(Field const& field, std::string const& of_what);

  /// One of `words`; `index` is its place.
  bool word(Field const& field, std::span<std::string_view const> words, std::size_t& index);

  template <typename Enum>
  bool word(Field const& field, Enum& value) {
    std::size_t index = 0;
    if (!word(field, words_of<Enum>, index)) return false;
    value = static_cast<Enum>(index);
    return true;
  }

 private:
  std::filesystem::path models_directory_;
  std::vector<Problem> problems_;
};

/// Whether `text` is a legal name of a parameter, group or checkpoint.
bool is_name(std::string_view text);

/// One map and its keys: hands out the values of those it has, reports those that nobody knows.
class MapReader {
 public:
  /// Notes problems where `field` is no map or has a key outside `keys`.
  MapReader(Reader& reader, Field field, std::span<std::string_view const> keys);

  Field const& field() const { return field_; }

  /// Calls `read` with the value of `key` where the map has it.
  void optional(std::string_view key, std::function<void(Field const&)> const& read) const;
  /// As optional(), but notes a problem where the key is missing.
  void required(std::string_view key, std::function<void(Field const&)> const& read) const;
  std::optional<Field> find(std::string_view key) const;

 private:
  Reader& reader_;
  Field field_;
  bool is_map_;
};

}  // namespace adamant::scenarios
