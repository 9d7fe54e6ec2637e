// Punctuation: another operator, or one of its operands alone.
#include <array>
#include <utility>

#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

bool touches_text(Body const& code, std::size_t i) {
  auto const is_text = [&](std::size_t at) {
    return at < code.size() && code.is_literal(at) && !code[at].text.empty() &&
           (code[at].text.front() == '"' || code[at].text.front() == '\'');
  };
  return is_text(i - 1) || is_text(i + 1);
}

/// Replaces each binary mark that a pair begins with by what the pair ends with.
template <std::size_t n>
void replace(Body const& code, Replacements& found, Pair const (&pairs)[n]) {
  for (std::size_t i = 1; i + 1 < code.size(); ++i) {
    if (code.is_muted(i) || !code.is_binary(i) || touches_text(code, i)) continue;
    for (auto const& [from, to] : pairs)
      if (code[i].text == from) found.push_back({i, i, std::string(to)});
  }
}

void boundary(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}});
}
void opposite_order(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"<", ">="}, {"<=", ">"}, {">", "<="}, {">=", "<"}});
}
void opposite_equality(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"==", "!="}, {"!=", "=="}});
}
void plus_minus(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"+", "-"}, {"-", "+"}});
}
void times_divide(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"*", "/"}, {"/", "*"}, {"%", "/"}});
}
void and_or(Body const& code, Replacements& found) {
  replace(code, found, {Pair{"&&", "||"}, {"||", "&&"}});
}

void drop_not(Body const& code, Replacements& found) {
  for (std::size_t i = 0; i + 1 < code.size(); ++i)
    if (code.is(i, "!") && !code.is_muted(i)) found.push_back({i, i, " "});
}

void drop_operand(Body const& code, Replacements& found, int weakest, int strongest) {
  for (std::size_t i = 1; i + 1 < code.size(); ++i) {
    if (code.is_muted(i) || !code.is_binary(i) || touches_text(code, i)) continue;
    int const strength = strength_of(code[i].text);
    if (strength < weakest || strength > strongest) continue;
    found.push_back({i, code.end_of_operand(i + 1, strength), ""});
  }
}

void drop_term(Body const& code, Replacements& found) {
  drop_operand(code, found, 5, 6);
}
void drop_condition(Body const& code, Replacements& found) {
  drop_operand(code, found, 1, 1);
}

void other_assignment(Body const& code, Replacements& found) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code.is_literal(i)) continue;
    for (auto const& [from, to] : {Pair{"+=", "="}, {"|=", "="}, {"&=", "="}, {"-=", "+="}})
      if (code[i].text == from) found.push_back({i, i, std::string(to)});
  }
}

constexpr Operator all[] = {
    {"boundary", "< for <=", boundary},
    {"opposite_order", "< for >=", opposite_order},
    {"opposite_equality", "== for !=", opposite_equality},
    {"plus_minus", "+ for -", plus_minus},
    {"times_divide", "* for /", times_divide},
    {"and_or", "&& for ||", and_or},
    {"drop_not", "a ! is missing", drop_not},
    {"drop_term", "a term or a factor is missing", drop_term},
    {"drop_condition", "a part of a condition is missing", drop_condition},
    {"other_assignment", "= for +=", other_assignment},
};

}  // namespace

std::span<Operator const> operators_on_marks() {
  return all;
}

}  // namespace adamant::bugs
