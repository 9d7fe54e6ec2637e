// What a compiler sees of C++ source: tokens without blanks, comments and directives, and which
// brackets belong together. It knows nothing of declarations and statements.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "sim/lexer/tokens.h"

namespace adamant::sim {

class Code {
 public:
  /// REQUIRES: the source of the tokens outlives this.
  explicit Code(std::vector<Token> const& tokens);

  std::size_t size() const { return tokens_.size(); }
  Token const& operator[](std::size_t i) const { return tokens_[i]; }
  /// Is the token at i this name or mark? Past the end there is none.
  bool is(std::size_t i, std::string_view text) const;
  bool is_any(std::size_t i, std::initializer_list<std::string_view> texts) const;
  bool is_name(std::size_t i) const;

  /// Of a bracket (, [ or { or their ends, the one that belongs to it; i where there is none.
  std::size_t partner(std::size_t i) const { return partners_[i]; }
  /// The innermost bracket that is open at i; i where there is none.
  std::size_t parent(std::size_t i) const { return parents_[i]; }
  /// Past the group that opens at i, or the end of the source.
  std::size_t after_group(std::size_t i) const;
  /// Past the > of the < at i; brackets hide what they hold. Where there is none before a
  /// semicolon, that, or the end of the source.
  std::size_t after_angles(std::size_t i) const;
  /// The < of the > at i; brackets hide what they hold. i where there is none behind a semicolon.
  std::size_t opening_angle(std::size_t i) const;

 private:
  void pair_brackets();

  std::vector<Token> tokens_;
  std::vector<std::size_t> partners_;
  std::vector<std::size_t> parents_;
};

}  // namespace adamant::sim
