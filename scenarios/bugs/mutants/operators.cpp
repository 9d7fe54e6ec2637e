#include "scenarios/bugs/mutants/operators.h"

#include <utility>

namespace adamant::bugs {

std::vector<Replacement> replacements_of(Operator const& one, Body const& code) {
  std::vector<Replacement> all;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (auto found = one.rule(code, i)) all.push_back(std::move(*found));
  return all;
}

std::vector<Operator> const& operators() {
  static std::vector<Operator> const all = [] {
    std::vector<Operator> joined;
    for (auto const of_a_kind :
         {operators_on_statements, operators_on_marks, operators_on_values, operators_on_names})
      for (Operator& one : of_a_kind()) joined.push_back(std::move(one));
    return joined;
  }();
  return all;
}

}  // namespace adamant::bugs
