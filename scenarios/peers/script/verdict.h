// What a script expects, at its head, and how it compares that with what it found, at its end. How
// it came to `actual` is not known here.
#pragma once

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// Constants at the head of the script.
void write_expectation(Draft& draft);

/// The end: prints both sides; exit status 1 where the defect shows.
void write_verdict(Draft& draft);

}  // namespace adamant::scenarios::script
