// What a violation expects, as a recorded session writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "scenarios/seam/violation.h"

namespace adamant::scenarios::script {

/// Keys stay in the order in which they are written.
using Json = nlohmann::ordered_json;

/// What it is about, with its element: "p0/exp_avg[1]". Empty where it is about no value by name.
std::string place_of(Violation const& violation);

/// What `actual` has to be: a text, or an interval of numbers in hexadecimal and what is allowed
/// beside it. An interval of one value alone is a text.
Json expected_of(Violation const& violation);

/// Is a number expected, which is compared in hexadecimal?
bool expects_number(Violation const& violation);

/// A checkpoint's name, and a pattern for those of its files that are like the one which differs.
/// REQUIRES: the violation is about a file.
std::pair<std::string, std::string> files_like(Violation const& violation);

}  // namespace adamant::scenarios::script
