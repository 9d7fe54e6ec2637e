// How the files of a checkpoint have a quantised parameter: by which recipe, and whether all that
// belongs to it is there and can be. It does not know who wants it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "real/checkpoint/index.h"
#include "real/checkpoint/quantised_tensors.h"
#include "real/quantise/quantised_parameters.h"

namespace adamant::real {

struct SavedRecipe {
  struct Tensor {
    BesideTensor is;
    SavedTensor const* saved = nullptr;
  };

  Recipe recipe = Recipe::fp8_current;
  std::vector<Tensor> tensors = {};
};

/// By which recipe a parameter with these values is quantised, if it is, as far as that can be seen
/// from what stands beside them. Errors: as of find_recipe().
std::optional<Recipe> recipe_saved(Checkpoint const& checkpoint, SavedTensor const& values);

/// What stands beside these values, which are a parameter's; nothing where it is not quantised.
/// `whole_scales` is of who loads, see tensors_beside().
///
/// Errors: CheckpointError (damaged) where some of it is missing, or of another recipe, shape or
///         type than the rest.
std::optional<SavedRecipe> find_recipe(Checkpoint const& checkpoint, SavedTensor const& values,
                                       bool whole_scales);

/// This rank's bytes of a saved tensor. Where they are goes by `room`, whose data are null.
using ReadPart =
    std::function<std::vector<std::byte>(SavedTensor const& saved, ShardDescription const& room)>;

/// All of it but codes, of a rank that has these elements of the parameter.
///
/// Errors: CheckpointError (damaged) where a scale is one that no quantisation gives; what `read`
///         throws.
QuantisedScales read_scales(SavedRecipe const& saved, ElementRange own, ReadPart const& read,
                            Checkpoint const& checkpoint);

/// This rank's part of one of its tensors, at `data`. `range` is where the description finds it.
ShardDescription describe_part(BesideTensor const& tensor, ElementRange const& range,
                               std::byte* data);

/// Where the engine has such a tensor: the engine alone may change what viewers only read.
std::byte* data_of(QuantisedView const& view, Beside what);

}  // namespace adamant::real
