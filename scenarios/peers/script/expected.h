// What a violation expects, as Python writes it. How a script comes to what it compares with that
// is not known here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/seam/violation.h"

namespace adamant::scenarios::script {

/// What it is about, with its element: "p0/exp_avg[1]". Empty where it is about no value by name.
std::string place_of(Violation const& violation);

/// The element's parameter, or that of a step counter; empty where there is none.
std::string parameter_of(Violation const& violation);

/// An interval of numbers in hexadecimal, and what is allowed beside it. One value alone is none.
struct Allowed {
  std::string low;  // empty: there is no interval
  std::string high;
  std::vector<std::string> others;
};

std::optional<Allowed> allowed_by(Violation const& violation);

/// Is a finite number expected, which is compared in hexadecimal?
bool expects_number(Violation const& violation);

/// Are rows stored in another type than they have to be?
bool has_other_type(Violation const& violation);

/// Where settings differ: the key by which Python finds it in the group.
std::string key_of(SettingDifference const& difference);

/// A setting as it is compared: with as many digits as tell it from its neighbours.
std::string written(float setting);

/// "a gradient": whether `.grad` is there.
std::string presence(bool there);

/// What `actual` has to be.
std::string expected_text(Violation const& violation);

/// A checkpoint's name, and a pattern for those of its files that are like the one which differs.
/// REQUIRES: the violation is about a file.
std::pair<std::string, std::string> files_like(Violation const& violation);

/// The type of the error that the engine speaks of, and the first words of its text: what is in
/// them has to be in the error of a script. Empty: it names none.
std::vector<std::string> error_words(Violation const& violation);

}  // namespace adamant::scenarios::script
