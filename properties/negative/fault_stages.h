// The stages on which the engine makes its mistakes: for each of them the smallest scenario in
// which it shows, and what must be reported there. It runs nothing.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "real/fault.h"
#include "scenarios/model/scenario.h"

namespace adamant::properties {

using LawSet = std::set<std::string>;

/// Where a mistake is made, and the laws that must be reported: its own, and those that cannot hold
/// when that one falls.
struct Play {
  scenarios::Scenario scenario;
  LawSet laws;
  int schedules = 0;  // further ones, where no single run can show the mistake
};

/// Errors: std::out_of_range for a fault that has no stage.
Play play_of(real::FaultInfo const& fault);

}  // namespace adamant::properties
