// Cuts C++ source text into tokens, just finely enough to find kernel launches.
//
// Every byte of the text belongs to exactly one token, so that text between tokens can be replaced
// and the rest kept. It knows nothing of the preprocessor: a directive is one token.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::sim {

enum class TokenKind {
  space,      // blanks, line ends, spliced lines
  comment,    // either kind
  directive,  // from # to the end of its line, continued lines included
  literal,    // strings, raw strings, characters, numbers
  name,       // identifiers and keywords
  mark,       // punctuation: an operator of two is one, but << and >> are two, as brackets are
};

struct Token {
  TokenKind kind = TokenKind::space;
  std::string_view text;
  std::size_t offset = 0;  // of the first byte
  int line = 1;            // of the first byte

  std::size_t end() const { return offset + text.size(); }
};

/// Errors: none. A literal or comment that does not end runs to the end of its line or of the text:
/// the compiler will say it better.
std::vector<Token> tokenize(std::string_view source);

/// Bytes [begin, end) of a text become others.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// The text with all of them, those of one place in their order.
///
/// REQUIRES: no two of them overlap.
std::string edited(std::string_view text, std::vector<Edit> edits);

}  // namespace adamant::sim
