// Executes a scenario without judging it, and keeps what a law wants to compare: the final state of
// the whole world, and what the run came to. It knows no oracle and no verdict, so that a law
// stated here cannot inherit their mistakes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/engine.h"

namespace adamant::properties {

/// What a law adds to a scenario.
struct ExecutionOptions {
  std::string engine = "sim";
  std::string bug = "";  // scenarios/bugs/catalogue.h
  bool loopback = false;
  std::optional<scenarios::Schedule> schedule = {};  // in the place of the scenario's own
};

/// One tensor of one parameter, put together from all ranks.
struct WholeTensor {
  std::string name;  // "embed.weight/exp_avg"
  std::vector<float> values;
};

/// Everything that training has made, after the last operation.
struct FinalState {
  std::vector<WholeTensor> tensors;  // one a kind for each parameter; a missing one is empty
  std::vector<std::int64_t> steps;   // as rank 0 counts them for each parameter
};

struct Execution {
  FinalState state;
  scenarios::EngineEnd end;
};

using LookAtWorld =
    std::function<void(scenarios::Primitive const& operation, scenarios::WorldView const& world)>;

/// Executes `scenario` to its end, whatever the world notices on the way, and calls `look` after
/// every operation.
///
/// REQUIRES: the scenario is supported (scenarios/seam/refusals.h).
Execution execute(scenarios::Scenario scenario, ExecutionOptions const& options = {},
                  LookAtWorld const& look = {});

/// What a law returns where it holds.
inline constexpr char const* no_difference = "no difference";

/// The first element, length or counter that differs, with both values in hexadecimal; or
/// no_difference. Any NaN equals any NaN; the sign of zero counts.
std::string first_difference(FinalState const& expected, FinalState const& actual);

/// The same for one tensor.
std::string first_difference(WholeTensor const& expected, WholeTensor const& actual);

}  // namespace adamant::properties
