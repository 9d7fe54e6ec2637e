#include "scenarios/bugs/mutants/body.h"

#include <algorithm>
#include <map>

#include "sim/lexer/tokens.h"

namespace adamant::bugs {

namespace {

using sim::Token;
using sim::TokenKind;

Words const no_statements = {"if",       "for",    "while",    "switch",       "return",
                             "else",     "do",     "case",     "default",      "break",
                             "throw",    "try",    "catch",    "using",        "class",
                             "continue", "struct", "template", "static_assert"};

Words const starts_of_types = {"auto", "const", "static", "constexpr", "bool",
                               "int",  "float", "double", "unsigned",  "char"};

/// Follows #if ... #else ... #endif: is what stands there for nvcc alone?
class Branches {
 public:
  void see(std::string_view directive) {
    if (directive.starts_with("#if")) open_.push_back(directive);
    if (open_.empty()) return;
    if (directive.starts_with("#else"))
      open_.back() = open_.back() == of_others ? of_nvcc : of_others;
    if (directive.starts_with("#endif")) open_.pop_back();
  }
  bool are_dead() const { return std::ranges::find(open_, of_nvcc) != open_.end(); }

 private:
  static constexpr std::string_view of_nvcc = "#ifdef __CUDACC__";
  static constexpr std::string_view of_others = "#ifndef __CUDACC__";
  std::vector<std::string_view> open_;
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

}  // namespace

int strength_of(std::string_view mark) {
  static std::map<std::string_view, int> const strengths = {
      {"&&", 1}, {"||", 1}, {"==", 2}, {"!=", 2}, {"&", 2}, {"|", 2}, {"<", 3}, {">", 3}, {"<=", 3},
      {">=", 3}, {"<<", 4}, {">>", 4}, {"+", 5},  {"-", 5}, {"*", 6}, {"/", 6}, {"%", 6}};
  auto const found = strengths.find(mark);
  return found == strengths.end() ? 0 : found->second;
}

Body::Body(std::string_view source, Function const& function)
    : Code(tokens_of_body(source, function)), source_(source), muted_(size()) {
  std::size_t const name =
      source.rfind(function.name.substr(function.name.rfind(':') + 1) + "(", function.open);
  if (name != source.npos) {
    std::size_t const line = source.rfind('\n', name) + 1;  // npos + 1 is 0
    is_void_ = (" " + std::string(source.substr(line, name - line))).find(" void ") != source.npos;
  }
  mute();
}

// Assertions, and the words of errors: from what is thrown, or handed to refuse...(), to its end.
void Body::mute() {
  for (std::size_t i = 0; i + 1 < size(); ++i) {
    std::string_view const word = (*this)[i].text;
    bool const formats = word == "format" && i > 1 && is(i - 2, "fmt");
    bool const speaks = word.ends_with("_ASSERT") || is_any(i, {"static_assert", "concat"}) ||
                        word.starts_with("refuse") || formats;
    if (speaks && is(i + 1, "("))
      for (std::size_t k = i + 1; k <= partner(i + 1); ++k) muted_[k] = true;
    if (is(i, "throw"))
      for (std::size_t k = i + 1; k < size() && !is(k, ";"); ++k) muted_[k] = true;
  }
}

bool Body::is_binary(std::size_t i) const {
  if (i == 0 || i >= size() || is_literal(i) || strength_of((*this)[i].text) == 0) return false;
  auto const is_blank = [&](std::size_t at) { return source_[at] == ' ' || source_[at] == '\n'; };
  return is_blank((*this)[i].offset - 1) && is_blank((*this)[i].end()) &&
         !is_any(i - 1, {"(", ",", "return"});
}

std::size_t Body::start_of_chain(std::size_t i) const {
  while (true) {
    while (is_any(i, {")", "]"}) && partner(i) > 0) i = partner(i) - 1;
    if (i < 2 || !is_any(i - 1, {".", "->", "::"})) return i;
    if (!is_name(i - 2) && !is_any(i - 2, {")", "]"})) return i;
    i -= 2;
  }
}

std::size_t Body::end_of_operand(std::size_t i, int strength) const {
  for (; i < size(); ++i) {
    if (partner(i) > i) i = partner(i);
    bool const ends = i + 1 >= size() || is_any(i + 1, {",", ";", "?", ":", ")", "]", "}"});
    if (ends || (is_binary(i + 1) && strength_of((*this)[i + 1].text) <= strength)) return i;
  }
  return size() - 1;
}

std::string Body::text(std::size_t first, std::size_t last) const {
  return std::string(
      source_.substr((*this)[first].offset, (*this)[last].end() - (*this)[first].offset));
}

// ---- statements ---------------------------------------------------------------------------------

bool Body::opens_block(std::size_t i) const {
  return is(i, "{") &&
         (i == 0 || is_any(i - 1, {")", "]", "else", "do", "try", ";", ":", "mutable"}));
}

bool Body::starts_statement(std::size_t i) const {
  if (!is_name(i) || no_statements.contains((*this)[i].text)) return false;
  if (parent(i) != i && !opens_block(parent(i))) return false;
  if (i == 0 || is_any(i - 1, {";", "else", "do"}) || opens_block(i - 1)) return true;
  if (is(i - 1, "}")) return opens_block(partner(i - 1));
  if (is(i - 1, ":")) return i > 1 && !is(i - 2, ")");
  return is(i - 1, ")") && partner(i - 1) > 0 && is_any(partner(i - 1) - 1, {"if", "for", "while"});
}

std::optional<Statement> Body::statement(std::size_t first) const {
  if (!starts_statement(first)) return {};
  Statement statement{.first = first, .last = first};
  std::size_t& i = statement.last;
  for (; i < size() && !is(i, ";"); ++i) {
    if (partner(i) > i) i = partner(i);
    if (is_any(i, {"=", "+=", "-=", "*=", "/=", "|=", "&="})) statement.is_assignment = true;
  }
  if (i >= size()) return {};
  statement.is_declaration = is_declaration(first, i);
  statement.is_alone = first > 0 && is_any(first - 1, {")", "else"});
  if (statement.is_declaration) statement.is_assignment = false;
  if (!statement.is_assignment && !statement.is_declaration) statement.callee = callee_of(i - 1);
  return statement;
}

/// Of a call that ends at `close`.
std::string_view Body::callee_of(std::size_t close) const {
  std::size_t const open = partner(close);
  if (!is(close, ")") || open == 0 || !is_name(open - 1)) return {};
  bool const is_tried = is(open - 1, "ADAMANT_TRY") && is_name(open + 1);
  return (*this)[is_tried ? open + 1 : open - 1].text;
}

/// Is it a type, and then a name?
bool Body::is_declaration(std::size_t first, std::size_t last) const {
  if (starts_of_types.contains((*this)[first].text)) return true;
  std::size_t i = first;
  while (i + 2 < last && is(i + 1, "::")) i += 2;
  ++i;
  if (is(i, "<")) {
    i = after_angles(i);
    while (i + 1 < last && is(i, "::")) i += 2;
  }
  while (i < last && is_any(i, {"const", "&", "*"})) ++i;
  return i < last && is_name(i);
}

}  // namespace adamant::bugs
