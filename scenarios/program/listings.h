// The commands that run no scenario: `adamant laws` lists the identifiers that scenarios and
// results use, `adamant bugs` the catalogue, `adamant help` explains a word of the format, `adamant
// doctor` says what this machine has, or what is wrong with an engine outside the process.
#pragma once

#include <string>
#include <vector>

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// Errors: CannotWrite.
Status laws_command(Arguments const& arguments);

/// Errors: CannotWrite.
Status bugs_command(Arguments const& arguments);

/// What the format's tables say of a key or an operation; bad input where there is none.
Status help_command(Arguments const& arguments);

/// One thing that a machine has or lacks.
struct MachinePart {
  std::string what;
  std::string found;  // a version, a count, or why it is not there
};

/// Compiler, processor, toolkit, GPUs, NCCL and MPI. Looks, and changes nothing.
std::vector<MachinePart> examine_machine();

/// Of this machine, or of the engine that the arguments name.
///
/// Errors: CannotWrite; MachineLacks where that engine cannot be started.
Status doctor_command(Arguments const& arguments);

}  // namespace adamant::scenarios
