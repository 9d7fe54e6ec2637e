#include "sim/lexer/macros.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace adamant::sim {
namespace {

bool is_gap(Token const& token) {
  return token.kind == TokenKind::space || token.kind == TokenKind::comment;
}

bool is_mark(std::vector<Token> const& tokens, std::size_t i, std::string_view text) {
  return i < tokens.size() && tokens[i].kind == TokenKind::mark && tokens[i].text == text;
}

std::size_t skip_gaps(std::vector<Token> const& tokens, std::size_t i) {
  while (i < tokens.size() && is_gap(tokens[i])) ++i;
  return i;
}

/// Of the tokens behind # of a #define, the one with the macro's name.
std::optional<std::size_t> name_in(std::vector<Token> const& tokens) {
  std::size_t const define = skip_gaps(tokens, 0);
  if (define >= tokens.size() || tokens[define].text != "define") return std::nullopt;
  std::size_t const name = skip_gaps(tokens, define + 1);
  return name < tokens.size() ? std::optional(name) : std::nullopt;
}

std::vector<Token> tokens_behind_hash(Token const& directive) {
  return tokenize(directive.text.substr(1));
}

/// Three < without a gap; `operator<<<T>` is no launch.
bool has_chevron(std::vector<Token> const& tokens, std::size_t first) {
  std::string_view before;
  for (std::size_t i = first; i < tokens.size(); ++i) {
    if (is_gap(tokens[i])) continue;
    bool const is_chevron =
        is_mark(tokens, i, "<") && is_mark(tokens, i + 1, "<") && is_mark(tokens, i + 2, "<");
    if (is_chevron && before != "operator") return true;
    before = tokens[i].text;
  }
  return false;
}

/// The first token of what the macro with its name at `name` expands to. Parameters follow the name
/// without a gap.
std::size_t body_of(std::vector<Token> const& tokens, std::size_t name) {
  std::size_t i = name + 1;
  if (!is_mark(tokens, i, "(")) return i;
  while (i < tokens.size() && !is_mark(tokens, i, ")")) ++i;
  return i + 1;
}

std::string error_of(std::string_view macro, int line) {
  return " _Pragma(\"GCC error \\\"the macro " + std::string(macro) + " of line " +
         std::to_string(line) +
         " spells a kernel launch (<<<...>>>), which is not modelled in macros: write it in a "
         "function or a lambda\\\"\")";
}

}  // namespace

std::optional<std::string_view> defined_macro(Token const& directive) {
  std::vector<Token> const tokens = tokens_behind_hash(directive);
  auto const name = name_in(tokens);
  return name ? std::optional(tokens[*name].text) : std::nullopt;
}

std::optional<Edit> refused_launch(Token const& directive) {
  std::vector<Token> const tokens = tokens_behind_hash(directive);
  auto const name = name_in(tokens);
  if (!name) return std::nullopt;
  std::size_t const body = body_of(tokens, *name);
  if (!has_chevron(tokens, body)) return std::nullopt;
  Edit edit{.begin = directive.offset + 1 + tokens[body].offset,
            .end = directive.offset + directive.text.size(),
            .text = error_of(tokens[*name].text, directive.line)};
  auto const lines = std::ranges::count(directive.text.substr(1 + tokens[body].offset), '\n');
  for (std::ptrdiff_t i = 0; i < lines; ++i) edit.text += " \\\n";
  return edit;
}

}  // namespace adamant::sim
