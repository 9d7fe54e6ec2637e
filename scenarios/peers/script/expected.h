// What a violation expects, as a recorded session writes it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/seam/violation.h"

namespace adamant::scenarios::script {

/// What it is about, with its element: "p0/exp_avg[1]". Empty where it is about no value by name.
std::string place_of(Violation const& violation);

/// An interval of numbers in hexadecimal, and what is allowed beside it. One value alone is none.
struct Allowed {
  std::string low;  // empty: there is no interval
  std::string high;
  std::vector<std::string> others;
};

std::optional<Allowed> allowed_by(Violation const& violation);

/// Is a finite number expected, which is compared in hexadecimal?
bool expects_number(Violation const& violation);

/// What `actual` has to be.
std::string expected_text(Violation const& violation);

/// A checkpoint's name, and a pattern for those of its files that are like the one which differs.
/// REQUIRES: the violation is about a file.
std::pair<std::string, std::string> files_like(Violation const& violation);

}  // namespace adamant::scenarios::script
