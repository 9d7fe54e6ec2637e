// What an engine executes, and with which reason everything else is refused. It judges a
// well-formed scenario by what the engine says of itself, before anything runs; refusals that only
// a run can find (out_of_memory) are the runner's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/capabilities.h"

namespace adamant::scenarios {

/// Why a scenario is not executed.
struct Refusal {
  std::string id;       // one of refusal_reasons(), laws.h
  std::string message;  // what was found, and what is supported
  int line = 0;         // in the scenario file; 0: unknown

  friend bool operator==(Refusal const&, Refusal const&) = default;
};

/// `unsupported.<detail>`.
Refusal unsupported(std::string_view detail, std::string message, SourceLine line);

/// What an engine can in a run that resumes: any can be opened once more, and needs no word for it.
Capabilities in_further_runs(Capabilities able);

/// The reason to refuse `scenario` on an engine with these capabilities, or none where it supports
/// all of it.
///
/// Where several reasons hold the most telling one is given: a scalar parameter, then what no
/// engine could execute (a capture inside a capture, replay without capture, …), then what this one
/// lacks.
std::optional<Refusal> refuse(Scenario const& scenario, Capabilities const& capabilities);

}  // namespace adamant::scenarios
