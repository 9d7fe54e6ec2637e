#include "scenarios/yaml/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace adamant::scenarios {

namespace {

constexpr std::size_t problems_max = 20;

/// How many single-character edits lead from a to b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto const replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

std::string describe_range(RealRange range) {
  switch (range) {
    case RealRange::below_one:
      return "a number in [0, 1)";
    case RealRange::positive:
      return "a number > 0";
    case RealRange::finite_not_negative:
      break;
  }
  return "a finite number >= 0";
}

bool is_in(RealRange range, double value) {
  if (!std::isfinite(value)) return false;
  if (range == RealRange::positive) return value > 0;
  return value >= 0 && (range != RealRange::below_one || value < 1);
}

bool is_number(Node const& node) {
  return node.kind == Node::Kind::scalar &&
         (node.scalar == ScalarKind::integer || node.scalar == ScalarKind::real);
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

std::string list_words(std::span<std::string_view const> words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " or " : ", ";
    list += words[i];
  }
  return list;
}

std::string suggest(std::string_view found, std::span<std::string_view const> words) {
  constexpr std::size_t longest = 40;  // no word of the format is near to anything longer
  std::string_view nearest;
  std::size_t best = 1 + std::max<std::size_t>(found.size() / 3, 1);
  for (std::string_view const word : words) {
    if (found.size() > longest) break;
    auto const distance = edit_distance(found, word);
    if (distance < best) {
      best = distance;
      nearest = word;
    }
  }
  return nearest.empty() ? "" : " (did you mean `" + std::string(nearest) + "`?)";
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
    mismatch(field, "a name like [A-Za-z0-9_][A-Za-z0-9_.-]* without `..`");
    return false;
  }
  value = std::move(found);
  return true;
}

bool Reader::boolean(Field const& field, bool& value) {
  Node const& node = *field.node;
  if (node.kind != Node::Kind::scalar || node.scalar != ScalarKind::boolean) {
    mismatch(field, "true or false");
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
    mismatch(field, fmt::format("an integer in {} ... {}", range.least, range.most));
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
    mismatch(field, "an integer in 0 ... 18446744073709551615");
    return false;
  }
  value = *found;
  return true;
}

bool Reader::real(Field const& field, RealRange range, float& value) {
  if (!is_number(*field.node)) {
    mismatch(field, describe_range(range));
    return false;
  }
  double const as_double = to_double(field.node->text);
  float const rounded = to_float(as_double);
  if (!is_in(range, rounded)) {
    bool const only_rounded = is_in(range, as_double);
    mismatch(field, describe_range(range) + (only_rounded ? " in binary32" : ""));
    return false;
  }
  value = rounded;
  return true;
}

bool Reader::fraction(Field const& field, double& value) {
  double const found = is_number(*field.node) ? to_double(field.node->text) : -1;
  if (!(found >= 0 && found <= 1)) {
    mismatch(field, "a number in [0, 1]");
    return false;
  }
  value = found;
  return true;
}

bool Reader::betas(Field const& field, float& beta1, float& beta2) {
  if (field.node->kind != Node::Kind::sequence || field.node->items.size() != 2) {
    mismatch(field, "a list of two numbers in [0, 1)");
    return false;
  }
  bool const first = real(field.item(0), RealRange::below_one, beta1);
  bool const second = real(field.item(1), RealRange::below_one, beta2);
  return first && second;
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

MapReader::MapReader(Reader& reader, Field field, Keys const& keys)
    : reader_(reader), field_(std::move(field)), is_map_(field_.node->kind == Node::Kind::map) {
  if (!is_map_) {
    reader_.mismatch(field_, "a map with keys among " + list_words(keys.all));
    return;
  }
  for (Entry const& entry : field_.node->entries) {
    if (std::find(keys.all.begin(), keys.all.end(), entry.key) != keys.all.end()) continue;
    reader_.fail(entry.line, join_path(field_.path, entry.key),
                 "unknown key" + suggest(entry.key, keys.all) + "; known: " + list_words(keys.all));
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
