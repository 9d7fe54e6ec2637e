#include "scenarios/bugs/mutants/body.h"

#include <algorithm>
#include <array>

#include "sim/lexer/tokens.h"

namespace adamant::bugs {

namespace {

using sim::Token;
using sim::TokenKind;
using namespace std::string_view_literals;

constexpr std::array assignments = {"="sv, "+="sv, "-="sv, "*="sv, "/="sv, "|="sv, "&="sv};

constexpr std::array no_statements = {
    "if"sv,    "for"sv,      "while"sv,  "switch"sv,   "return"sv,       "else"sv,  "do"sv,
    "case"sv,  "default"sv,  "break"sv,  "throw"sv,    "try"sv,          "catch"sv, "using"sv,
    "class"sv, "continue"sv, "struct"sv, "template"sv, "static_assert"sv};

constexpr std::array starts_of_types = {"auto"sv, "const"sv, "static"sv, "constexpr"sv, "bool"sv,
                                        "int"sv,  "float"sv, "double"sv, "unsigned"sv,  "char"sv};

bool contains(auto const& all, std::string_view text) {
  return std::ranges::find(all, text) != all.end();
}

/// Follows #if ... #else ... #endif: is what stands there for nvcc alone?
class Branches {
 public:
  void see(std::string_view directive) {
    if (directive.starts_with("#if")) {
      branches_.push_back({directive == "#ifdef __CUDACC__", directive == "#ifndef __CUDACC__"});
    } else if (branches_.empty()) {
      return;
    } else if (directive.starts_with("#else")) {
      branches_.back().is_dead = branches_.back().other_is_dead;
    } else if (directive.starts_with("#endif")) {
      branches_.pop_back();
    }
  }
  bool are_dead() const {
    return std::ranges::any_of(branches_, [](Branch const& branch) { return branch.is_dead; });
  }

