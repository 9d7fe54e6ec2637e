// Where something stands in a document, and what is wrong there: problems are collected with their
// line and key, what was expected and what was found, so that one reading reports several. It knows
// no vocabulary; values are read by read.h.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/yaml/problem.h"
#include "scenarios/language/yaml/tree.h"

namespace adamant::scenarios {

/// A node and the path of keys that leads to it.
struct Field {
  Node const* node;
  std::string path;

  Field item(std::size_t index) const { return {node->items[index], join_path(path, index)}; }
  Field value(Entry const& entry) const { return {entry.value, join_path(path, entry.key)}; }
  /// Of a list, in order.
  std::vector<Field> items() const;
};

/// What was found at a node, for messages: "the text `x`", "a map", "nothing".
std::string describe(Node const& node);

/// Collects what is wrong. Who notes a problem has no value, and returns what the note returns.
class Reader {
 public:
  Reader() = default;
  /// Params may name a list of public models in that directory; empty: the usual one.
  explicit Reader(std::filesystem::path models_directory)
      : models_directory_(std::move(models_directory)) {}

  std::filesystem::path const& models_directory() const { return models_directory_; }

  /// Notes a problem; at the twentieth the reading ends with BadInput.
  std::nullopt_t fail(int line, std::string key, std::string message);
  std::nullopt_t fail(Field const& field, std::string message);
  /// "expected `expected`, found …".
  std::nullopt_t mismatch(Field const& field, std::string const& expected);

  std::vector<Problem> const& problems() const { return problems_; }

 private:
  std::filesystem::path models_directory_;
  std::vector<Problem> problems_;
};

/// One map and its keys: hands out the values of those it has, reports those that nobody knows.
class MapReader {
 public:
  /// Notes problems where `field` is no map or has a key outside `keys`.
  MapReader(Reader& reader, Field field, std::span<std::string_view const> keys);

  Field const& field() const { return field_; }

  /// The value of `key` where the map has it.
  std::optional<Field> find(std::string_view key) const;
  /// The same; notes a problem where the key is missing.
  std::optional<Field> require(std::string_view key) const;

 private:
  Reader& reader_;
  Field field_;
  bool is_map_;
};

}  // namespace adamant::scenarios
