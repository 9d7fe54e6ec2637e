// Which rank has to write which boxes of a tensor, worked out without the engine: a saved element
// is written by the lowest rank that holds it, once; what a rank writes of a tensor is one box, or
// as few as it takes whose elements follow each other, the k-th of them in the rank's k-th file.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "scenarios/judge/saved/files.h"

namespace adamant::scenarios {

/// The world that has saved. `held` are the elements that a rank has of a parameter's tensors.
struct SavingWorld {
  Mesh mesh;
  std::function<std::span<ElementRange const>(int parameter, int rank, TensorKind kind)> held;
};

/// What is wrong with the names of all shard files together, or nothing. Every rank has files
/// numbered from 1 to their count.
std::optional<std::string> fault_of_names(std::span<std::string const> names, int rank_count);

/// One tensor of a file, and where its elements are in the tensor that `held` counts.
struct WrittenTensor {
  std::string key;
  std::vector<SavedBox> const& boxes;
  std::vector<std::int64_t> shape;  // of what has the key
  std::int64_t first = 0;           // its first element in the parameter
  std::int64_t elements_each = 1;   // of the parameter, for which one of it stands
};

/// The same of the boxes of a tensor.
std::optional<std::string> fault_of_boxes(WrittenTensor const& written, SavingWorld const& world,
                                          int parameter, TensorKind kind);

/// Where a box of so many elements from `begin` on ends at most, that is to end before `end`.
std::int64_t end_of_largest_box(std::int64_t begin, std::int64_t end,
                                std::span<std::int64_t const> shape);

}  // namespace adamant::scenarios