 private:
  struct Branch {
    bool is_dead = false;
    bool other_is_dead = false;
  };
  std::vector<Branch> branches_;
};

/// << and >>, which are two marks to the lexer.
bool is_shift(Token const& first, Token const& second) {
  return (first.text == "<" || first.text == ">") && first.text == second.text &&
         first.end() == second.offset;
}

/// What a compiler for the simulator sees between the braces.
std::vector<Token> tokens_of_body(std::string_view source, Function const& function) {
  std::vector<Token> result;
  Branches branches;
  for (Token const& token : sim::tokenize(source)) {
    if (token.kind == TokenKind::directive) branches.see(token.text);
    if (token.offset <= function.open || token.offset >= function.close || branches.are_dead())
      continue;
    if (!result.empty() && is_shift(result.back(), token)) {
      result.back().text = source.substr(result.back().offset, 2);
    } else {
      result.push_back(token);
    }
  }
  return result;
}

bool is_close(std::string_view mark) {
  return mark == ")" || mark == "]" || mark == "}";
}

}  // namespace

int strength_of(std::string_view mark) {
  if (mark == "*" || mark == "/" || mark == "%") return 6;
  if (mark == "+" || mark == "-") return 5;
  if (mark == "<<" || mark == ">>") return 4;
  if (mark == "<" || mark == ">" || mark == "<=" || mark == ">=") return 3;
  if (mark == "==" || mark == "!=" || mark == "&" || mark == "|") return 2;
  if (mark == "&&" || mark == "||") return 1;
  return 0;
}

Body::Body(std::string_view source, Function const& function)
    : source_(source), code_(tokens_of_body(source, function)), muted_(code_.size()) {
  std::size_t const name =
      source.rfind(function.name.substr(function.name.rfind(':') + 1) + "(", function.open);
  std::size_t const line = name == std::string_view::npos ? 0 : source.rfind('\n', name) + 1;
  is_void_ =
      name != std::string_view::npos &&
      (" " + std::string(source.substr(line, name - line))).find(" void ") != std::string::npos;
  mute();
  find_statements();
}

// Assertions, and the words of errors: from what is thrown, or handed to refuse...(), to its end.
void Body::mute() {
  for (std::size_t i = 0; i + 1 < size(); ++i) {
    std::string_view const text = code_[i].text;
    bool const formats = text == "format" && i > 1 && is(i - 2, "fmt");
    bool const speaks = text.ends_with("_ASSERT") || text == "static_assert" || text == "concat" ||
                        text.starts_with("refuse") || formats;
    if (speaks && is(i + 1, "("))
      for (std::size_t k = i + 1; k <= partner(i + 1); ++k) muted_[k] = true;
    if (is(i, "throw"))
      for (std::size_t k = i + 1; k < size() && !is(k, ";"); ++k) muted_[k] = true;
  }
}

bool Body::is_binary(std::size_t i) const {
  if (strength_of(code_[i].text) == 0 || is_literal(i) || i == 0) return false;
  auto const is_blank = [&](std::size_t at) { return source_[at] == ' ' || source_[at] == '\n'; };
  return is_blank(code_[i].offset - 1) && is_blank(code_[i].end()) && !is(i - 1, "(") &&
         !is(i - 1, ",") && !is(i - 1, "return");
}

std::size_t Body::start_of_chain(std::size_t i) const {
  while (true) {
    while ((is(i, ")") || is(i, "]")) && partner(i) > 0) i = partner(i) - 1;
    if (i < 2 || !(is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::"))) return i;
    if (!is_name(i - 2) && !is(i - 2, ")") && !is(i - 2, "]")) return i;
    i -= 2;
  }
}

std::size_t Body::end_of_operand(std::size_t i, int strength) const {
  for (; i < size(); ++i) {
    if (partner(i) > i) i = partner(i);
    bool const ends = i + 1 >= size() || is(i + 1, ",") || is(i + 1, ";") || is(i + 1, "?") ||
                      is(i + 1, ":") || is_close(code_[i + 1].text);
    if (ends || (is_binary(i + 1) && strength_of(code_[i + 1].text) <= strength)) return i;
  }
  return size() - 1;
}

std::string Body::text(std::size_t first, std::size_t last) const {
  return std::string(source_.substr(code_[first].offset, code_[last].end() - code_[first].offset));
}

// ---- statements ---------------------------------------------------------------------------------

bool Body::opens_block(std::size_t i) const {
  if (!is(i, "{")) return false;
  if (i == 0) return true;
  return is(i - 1, ")") || is(i - 1, "]") || is(i - 1, "else") || is(i - 1, "do") ||
         is(i - 1, "try") || is(i - 1, ";") || is(i - 1, ":") || is(i - 1, "mutable");
}

bool Body::starts_statement(std::size_t i) const {
  bool const in_block = code_.parent(i) == i || opens_block(code_.parent(i));
  if (!in_block || !is_name(i) || contains(no_statements, code_[i].text)) return false;
  if (i == 0 || is(i - 1, ";") || is(i - 1, "else") || is(i - 1, "do")) return true;
  if (opens_block(i - 1)) return true;
  if (is(i - 1, "}")) return opens_block(partner(i - 1));
  if (is(i - 1, ":")) return i > 1 && !is(i - 2, ")");
  if (!is(i - 1, ")") || partner(i - 1) == 0) return false;
  std::size_t const before = partner(i - 1) - 1;
  return is(before, "if") || is(before, "for") || is(before, "while");
}

void Body::find_statements() {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!starts_statement(i)) continue;
    if (Statement const statement = statement_at(i); is(statement.last, ";"))
      statements_.push_back(statement);
  }
}

Statement Body::statement_at(std::size_t first) const {
  Statement statement{.first = first, .last = first, .callee = {}};
  std::size_t& i = statement.last;
  for (; i < size() && !is(i, ";"); ++i) {
    if (partner(i) > i) i = partner(i);
    if (!is_literal(i) && contains(assignments, code_[i].text)) statement.is_assignment = true;
  }
  statement.is_declaration = is_declaration(first, i);
  statement.is_alone = first > 0 && (is(first - 1, ")") || is(first - 1, "else"));
  if (statement.is_declaration) statement.is_assignment = false;
  if (i >= size() || statement.is_assignment || statement.is_declaration || !is(i - 1, ")"))
    return statement;
  std::size_t const open = partner(i - 1);
  if (open == 0 || !is_name(open - 1)) return statement;
  statement.callee = code_[open - 1].text;
  if (statement.callee == "ADAMANT_TRY" && is_name(open + 1))
    statement.callee = code_[open + 1].text;
  return statement;
}

/// Is it a type, and then a name?
bool Body::is_declaration(std::size_t first, std::size_t last) const {
  if (contains(starts_of_types, code_[first].text)) return true;
  std::size_t i = first;
  while (i + 2 < last && is(i + 1, "::")) i += 2;
  ++i;
  if (is(i, "<")) {
    i = code_.after_angles(i);
    while (i + 1 < last && is(i, "::")) i += 2;
  }
  while (i < last && (is(i, "const") || is(i, "&") || is(i, "*"))) ++i;
  return i < last && is_name(i);
}

}  // namespace adamant::bugs
