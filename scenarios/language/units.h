// Which parameters are gathered and reduced together. Names decide, as wrapping block by block does
// in FSDP; sizes and worlds play no part.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/types.h"

namespace adamant::scenarios {

/// The block of a parameter: its name up to and including the first dot-separated component that is
/// a decimal number, or "" where it has none. "h.11.attn.c_attn.weight" is in block "h.11",
/// "model.layers.0.mlp.experts.3.w1" in "model.layers.0", "wte.weight" in "".
std::string_view block_of(std::string_view parameter_name);

/// The unit of each parameter in registration order: a unit is a maximal run of consecutive
/// parameters of one block. Units are numbered from 0 without gaps and never decrease.
std::vector<int> assign_units(std::span<std::string const> parameter_names);
/// The same for parameters that have their names.
void number_units(std::span<ParameterSpec> parameters);

}  // namespace adamant::scenarios
