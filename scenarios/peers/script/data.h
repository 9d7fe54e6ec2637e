// The numbers of a script: initial values and what each rank's backward brings in, written out as
// Python writes nested lists.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/script/names.h"
#include "scenarios/peers/script/plan.h"
#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

/// More numbers than this are no example of anything.
inline constexpr std::size_t numbers_max = 400;

/// By name, as the first world holds them: rounded to the type of its parameters.
python::Literal initial_values(Plan const& plan, Names const& names);

/// GRADIENTS: of each backward, of each rank where there are several; parameters without a gradient
/// are not in it. `takes_out`: before it is what would stand in it several times at length.
std::vector<std::pair<std::string, python::Literal>> gradients(Plan const& plan, Names const& names,
                                                               bool takes_out);

/// Row-major values as lists in lists, or torch.zeros where these do not say the shape.
python::Literal tensor_of(std::vector<std::int64_t> const& shape, std::span<float const> values);

/// Does a nested list not say the shape: is a dimension 0 with others behind it?
bool has_ambiguous_shape(Scenario const& scenario);

}  // namespace adamant::scenarios::script
