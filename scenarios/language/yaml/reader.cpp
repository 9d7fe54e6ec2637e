#include "scenarios/language/yaml/reader.h"

#include <algorithm>
#include <cmath>

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

}  // namespace adamant::scenarios
