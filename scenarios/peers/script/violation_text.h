// What the texts of a violation say: which tensor, which bounds, which setting. They are taken
// apart as the verdict puts them together; how a script looks at any of it is not known here.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/script/plan.h"

namespace adamant::scenarios::script {

/// A tensor's name in a violation: its parameter, and what of it.
struct Subject {
  std::string parameter;
  std::string kind;  // "", main, exp_avg, exp_avg_sq, gradient, step
};

Subject subject_of(ViolationReport const& violation);

/// The element, or what else it names: "p0/exp_avg[1]".
std::string place_of(ViolationReport const& violation);

/// "[lo, hi] or inf or nan" in parts.
struct Interval {
  std::string low;
  std::string high;
  std::vector<std::string> others;
};

std::optional<Interval> interval_of(std::string const& text);

/// "rows [0, 5) in fp32": what follows "in", and what stands before it.
std::optional<std::array<std::string, 2>> storage_of(std::string const& text);

/// "adamw lr 0.1 betas 0.9 0.99 eps 1e-08 weight_decay 0": one setting of a group.
struct Setting {
  std::string key;  // as Python finds it in the group
  std::string expected;
};

/// The first setting in which both sides differ.
std::optional<Setting> setting_of(ViolationReport const& violation);

/// What `actual` has to be, as Python writes it.
std::string expected_text(ViolationReport const& violation);

/// The type of the error that the violation speaks of, and the first words of its text: what is in
/// them has to be in the error of a script. Empty: it names none.
std::vector<std::string> error_words(ViolationReport const& violation);

}  // namespace adamant::scenarios::script
