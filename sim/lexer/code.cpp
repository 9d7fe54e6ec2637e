#include "sim/lexer/code.h"

#include <algorithm>
#include <iterator>

namespace adamant::sim {
namespace {

bool is_seen(Token const& token) {
  return token.kind == TokenKind::name || token.kind == TokenKind::literal ||
         token.kind == TokenKind::mark;
}

bool opens(Token const& token) {
  return token.text == "(" || token.text == "[" || token.text == "{";
}
bool closes(Token const& token) {
  return token.text == ")" || token.text == "]" || token.text == "}";
}

}  // namespace

Code::Code(std::vector<Token> const& tokens) {
  std::ranges::copy_if(tokens, std::back_inserter(tokens_), is_seen);
  pair_brackets();
}

void Code::pair_brackets() {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); ++i) {
    partners_.push_back(i);
    if (closes(tokens_[i]) && !open.empty()) {
      partners_[i] = open.back();
      partners_[open.back()] = i;
      open.pop_back();
    }
    parents_.push_back(open.empty() ? i : open.back());
    if (opens(tokens_[i])) open.push_back(i);
  }
}

bool Code::is(std::size_t i, std::string_view text) const {
  return i < size() && tokens_[i].kind != TokenKind::literal && tokens_[i].text == text;
}

bool Code::is_any(std::size_t i, std::initializer_list<std::string_view> texts) const {
  return std::ranges::any_of(texts, [&](std::string_view text) { return is(i, text); });
}

bool Code::is_name(std::size_t i) const {
  return i < size() && tokens_[i].kind == TokenKind::name;
}

std::size_t Code::after_group(std::size_t i) const {
  return partner(i) > i ? partner(i) + 1 : size();
}

std::size_t Code::after_angles(std::size_t i) const {
  int depth = 0;
  while (i < size() && !is(i, ";")) {
    if (opens(tokens_[i])) {
      i = after_group(i);
      continue;
    }
    if (is(i, "<")) ++depth;
    if (is(i, ">") && --depth == 0) return i + 1;
    ++i;
  }
  return i;
}

std::size_t Code::opening_angle(std::size_t i) const {
  int depth = 0;
  for (std::size_t at = i + 1; at-- > 0 && !is(at, ";");) {
    if (closes(tokens_[at])) at = partner(at);
    if (is(at, ">")) ++depth;
    if (is(at, "<") && --depth == 0) return at;
  }
  return i;
}

}  // namespace adamant::sim
