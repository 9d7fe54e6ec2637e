// How the files of a checkpoint have one tensor: its fp32 values, the same numbers as they were
// stored, and what those are times. Whether these fit each other is checked here; it does not know
// who wants them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "real/checkpoint/index.h"
#include "real/checkpoint/reshard.h"
#include "real/checkpoint/saved_recipe.h"

namespace adamant::real {

/// Of one tensor. Files that are not adamant's, and those of its first version, have nothing beside
/// the key: numbers there are values and as stored at once.
struct SavedNumbers {
  SavedTensor const* values = nullptr;
  SavedTensor const* raw = nullptr;    // may be `values`
  SavedTensor const* scale = nullptr;  // one number, or one in a file of each rank that has numbers
                                       // of its own; null where raw is times nothing
  NumberFormat values_format = NumberFormat::fp32;
  NumberFormat format = NumberFormat::fp32;  // of raw
  /// Of a quantised parameter, which has neither raw nor scale of the sort above.
  std::optional<SavedRecipe> recipe = {};
  /// In parts where they are wanted as a whole, or the other way round: then scales are of others.
  bool other_form = false;
};

/// Which files were written by one rank: the number of the writer of each.
std::vector<int> writers_of(Checkpoint const& checkpoint);

/// What is saved under `key`. REQUIRES: it is there. `whole_scales` is of who loads, see
/// tensors_beside(); `writers` are those of the files.
///
/// Errors: CheckpointError (damaged) where raw or scale are of another shape or type than can be,
///         or one is there without the other; (incompatible) for types that nothing is stored in.
SavedNumbers find_numbers(Checkpoint const& checkpoint, std::span<int const> writers,
                          std::string const& key, TensorKind kind, bool whole_scales);

/// The scale that raw had of all elements of some ranges and of no others.
struct SharedScale {
  bool found = false;
  std::optional<SavedBox> number;  // nothing for 1
};
SharedScale shared_scale(SavedNumbers const& saved, std::span<int const> writers,
                         std::span<ElementRange const> ranges);

}  // namespace adamant::real
