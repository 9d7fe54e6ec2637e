// The body of one function as operators look at it: code, and the simple statements in it. It
// guesses what a token means from how clang-format sets it (a binary operator stands between
// blanks, the angle of a template does not), so the source must be formatted.
//
// Not covered: what is compiled by nvcc alone (#ifdef __CUDACC__) is not there; tokens of
// assertions and of the text of errors are there, but muted: a change to them is no mistake.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/bugs/weaver/functions.h"
#include "sim/lexer/code.h"

namespace adamant::bugs {

using Words = std::set<std::string_view>;

/// `callee(...);`, or an assignment, a declaration or another expression: tokens [first, last], of
/// which the last is the semicolon.
struct Statement {
  std::size_t first = 0;
  std::size_t last = 0;
  std::string_view callee = {};  // of a call; within ADAMANT_TRY the one that is tried; else empty
  bool is_assignment = false;
  bool is_declaration = false;
  bool is_alone = false;  // what an if, a loop or an else holds without braces
};

class Body : public sim::Code {
 public:
  /// REQUIRES: `source` outlives this; `function` is of find_functions(source).
  Body(std::string_view source, Function const& function);

  bool is_literal(std::size_t i) const { return (*this)[i].kind == sim::TokenKind::literal; }
  bool is_muted(std::size_t i) const { return muted_[i]; }
  /// Does the file say this word anywhere? What it never says is hardly there.
  bool knows(std::string_view word) const { return source_.find(word) != source_.npos; }

  /// Is the token at i a binary operator?
  bool is_binary(std::size_t i) const;
  /// The first token of a.b->c[d](e) that ends at i.
  std::size_t start_of_chain(std::size_t i) const;
  /// The last token of the operand that begins at i: up to a comma, a closing bracket, a semicolon
  /// or an operator that binds no more than that of `strength` (strength_of).
  std::size_t end_of_operand(std::size_t i, int strength) const;

  /// The one that begins at i.
  std::optional<Statement> statement(std::size_t i) const;
  /// The source from the first to the last token.
  std::string text(std::size_t first, std::size_t last) const;
  bool is_void() const { return is_void_; }

 private:
  void mute();
  bool opens_block(std::size_t i) const;
  bool starts_statement(std::size_t i) const;
  bool is_declaration(std::size_t first, std::size_t last) const;
  std::string_view callee_of(std::size_t close) const;

  std::string_view source_;
  std::vector<bool> muted_;
  bool is_void_ = false;
};

/// How firmly a binary operator holds its operands; 0 where it is none.
int strength_of(std::string_view mark);

}  // namespace adamant::bugs
