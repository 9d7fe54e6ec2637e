#include "scenarios/language/yaml/reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scenarios/language/yaml/kinds_in_words.h"
#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios {

namespace {

constexpr std::size_t problems_max = 20;

bool is_in(RealRange range, double value) {
  if (!std::isfinite(value)) return false;
  if (range == RealRange::positive) return value > 0;
  return value >= 0 && (range != RealRange::below_one || value < 1);
}

bool is_number(Node const& node) {
  return node.kind == Node::Kind::scalar &&
         (node.scalar == ScalarKind::integer || node.scalar == ScalarKind::real);
}

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

void Reader::fail(int line, std::string key, std::string message) {
  problems_.push_back({line, std::move(key), std::move(message)});
  if (problems_.size() < problems_max) return;
  Problem last = std::move(problems_.back());
  problems_.pop_back();
  throw BadInput(std::move(last));
}

void Reader::fail(Field const& field, std::string message) {
  fail(field.node->line, field.path.empty() ? "document" : field.path, std::move(message));
}

void Reader::mismatch(Field const& field, std::string const& expected) {
  fail(field, "expected " + expected + ", found " + describe(*field.node));
}

bool Reader::text(Field const& field, std::string& value) {
  Node const& node = *field.node;
  if (node.kind == Node::Kind::scalar && node.scalar == ScalarKind::text) {
    value = node.text;
    return true;
  }
  bool const quotable = node.kind == Node::Kind::scalar && node.scalar != ScalarKind::null;
  mismatch(field, quotable ? "text (put it in quotes to make it text)" : "text");
  return false;
}

bool is_name(std::string_view text) {
  auto const is_word = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && is_word(text.front()) && text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool Reader::name(Field const& field, std::string& value) {
  std::string found;
  if (!text(field, found)) return false;
  if (!is_name(found)) {
    mismatch(field, values_of(kinds::Name{}));
    return false;
  }
  value = std::move(found);
  return true;
}

bool Reader::boolean(Field const& field, bool& value) {
  Node const& node = *field.node;
  if (node.kind != Node::Kind::scalar || node.scalar != ScalarKind::boolean) {
    mismatch(field, values_of(kinds::Flag{}));
    return false;
  }
  value = node.text.front() == 't' || node.text.front() == 'T';
  return true;
}

bool Reader::integer(Field const& field, IntegerRange range, std::int64_t& value) {
  Node const& node = *field.node;
  bool const is_integer = node.kind == Node::Kind::scalar && node.scalar == ScalarKind::integer;
  auto const found = is_integer ? to_int64(node.text) : std::nullopt;
  if (!found || *found < range.least || *found > range.most) {
    mismatch(field, values_of(kinds::Integer{range}));
    return false;
  }
  value = *found;
  return true;
}

bool Reader::seed(Field const& field, std::uint64_t& value) {
  Node const& node = *field.node;
  bool const is_integer = node.kind == Node::Kind::scalar && node.scalar == ScalarKind::integer;
  auto const found = is_integer ? to_uint64(node.text) : std::nullopt;
  if (!found) {
    mismatch(field, values_of(kinds::Seed{}));
    return false;
  }
  value = *found;
  return true;
}

bool Reader::real(Field const& field, RealRange range, float& value) {
  if (!is_number(*field.node)) {
    mismatch(field, values_of(kinds::Real{range}));
    return false;
  }
  double const as_double = to_double(field.node->text);
  float const rounded = to_float(as_double);
  if (!is_in(range, rounded)) {
    bool const only_rounded = is_in(range, as_double);
    mismatch(field, values_of(kinds::Real{range}) + (only_rounded ? " in binary32" : ""));
    return false;
  }
  value = rounded;
  return true;
}

bool Reader::fraction(Field const& field, double& value) {
  double const found = is_number(*field.node) ? to_double(field.node->text) : -1;
  if (!(found >= 0 && found <= 1)) {
    mismatch(field, values_of(kinds::Fraction{}));
    return false;
  }
  value = found;
  return true;
}

bool Reader::is_sequence(Field const& field, std::string const& of_what) {
  if (field.node->kind == Node::Kind::sequence) return true;
  mismatch(field, "a list of " + of_what);
  return false;
}

bool Reader::is_map(Field const& field, std::string const& of_what) {
  if (field.node->kind == Node::Kind::map) return true;
  mismatch(field, "a map of " + of_what);
  return false;
}

bool Reader::word(Field const& field, std::span<std::string_view const> words, std::size_t& index) {
  Node const& node = *field.node;
  bool const is_text = node.kind == Node::Kind::scalar && node.scalar == ScalarKind::text;
  auto const found = std::find(words.begin(), words.end(), node.text);
  if (!is_text || found == words.end()) {
    fail(field, "expected " + list_words(words) + ", found " + describe(node) +
                    (is_text ? suggest(node.text, words) : ""));
    return false;
  }
  index = static_cast<std::size_t>(found - words.begin());
  return true;
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
