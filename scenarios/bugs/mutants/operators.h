// What a mistake can be: each operator finds the places of a function where it could have been
// made, and says what would stand there.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
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

/// What a mistake at token i makes of the code, if it can be made there.
using Found = std::optional<Replacement>;
using Rule = std::function<Found(Body const& code, std::size_t i)>;

struct Operator {
  std::string_view name;
  std::string_view mistake;  // for people
  Rule rule;
};

/// In the order of the function.
std::vector<Replacement> replacements_of(Operator const& one, Body const& code);

/// All of them.
std::vector<Operator> const& operators();

std::vector<Operator> operators_on_statements();
std::vector<Operator> operators_on_marks();
std::vector<Operator> operators_on_values();
std::vector<Operator> operators_on_names();

}  // namespace adamant::bugs
