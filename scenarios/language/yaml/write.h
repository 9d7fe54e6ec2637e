// From a Scenario to YAML text in its normal form: keys in the order of the format, defaults left
// out, small maps on one line. One scenario has one text, so that what minimising made of
// one defect twice can be compared as files.
#pragma once

#include <string>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// The normal form of `scenario`; reading it back gives an equal scenario.
///
/// REQUIRES: names in the format's alphabet, numbers in its ranges and a schedule that is either
///           recorded or a strategy, as the reader ensures.
std::string write_scenario(Scenario const& scenario);

}  // namespace adamant::scenarios
