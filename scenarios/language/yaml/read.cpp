#include "scenarios/language/yaml/read.h"

#include <algorithm>
#include <cmath>

#include "scenarios/language/yaml/kinds_in_words.h"
#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios {

namespace {

bool is_in(RealRange range, double value) {
  if (!std::isfinite(value)) return false;
  if (range == RealRange::positive) return value > 0;
  return value >= 0 && (range != RealRange::below_one || value < 1);
}

bool is_number(Node const& node) {
  return node.is(ScalarKind::integer) || node.is(ScalarKind::real);
}

}  // namespace

Read<kinds::Flag> read_value(Reader& reader, Field const& field, kinds::Flag kind) {
  if (!field.node->is(ScalarKind::boolean)) return reader.mismatch(field, values_of(kind));
  return field.node->text.front() == 't' || field.node->text.front() == 'T';
}

Read<kinds::Real> read_value(Reader& reader, Field const& field, kinds::Real kind) {
  if (!is_number(*field.node)) return reader.mismatch(field, values_of(kind));
  double const as_double = to_double(field.node->text);
  float const rounded = to_float(as_double);
  if (is_in(kind.range, rounded)) return rounded;
  bool const only_rounded = is_in(kind.range, as_double);
  return reader.mismatch(field, values_of(kind) + (only_rounded ? " in binary32" : ""));
}

Read<kinds::Fraction> read_value(Reader& reader, Field const& field, kinds::Fraction kind) {
  double const found = is_number(*field.node) ? to_double(field.node->text) : -1;
  if (!(found >= 0 && found <= 1)) return reader.mismatch(field, values_of(kind));
  return found;
}

Read<kinds::Integer> read_value(Reader& reader, Field const& field, kinds::Integer kind) {
  bool const is_integer = field.node->is(ScalarKind::integer);
  auto const found = is_integer ? to_int64(field.node->text) : std::nullopt;
  if (!found || *found < kind.range.least || *found > kind.range.most)
    return reader.mismatch(field, values_of(kind));
  return found;
}

Read<kinds::Seed> read_value(Reader& reader, Field const& field, kinds::Seed kind) {
  bool const is_integer = field.node->is(ScalarKind::integer);
  auto const found = is_integer ? to_uint64(field.node->text) : std::nullopt;
  if (!found) return reader.mismatch(field, values_of(kind));
  return found;
}

Read<kinds::Text> read_value(Reader& reader, Field const& field, kinds::Text) {
  Node const& node = *field.node;
  if (node.is(ScalarKind::text)) return node.text;
  bool const quotable = node.kind == Node::Kind::scalar && !node.is(ScalarKind::null);
  return reader.mismatch(field, quotable ? "text (put it in quotes to make it text)" : "text");
}

bool is_name(std::string_view text) {
  auto const is_word = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && is_word(text.front()) && text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_word(c) || c == '.' || c == '-'; });
}

Read<kinds::Name> read_value(Reader& reader, Field const& field, kinds::Name kind) {
  auto found = read_value(reader, field, kinds::Text{});
  if (found && !is_name(*found)) return reader.mismatch(field, values_of(kind));
  return found;
}

Read<kinds::Names> read_value(Reader& reader, Field const& field, kinds::Names kind) {
  return read_items<std::string>(reader, field, values_of(kind), [&](Field const& item) {
    return read_value(reader, item, kinds::Name{});
  });
}

std::optional<std::size_t> read_word(Reader& reader, Field const& field,
                                     std::span<std::string_view const> words) {
  Node const& node = *field.node;
  bool const is_text = node.is(ScalarKind::text);
  auto const found = is_text ? value_named<std::size_t>(words, node.text) : std::nullopt;
  if (found) return found;
  return reader.fail(field, "expected " + list_words(words) + ", found " + describe(node) +
                                (is_text ? suggest(node.text, words) : ""));
}

}  // namespace adamant::scenarios
