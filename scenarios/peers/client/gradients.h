// What each rank's backward is to bring in, as files for an engine that cannot be handed a kernel:
// the same numbers as the simulator's source of gradients makes, summed over the rank's
// microbatches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "scenarios/gradients/keys.h"
#include "scenarios/language/scenario.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {

/// Whose gradients they are, and for how many ranks.
struct FedGradients {
  std::span<ParameterSpec const> parameters;  // by number
  std::span<NumberFormat const> formats;      // of unreduced gradients, likewise
  GradientClass kind = GradientClass::exact;
  std::uint64_t seed = 0;
  int microbatches = 1;
  int ranks = 1;
};

/// Whole tensors of all parameters, by number.
using WholeTensors = std::vector<std::vector<float>>;

/// What each rank's backward brings in: of every parameter the sum over the rank's microbatches
/// m = r, r + ranks, …, zeros where it has none. By rank.
///
/// Rounding: each microbatch's gradient, and each sum of two, once to the parameter's format.
std::vector<WholeTensors> fed_gradients(FedGradients const& gradients, std::int64_t backward,
                                        std::optional<OverflowElement> const& overflow);

/// Are all gradients of such a parameter finite, summed over any microbatches and times `scale`,
/// where no overflow is among them? Says no where it cannot tell.
bool stays_finite(Formats const& formats, GradientClass kind, float scale);

/// The initial values that a seed gives all parameters, each rounded to its format.
WholeTensors initial_values(std::span<ParameterSpec const> parameters, std::uint64_t seed);

/// Writes whole fp32 tensors by their parameters' names.
///
/// Errors: OutputError (judge/dump/output_error.h).
void write_whole(std::filesystem::path const& path, std::span<ParameterSpec const> parameters,
                 WholeTensors const& tensors);

}  // namespace adamant::scenarios
