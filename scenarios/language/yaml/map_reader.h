// One map of a document and its keys. Which keys there are is the caller's; what stands under them
// is read by reader.h.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "scenarios/language/yaml/reader.h"

namespace adamant::scenarios {

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
