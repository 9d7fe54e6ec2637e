// What people read of a violation: the only place that makes sentences of one. Whoever decides
// anything looks at the violation itself (seam/violation.h), so a sentence may find better words
// whenever somebody has them.
#pragma once

#include <string>

#include "scenarios/seam/result.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// A number in hexadecimal floating point, exactly.
std::string hexadecimal(float x);
/// A number in as many decimal digits as tell it from its neighbours.
std::string decimal(float x);

/// "embed.weight/exp_avg", "embed.weight/step", "norm"; empty where it is about none of these.
std::string subject_in_words(Violation const& violation);

/// "operation 4, rank 1, embed.weight/exp_avg[17]".
std::string place_in_words(Violation const& violation);
/// The same without what it is about: "operation 4, rank 1".
std::string moment_in_words(Violation const& violation);
/// "elements 9 to 17 of weight: all that rank 1 had when it was saved"; empty where the place says
/// it all.
std::string elements_in_words(Violation const& violation);
/// "3 times, on ranks 0, 1"; empty where it was found once.
std::string repetitions_in_words(Violation const& violation);

/// Both sides; empty where there is nothing to compare.
struct Sides {
  std::string expected = "";
  std::string actual = "";
  std::string expected_decimal = "";
  std::string actual_decimal = "";
};
Sides sides_in_words(Violation const& violation);

/// One side, as a violation of this breach has it.
std::string value_in_words(Breach breach, Value const& value);

/// What is wrong, in one sentence; what a simulated world says may have several lines.
std::string message_of(Violation const& violation);

/// Law, sentence, place and both sides in one line.
std::string in_one_line(Violation const& violation);

/// Why the run was refused or broke off; empty where it did neither.
std::string message_of(RunResult const& result);

/// How a call ended that should have returned; `text` is what the engine said of it.
std::string ending_in_words(Call const& call, std::string const& text);

}  // namespace adamant::scenarios
