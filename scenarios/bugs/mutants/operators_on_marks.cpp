// Punctuation: another operator, or one of its operands alone.
#include <map>

#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

namespace {

using Others = std::map<std::string_view, std::string_view>;

bool touches_text(Body const& code, std::size_t i) {
  auto const is_text = [&](std::size_t at) {
    return at < code.size() && code.is_literal(at) && !code[at].text.empty() &&
           (code[at].text.front() == '"' || code[at].text.front() == '\'');
  };
  return is_text(i - 1) || is_text(i + 1);
}

bool is_operator_of_numbers(Body const& code, std::size_t i) {
  return !code.is_muted(i) && code.is_binary(i) && !touches_text(code, i);
}

Found other_mark(Others const& others, Body const& code, std::size_t i) {
  auto const other = others.find(code[i].text);
  if (other == others.end()) return {};
  return Replacement{i, i, std::string(other->second)};
}

Rule other_operator(Others others) {
  return [=](Body const& code, std::size_t i) -> Found {
    return is_operator_of_numbers(code, i) ? other_mark(others, code, i) : Found();
  };
}

Found other_assignment(Body const& code, std::size_t i) {
  if (code.is_literal(i)) return {};
  return other_mark({{"+=", "="}, {"|=", "="}, {"&=", "="}, {"-=", "+="}}, code, i);
}

Found drop_not(Body const& code, std::size_t i) {
  if (!code.is(i, "!") || code.is_muted(i)) return {};
  return Replacement{i, i, " "};
}

/// Of an operator that binds so firmly: it, and what stands behind it.
Rule drop_operand(int weakest, int strongest) {
  return [=](Body const& code, std::size_t i) -> Found {
    int const strength = strength_of(code[i].text);
    bool const is_meant = strength >= weakest && strength <= strongest;
    if (!is_meant || !is_operator_of_numbers(code, i)) return {};
    return Replacement{i, code.end_of_operand(i + 1, strength), ""};
  };
}

}  // namespace

std::vector<Operator> operators_on_marks() {
  return {
      {"boundary",
       "< for <=", other_operator({{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}})},
      {"opposite_order",
       "< for >=", other_operator({{"<", ">="}, {"<=", ">"}, {">", "<="}, {">=", "<"}})},
      {"opposite_equality", "== for !=", other_operator({{"==", "!="}, {"!=", "=="}})},
      {"plus_minus", "+ for -", other_operator({{"+", "-"}, {"-", "+"}})},
      {"times_divide", "* for /", other_operator({{"*", "/"}, {"/", "*"}, {"%", "/"}})},
      {"and_or", "&& for ||", other_operator({{"&&", "||"}, {"||", "&&"}})},
      {"drop_not", "a ! is missing", drop_not},
      {"drop_term", "a term or a factor is missing", drop_operand(5, 6)},
      {"drop_condition", "a part of a condition is missing", drop_operand(1, 1)},
      {"other_assignment", "= for +=", other_assignment},
  };
}

}  // namespace adamant::bugs
