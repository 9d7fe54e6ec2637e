// Three orders of parameters, and the ways from one to another: names as a file lists them, the
// parameters that they name, and the order in which a world registers these. Numbers of parameters
// are those of parameter_specs() everywhere but within an engine and its layout. And units: which
// parameters are gathered and reduced together.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/types.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// Which parameter each name of a file is of. Every name gives a gradient of its own, and that of a
/// parameter is the sum over its names.
///
/// Invariants: as many names as the file lists; a parameter's own name is the first of its names.
struct Registry {
  std::vector<int> parameter = {};           // by place of the name in the file
  std::vector<std::vector<int>> names = {};  // by parameter: the places of all its names

  int name_count() const { return static_cast<int>(parameter.size()); }
  int parameter_count() const { return static_cast<int>(names.size()); }
  std::span<int const> names_of(int number) const {
    return names[static_cast<std::size_t>(number)];
  }
  int parameter_of(int name) const { return parameter[static_cast<std::size_t>(name)]; }
  /// The parameters of which every name is among `left_out`, which is sorted: a backward without
  /// these names gives them no gradient.
  std::vector<int> without_gradient(std::span<int const> left_out) const;
};

/// Where these names stand in a file's list, in ascending order.
std::vector<int> places_of(std::vector<std::string> const& names, std::vector<Param> const& params);

/// REQUIRES: a tied name stands behind its target, which is not tied, as every file has it.
Registry registry_of(std::vector<Param> const& params);

/// Between numbers of parameters and their places in the order in which a world registers them.
/// Either way is its own inverse.
struct RegisteredOrder {
  ParamOrder order = ParamOrder::listed;
  int count = 0;

  int place_of(int number) const {
    return order == ParamOrder::reversed ? count - 1 - number : number;
  }
  int number_at(int place) const { return place_of(place); }
};

/// REQUIRES: `setting` is a scenario or what a load made of it.
RegisteredOrder order_of(Scenario const& setting);

/// parameter_specs() in the order in which the world registers them, in units of that order: what
/// layout, budget and engine are made from.
std::vector<ParameterSpec> registered_specs(Scenario const& setting);

/// What units follow from: names decide, as wrapping block by block does in FSDP; sizes and worlds
/// play no part. The block of a parameter: its name up to and including the first dot-separated
/// component that is a decimal number, or "" where it has none. "h.11.attn.c_attn.weight" is in
/// block "h.11", "model.layers.0.mlp.experts.3.w1" in "model.layers.0", "wte.weight" in "".
std::string_view block_of(std::string_view parameter_name);

/// The unit of each parameter in registration order: a unit is a maximal run of consecutive
/// parameters of one block. Units are numbered from 0 without gaps and never decrease.
std::vector<int> assign_units(std::span<std::string const> parameter_names);
/// The same for parameters that have their names.
void number_units(std::span<ParameterSpec> parameters);

}  // namespace adamant::scenarios
