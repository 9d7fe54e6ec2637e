// C++ as the simulator's lexer and the weaver of bugs read it.
#include <algorithm>
#include <string>

#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "scenarios/bugs/weaver/bug_file.h"
#include "scenarios/bugs/weaver/catalogue_text.h"
#include "scenarios/bugs/weaver/functions.h"
#include "scenarios/bugs/weaver/patch.h"
#include "scenarios/bugs/weaver/weave.h"
#include "sim/lexer/rewrite.h"
#include "sim/lexer/tokens.h"

namespace adamant::properties {

namespace {

constexpr char const* target_name = "real/f.cpp";

void expect_all_in_tokens(std::string const& source) {
  std::size_t at = 0;
  for (sim::Token const& token : sim::tokenize(source)) {
    require(token.offset == at && !token.text.empty(), "a byte is in no token, or in two");
    at += token.text.size();
  }
  require(at == source.size(), "the end is in no token");
}

void expect_inside(std::string const& source, bugs::Function const& function) {
  require(function.open <= function.close && function.close < source.size(),
          "a function's braces lie outside of the source");
  require(source[function.open] == '{' && source[function.close] == '}', "they are no braces");
  require(function.first_line <= function.open_line && function.open_line <= function.close_line,
          "a function ends before it begins");
}

}  // namespace

bool read_lexer(Bytes bytes) {
  std::string const source = text_of(bytes);
  expect_all_in_tokens(source);
  try {
    std::string const rewritten = sim::rewrite(source, "f.cu");
    require(std::ranges::count(rewritten, '\n') == std::ranges::count(source, '\n'),
            "a token has left its line");
    return true;
  } catch (sim::RewriteError const& error) {
    require(std::string(error.what()).starts_with("f.cu:"), "an error names no place");
    return false;
  }
}

bool read_bugs(Bytes bytes) {
  auto const parts = split(bytes, "====");
  bugs::Target const target(target_name, parts.front());
  for (bugs::Function const& function : target.functions) expect_inside(target.text, function);
  bugs::Problems problems;
  std::vector<bugs::BugFile> files;
  for (std::size_t i = 1; i < parts.size(); ++i)
    files.push_back(bugs::read_bug_file("b.diff", parts[i], problems));
  if (!problems.empty()) return false;
  bugs::Weave weave(target, target_name);
  for (bugs::BugFile const& file : files) weave.add(file, problems);
  for (bugs::Problem const& problem : problems)
    require(problem.line > 0 && !problem.message.empty(), "a problem names no place");
  if (!problems.empty()) return false;
  weave.text();
  bugs::catalogue_text(files);
  return true;
}

}  // namespace adamant::properties
