// How a parameter is saved: as a whole, or in equal parts of its rows under a key for each. A whole
// is the form of one part, so that who writes goes through parts alone; who reads gets them put
// together, and knows only wholes.
//
//   whole   model.w   model.w/raw   optim.state.w.exp_avg   optim.state.w.step   …
//   parts   model.w.a, model.w.b    model.w.a/raw, …        optim.state.w.a.step, …
//
// Scales and blocks are the whole's. What is of the whole tensor stands under every part, the same;
// blocks are cut with the rows where no block is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/quantised_tensors.h"
#include "real/checkpoint/state.h"

namespace adamant::real {

// ---- writing ------------------------------------------------------------------------------------

/// What one key has of a tensor.
struct Share {
  ElementRange range;               // of the whole tensor
  std::vector<std::int64_t> shape;  // of the share
};

/// The names that stand in keys: of all parts in their order, or the parameter's own.
std::vector<std::string> names_in_keys(ParameterStep const& parameter);

/// A tensor of this shape in `count` shares, cut along dimension 0. REQUIRES: that can be.
std::vector<Share> shares_of(std::span<std::int64_t const> shape, std::size_t count);

/// The same of what stands beside a parameter of the shape `whole`; where it is not cut with the
/// rows, all shares are all of it.
std::vector<Share> shares_beside(BesideTensor const& is, Recipe recipe,
                                 std::span<std::int64_t const> whole, std::size_t count);

// ---- reading ------------------------------------------------------------------------------------

/// From a key of the engine's to the saved one.
using KeyMap = std::map<std::string, std::string>;

/// A saved tensor that has to be the same as another.
struct Copy {
  SavedTensor is;
  SavedTensor of;
};

/// The names of the parts in which a parameter is wanted or, where that is none, was saved as the
/// manifest says.
std::vector<std::string> parts_to_find(Checkpoint const& checkpoint,
                                       ParameterStep const& parameter);

/// Puts together what is saved of a parameter's parts: afterwards the checkpoint has tensors of the
/// whole, under keys that no file has, and `matched` leads to them; steps of parts stay. Of what is
/// the whole's, the first part's stands for it, and the others are returned.
///
/// REQUIRES: the parameter was matched by its parts.
/// Errors: CheckpointError where they are no parts of one tensor.
std::vector<Copy> join_parts(Checkpoint& checkpoint, KeyMap& matched, std::string const& parameter,
                             std::span<std::string const> parts);

}  // namespace adamant::real
