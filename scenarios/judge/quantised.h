// A quantised parameter as the oracle says that a rank has it, and the first difference of two such
// shards. With another scale all numbers are others, so scales and what leads to them come first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "oracle/layout/layout.h"
#include "oracle/model/model.h"
#include "scenarios/seam/engine.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// What a rank with these elements has of the model's parameter: all scales of the whole tensor, or
/// those of its own blocks.
///
/// Shapes: ranges of whole blocks of mxfp8, unless it has all scales. REQUIRES: the parameter has a
/// recipe; only mxfp8 has scales that are not of all.
QuantisedShard quantised_shard(oracle::Model const& model, int parameter,
                               std::span<ElementRange const> ranges, bool scales_of_all);

/// Have they one recipe, and as many codes and scales?
bool have_one_form(QuantisedShard const& expected, QuantisedShard const& held);

/// Are scales, and what leads to them, of the whole tensor on every rank? Only mxfp8's travel with
/// the codes of their rank, where one rule of whole rows cuts parameters and states.
bool has_scales_of_all(Recipe recipe, oracle::Layout const& layout);

struct QuantisedDifference {
  Breach breach = Breach::other_code;
  std::int64_t index = -1;  // in the shard's codes, scales or history; -1: there is one number
  Value expected = {};
  Value actual = {};
  std::uint64_t ulp = 0;
};

// REQUIRES of both: have_one_form().

/// In codes of scales, scales, the amax of nvfp4, and the history of fp8_delayed and what follows
/// from it.
std::optional<QuantisedDifference> scale_difference(QuantisedShard const& expected,
                                                    QuantisedShard const& held);
/// In the elements' codes. Any NaN of e4m3 equals any other.
std::optional<QuantisedDifference> code_difference(QuantisedShard const& expected,
                                                   QuantisedShard const& held);

}  // namespace adamant::scenarios
