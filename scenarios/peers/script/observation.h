// What a violation is about, in the words of a script: what it looks at, and what it calls it. What
// that has to be is the verdict's part.
#pragma once

#include <string>

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

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

/// In the world that shows it: lines after which `actual` is a text; in the first of two runs
/// `expected`. What processes of their own find they write down.
void write_look(Draft& draft, World const& world);

/// What is wrong, in one line.
std::string title(Plan const& plan);

}  // namespace adamant::scenarios::script
