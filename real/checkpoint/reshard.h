// Which bytes of which files make up this rank's shard: saved boxes cut with own ranges of
// elements, and a range as the box that it is saved as. It knows neither files nor devices, only
// numbers.
//
//   saved:  | file 0 | file 1 | file 2 | file 3 |          by 4 ranks
//   own:    |        rank 0        |   ...      |          of 3: all of 0, 1 and a part of 2
//
// Layouts of ours save boxes that follow each other in the whole: such a tensor is planned by its
// runs (saved_runs.h). Any other box is cut run by run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/saved_boxes.h"
#include "real/checkpoint/saved_runs.h"
#include "real/shard/description.h"

namespace adamant::real {

/// A part of a tensor in every dimension.
struct Box {
  std::vector<std::int64_t> offsets;  // of its first element in the whole
  std::vector<std::int64_t> shape;
};

/// A whole tensor as the files of a checkpoint hold it together.
struct SavedTensor {
  std::string key;
  std::string dtype;
  std::vector<std::int64_t> shape;
  SavedBoxes boxes = {};
  SavedRuns runs = {};  // of `boxes` as they are, or empty

  std::int64_t numel() const;
};

/// Fills `runs` where the boxes are runs that tile the tensor, in whatever order; else empties
/// them. Boxes may be anything of as many dimensions: this refuses nothing.
void find_runs(SavedTensor& tensor);

/// Every element lies in exactly one box. `file_names` is for messages. Of a tensor with runs that
/// is known; of another the boxes are held against each other.
///
/// Errors: CheckpointError (damaged) that names the tensor, and the files or rows at fault.
void check_cover(SavedTensor const& tensor, std::span<std::string const> file_names);

/// The box that has the elements of a range and no others, or nothing where none has. A range of no
/// elements is a box of none where it lies; of a tensor without elements all is one box.
std::optional<Box> box_of(ElementRange range, std::span<std::int64_t const> shape);

/// A range of elements that is a box.
struct RangeAsBox {
  ElementRange range;
  Box box;
};

/// A range as the fewest boxes whose elements follow each other in the whole, in their order: of a
/// shape with d dimensions at most 2 d - 1. A range of no elements is one box of none.
std::vector<RangeAsBox> boxes_of(ElementRange range, std::span<std::int64_t const> shape);

/// The ranges that fill `shard`, each byte once; appended to `ranges`. A box whose inner dimensions
/// are whole gives one for each range of the shard that it meets, another one as many as it has
/// runs there. Of a tensor with runs they ascend in the shard.
///
/// REQUIRES: check_cover() passed; shapes are equal, elements of `element_bytes`.
void plan_reads(SavedTensor const& tensor, ShardDescription const& shard,
                std::vector<ReadRange>& ranges);

}  // namespace adamant::real
