// What a mistake can be: each operator finds the places of a function where it could have been
// made, and says what would stand there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/bugs/mutants/body.h"

namespace adamant::bugs {

/// The tokens [first, last] become `text`.
struct Replacement {
  std::size_t first = 0;
  std::size_t last = 0;
  std::string text;
};

using Replacements = std::vector<Replacement>;

struct Operator {
  std::string_view name;
  std::string_view mistake;  // for people
  void (*find)(Body const& code, Replacements& found);
};

/// All of them.
std::vector<Operator> operators();

std::span<Operator const> operators_on_statements();
std::span<Operator const> operators_on_branches();
std::span<Operator const> operators_on_marks();
std::span<Operator const> operators_on_values();
std::span<Operator const> operators_on_names();

}  // namespace adamant::bugs
