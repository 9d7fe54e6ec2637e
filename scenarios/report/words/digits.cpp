#include "scenarios/report/words/digits.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace adamant::scenarios {

namespace {

constexpr std::string_view code_prefix = "code ";

bool is_number(std::string_view text) {
  if (text.starts_with(code_prefix)) text.remove_prefix(code_prefix.size());
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_not_of("0123456789abcdefxp.+-") == std::string_view::npos;
}

/// Where the fraction of a number begins, with its point, and where its exponent does.
struct Parts {
  std::size_t fraction;
  std::size_t exponent;
};

Parts parts_of(std::string_view number) {
  bool const is_hexadecimal = number.find('x') != std::string_view::npos;
  std::size_t const exponent = std::min(number.find(is_hexadecimal ? 'p' : 'e'), number.size());
  return {.fraction = std::min(number.find('.'), exponent), .exponent = exponent};
}

void put_point_at(std::size_t column, std::string& number) {
  number.insert(0, column - parts_of(number).fraction, ' ');
}

/// Marks what `number` has otherwise than `other` between two places of each.
struct Span {
  std::size_t begin;
  std::size_t end;
};
void mark(MarkedDigits& number, Span of, std::string_view other, Span against) {
  std::size_t const size = of.end - of.begin, other_size = against.end - against.begin;
  for (std::size_t i = 0; i < size; ++i)
    if (i >= other_size || number.text[of.begin + i] != other[against.begin + i])
      number.differs[of.begin + i] = true;
  if (size < other_size) number.differs[of.end] = true;
}

MarkedDigits marked(std::string const& number, std::string const& other) {
  MarkedDigits result{.text = number, .differs = std::vector<bool>(number.size() + 1)};
  Parts const here = parts_of(number), there = parts_of(other);
  mark(result, {0, here.fraction}, other, {0, there.fraction});
  mark(result, {here.fraction, here.exponent}, other, {there.fraction, there.exponent});
  mark(result, {here.exponent, number.size()}, other, {there.exponent, other.size()});
  return result;
}

}  // namespace

bool MarkedDigits::any() const {
  return std::ranges::find(differs, true) != differs.end();
}

std::vector<MarkedDigits::Piece> MarkedDigits::pieces() const {
  std::vector<Piece> all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool const differ = !differs.empty() && differs[i];
    if (all.empty() || all.back().differs != differ) all.push_back({.text = "", .differs = differ});
    all.back().text += text[i];
  }
  return all;
}

FacingDigits facing(std::string const& expected, std::string const& actual) {
  if (!is_number(expected) || !is_number(actual))
    return {.expected = {.text = expected}, .actual = {.text = actual}};
  std::string over = expected, under = actual;
  std::size_t const point = std::max(parts_of(over).fraction, parts_of(under).fraction);
  put_point_at(point, over);
  put_point_at(point, under);
  return {.expected = marked(over, under), .actual = marked(under, over)};
}

}  // namespace adamant::scenarios
