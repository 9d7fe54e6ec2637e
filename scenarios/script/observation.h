// What a violation is about, in the words of a script: what it looks at, what that has to be, and
// how the two are compared.
#pragma once

#include <string>

#include "scenarios/script/part.h"

namespace adamant::scenarios::script {

/// A tensor's name in a violation: its parameter, and what of it.
struct Subject {
  std::string parameter;
  std::string kind;  // "", main, exp_avg, exp_avg_sq, gradient, step
};

Subject subject_of(ViolationReport const& violation);

/// Is the defect that something fails (or does not fail), not a value?
bool observes_error(Plan const& plan);
/// Is an error what should have come?
bool wants_error(Plan const& plan);
/// Is it about what clip_grad_norm_ returns?
bool observes_norm(Plan const& plan);
/// Are ranks compared with each other?
bool compares_ranks(Plan const& plan);

/// What a step has to keep for the comparison, before it.
void write_before_step(Draft& draft);

/// Constants at the head of the script.
void write_expectation(Draft& draft);

/// In the last world: lines after which `actual` is a text.
void write_look(Draft& draft);

/// The end: prints both sides; exit status 1 where the defect shows.
void write_verdict(Draft& draft);

/// What is wrong, in one line.
std::string title(Plan const& plan);

}  // namespace adamant::scenarios::script
