// A YAML document as a tree of nodes with their lines, built from yaml-cpp's events. Unlike
// YAML::Node it keeps duplicate keys apart (they are errors), shares what aliases share, and bounds
// what a hostile file can make of it. It knows YAML and nothing of scenarios.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/yaml/scalar.h"

namespace adamant::scenarios {

inline constexpr std::int64_t nodes_max = 200'000;  // an alias counts as all that it stands for
inline constexpr int depth_max = 64;  // collections inside each other, through aliases

struct Node;

/// A key of a map, as text, and its value.
struct Entry {
  std::string key;
  int line = 1;
  Node const* value = nullptr;
};

struct Node {
  enum class Kind { scalar, sequence, map };
  Kind kind = Kind::scalar;
  int line = 1;
  ScalarKind scalar = ScalarKind::null;  // of scalars
  std::string text;                      // of scalars, as written
  std::vector<Node const*> items;        // of sequences
  std::vector<Entry> entries;            // of maps, in file order, no key twice
  std::int64_t node_count = 1;           // this node and all below it, aliases expanded
  int height = 0;                        // levels of collections, this one included

  bool is(ScalarKind one) const { return kind == Kind::scalar && scalar == one; }
  bool is_word(std::string_view word) const { return is(ScalarKind::text) && text == word; }
};

/// Owns the nodes; `root` is null for an empty document.
struct Tree {
  std::deque<Node> nodes;
  Node const* root = nullptr;
};

/// Reads the one document of `text`.
///
/// Errors: BadInput for bytes that are no text, wrong syntax, several documents, custom tags,
///         cyclic aliases, duplicate keys, keys that are no scalars, and more than the limits
///         above.
Tree parse_tree(std::string_view text);

}  // namespace adamant::scenarios
