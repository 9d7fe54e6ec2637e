#include "scenarios/bugs/mutants/code.h"

#include <algorithm>
#include <array>

#include "sim/lexer/tokens.h"

namespace adamant::bugs {

namespace {

using sim::Token;
using sim::TokenKind;
using namespace std::string_view_literals;

constexpr std::array marks_of_two = {"=="sv, "!="sv, "&&"sv, "||"sv, "+="sv, "-="sv, "*="sv,
                                     "/="sv, "++"sv, "--"sv, "<<"sv, ">>"sv, "|="sv, "&="sv};

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

bool joins(Token const& first, Token const& second, std::string_view source) {
  return first.kind == TokenKind::mark && second.kind == TokenKind::mark &&
         first.text.size() == 1 && second.text.size() == 1 && first.offset + 1 == second.offset &&
         contains(marks_of_two, source.substr(first.offset, 2));
}

/// What a compiler for the simulator sees between the braces.
std::vector<CodeToken> tokens_of_body(std::string_view source, Function const& function) {
  std::vector<CodeToken> result;
  Branches branches;
  std::vector<Token> const tokens = sim::tokenize(source);
  for (std::size_t i = 0; i < tokens.size() && tokens[i].offset < function.close; ++i) {
    Token const& token = tokens[i];
    if (token.kind == TokenKind::directive) branches.see(token.text);
    bool const counts = token.kind == TokenKind::name || token.kind == TokenKind::literal ||
                        token.kind == TokenKind::mark;
    if (!counts || token.offset <= function.open || branches.are_dead()) continue;
    bool const two = i + 1 < tokens.size() && joins(token, tokens[i + 1], source);
    result.push_back({.text = two ? source.substr(token.offset, 2) : token.text,
                      .offset = token.offset,
                      .is_name = token.kind == TokenKind::name,
                      .is_literal = token.kind == TokenKind::literal});
    if (two) ++i;
  }
  return result;
}

bool is_open(std::string_view mark) {
  return mark == "(" || mark == "[" || mark == "{";
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

Code::Code(std::string_view source, Function const& function)
    : source_(source), tokens_(tokens_of_body(source, function)) {
  std::size_t const name =
      source.rfind(function.name.substr(function.name.rfind(':') + 1) + "(", function.open);
  std::size_t const line = name == std::string_view::npos ? 0 : source.rfind('\n', name) + 1;
  is_void_ =
      name != std::string_view::npos &&
      (" " + std::string(source.substr(line, name - line))).find(" void ") != std::string::npos;
  pair();
  mute();
  find_statements();
}

bool Code::is(std::size_t i, std::string_view text) const {
  return i < size() && !tokens_[i].is_literal && tokens_[i].text == text;
}

void Code::pair() {
  partners_.resize(size());
  parents_.resize(size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); ++i) {
    partners_[i] = i;
    bool const is_mark = !tokens_[i].is_name && !tokens_[i].is_literal;
    if (is_mark && is_close(tokens_[i].text) && !open.empty()) {
      partners_[i] = open.back();
      partners_[open.back()] = i;
      open.pop_back();
    }
    parents_[i] = open.empty() ? i : open.back();
    if (is_mark && is_open(tokens_[i].text)) open.push_back(i);
  }
}

// Assertions, and the words of errors: from what is thrown, or handed to refuse...(), to its end.
void Code::mute() {
  for (std::size_t i = 0; i + 1 < size(); ++i) {
    std::string_view const text = tokens_[i].text;
    bool const formats = text == "format" && i > 1 && is(i - 2, "fmt");
    bool const speaks = text.ends_with("_ASSERT") || text == "static_assert" || text == "concat" ||
                        text.starts_with("refuse") || formats;
    if (speaks && is(i + 1, "("))
      for (std::size_t k = i + 1; k <= partners_[i + 1]; ++k) tokens_[k].is_muted = true;
    if (is(i, "throw"))
      for (std::size_t k = i + 1; k < size() && !is(k, ";"); ++k) tokens_[k].is_muted = true;
  }
}

bool Code::is_binary(std::size_t i) const {
  if (strength_of(tokens_[i].text) == 0 || tokens_[i].is_literal || i == 0) return false;
  auto const is_blank = [&](std::size_t at) { return source_[at] == ' ' || source_[at] == '\n'; };
  return is_blank(tokens_[i].offset - 1) && is_blank(tokens_[i].end()) && !is(i - 1, "(") &&
         !is(i - 1, ",") && !is(i - 1, "return");
}

std::size_t Code::start_of_chain(std::size_t i) const {
  while (true) {
    while ((is(i, ")") || is(i, "]")) && partners_[i] > 0) i = partners_[i] - 1;
    if (i < 2 || !(is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::"))) return i;
    if (!is_name(i - 2) && !is(i - 2, ")") && !is(i - 2, "]")) return i;
    i -= 2;
  }
}

std::size_t Code::end_of_operand(std::size_t i, int strength) const {
  for (; i < size(); ++i) {
    if (!tokens_[i].is_literal && is_open(tokens_[i].text)) i = partners_[i];
    bool const ends = i + 1 >= size() || is(i + 1, ",") || is(i + 1, ";") || is(i + 1, "?") ||
                      is(i + 1, ":") || is_close(tokens_[i + 1].text);
    if (ends || (is_binary(i + 1) && strength_of(tokens_[i + 1].text) <= strength)) return i;
  }
  return size() - 1;
}

std::string Code::text(std::size_t first, std::size_t last) const {
  return std::string(
      source_.substr(tokens_[first].offset, tokens_[last].end() - tokens_[first].offset));
}

// ---- statements ---------------------------------------------------------------------------------

bool Code::opens_block(std::size_t i) const {
  if (!is(i, "{")) return false;
  if (i == 0) return true;
  return is(i - 1, ")") || is(i - 1, "]") || is(i - 1, "else") || is(i - 1, "do") ||
         is(i - 1, "try") || is(i - 1, ";") || is(i - 1, ":") || is(i - 1, "mutable");
}

bool Code::starts_statement(std::size_t i) const {
  bool const in_block = parents_[i] == i || opens_block(parents_[i]);
  if (!in_block || !tokens_[i].is_name || contains(no_statements, tokens_[i].text)) return false;
  if (i == 0 || is(i - 1, ";") || is(i - 1, "else") || is(i - 1, "do")) return true;
  if (opens_block(i - 1)) return true;
  if (is(i - 1, "}")) return opens_block(partners_[i - 1]);
  if (is(i - 1, ":")) return i > 1 && !is(i - 2, ")");
  if (!is(i - 1, ")") || partners_[i - 1] == 0) return false;
  std::size_t const before = partners_[i - 1] - 1;
  return is(before, "if") || is(before, "for") || is(before, "while");
}

void Code::find_statements() {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!starts_statement(i)) continue;
    if (Statement const statement = statement_at(i); is(statement.last, ";"))
      statements_.push_back(statement);
  }
}

Statement Code::statement_at(std::size_t first) const {
  Statement statement{.first = first, .last = first, .callee = {}};
  std::size_t& i = statement.last;
  for (; i < size() && !is(i, ";"); ++i) {
    if (!tokens_[i].is_literal && is_open(tokens_[i].text)) i = partners_[i];
    if (!tokens_[i].is_literal && contains(assignments, tokens_[i].text))
      statement.is_assignment = true;
  }
  statement.is_declaration = is_declaration(first, i);
  statement.is_alone = first > 0 && (is(first - 1, ")") || is(first - 1, "else"));
  if (statement.is_declaration) statement.is_assignment = false;
  if (i >= size() || statement.is_assignment || statement.is_declaration || !is(i - 1, ")"))
    return statement;
  std::size_t const open = partners_[i - 1];
  if (open == 0 || !is_name(open - 1)) return statement;
  statement.callee = tokens_[open - 1].text;
  if (statement.callee == "ADAMANT_TRY" && is_name(open + 1))
    statement.callee = tokens_[open + 1].text;
  return statement;
}

/// Is it a type, and then a name?
bool Code::is_declaration(std::size_t first, std::size_t last) const {
  if (contains(starts_of_types, tokens_[first].text)) return true;
  std::size_t i = first;
  while (i + 2 < last && is(i + 1, "::")) i += 2;
  ++i;
  if (is(i, "<")) {
    int depth = 0;
    for (; i < last; ++i) {
      if (is(i, "<")) ++depth;
      if (is(i, ">") && --depth == 0) break;
    }
    ++i;
    while (i + 1 < last && is(i, "::")) i += 2;
  }
  while (i < last && (is(i, "const") || is(i, "&") || is(i, "*"))) ++i;
  return i < last && is_name(i);
}

}  // namespace adamant::bugs
