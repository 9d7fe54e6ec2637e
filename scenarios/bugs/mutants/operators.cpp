#include "scenarios/bugs/mutants/operators.h"

namespace adamant::bugs {

std::vector<Operator> operators() {
  std::vector<Operator> all;
  for (auto const& some : {operators_on_statements(), operators_on_branches(), operators_on_marks(),
                           operators_on_values(), operators_on_names()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace adamant::bugs
