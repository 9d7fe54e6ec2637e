// How much of a layout's buffers is padding. Refusals and admission ask; where elements lie is not
// known here.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scenarios/seam/support.h"

namespace adamant::scenarios {

/// One buffer: the place of its first parameter, and how many of its elements belong to none.
struct BufferPadding {
  int first = 0;
  double elements = 0;
};

/// All buffers of `registered` parameters (registered_specs()) in such a world.
std::vector<BufferPadding> padding_of(Layout layout, World const& world,
                                      std::span<ParameterSpec const> registered);

/// `unsupported.layout_padding` where a buffer of the setting has more than 2^31 such elements.
std::optional<Refusal> refuse_padding(Scenario const& setting, SourceLine line);

}  // namespace adamant::scenarios
