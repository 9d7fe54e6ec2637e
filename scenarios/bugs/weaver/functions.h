// Finds the functions that a C++ source defines at the scope of namespaces and classes: their
// names, their bodies and the lines they fill. Lambdas and local classes belong to the function
// around them.
//
// Not covered: braces that come from macros or that differ between branches of #if, function try
// blocks, functions whose result is a pointer to a function (their name comes out wrong, their body
// right).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::bugs {

struct Function {
  std::string name;       // with all scopes: adamant::real::StepTable::advance
  std::size_t open = 0;   // offset of the body's {
  std::size_t close = 0;  // offset of its }
  int first_line = 1;     // where the definition begins
  int open_line = 1;
  int close_line = 1;

  /// Is `text` its name, with as many of its scopes as the writer liked?
  bool is_called(std::string_view text) const;
};

/// In the order of the source.
/// Errors: none. What is not understood holds no function.
std::vector<Function> find_functions(std::string_view source);

}  // namespace adamant::bugs
