// Where a setting's layout puts parameters. Layouts follow the order in which a world registers
// them; everything else in a run numbers them as the file lists them.
#pragma once

#include <vector>

#include "oracle/layout/layout.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// The parameters in the order of registration, along which their units are numbered, too.
std::vector<ParameterSpec> as_registered(std::vector<ParameterSpec> parameters, ParamOrder order);

/// The number that a parameter of the file has in as_registered().
inline int registered_number(int parameter, int count, ParamOrder order) {
  return order == ParamOrder::reversed ? count - 1 - parameter : parameter;
}

/// Who holds what under a setting, by numbers of the file. REQUIRES: as oracle::lay_out().
oracle::Layout layout_of(Scenario const& setting, std::vector<ParameterSpec> const& parameters);

}  // namespace adamant::scenarios
