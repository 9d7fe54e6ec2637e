// What of a tensor the elements are that were found wrong: all of it, what a rank holds, or a
// block.
#pragma once

#include <vector>

#include "oracle/layout/layout.h"
#include "oracle/types.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// Of which tensor they are, and who holds what of it: now, and when what was loaded was saved.
struct Whereabouts {
  ParameterSpec const& spec;
  int parameter = 0;
  TensorKind kind = TensorKind::parameter;
  oracle::Layout const* now = nullptr;  // null: not known
  oracle::Layout const* saved = nullptr;
};

/// Of these, the first of WrongElements::Part's that they are exactly, from `whole` on; else
/// `some`. REQUIRES: there are some; ranges do not overlap, and come in any order.
WrongElements wrong_elements(std::vector<ElementRange> elements, Whereabouts const& of);

}  // namespace adamant::scenarios
