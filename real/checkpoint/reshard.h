// Which bytes of which files make up this rank's shard: saved boxes cut with own ranges of
// elements, and a range as the box that it is saved as. It knows neither files nor devices, only
// numbers.
//
//   saved:  | file 0 | file 1 | file 2 | file 3 |          by 4 ranks
//   own:    |        rank 0        |   ...      |          of 3: all of 0, 1 and a part of 2
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "real/shard/description.h"

namespace adamant::real {

/// A part of a tensor in every dimension.
struct Box {
  std::vector<std::int64_t> offsets;  // of its first element in the whole
  std::vector<std::int64_t> shape;
};

/// A box of a tensor as a file holds it, row-major.
struct SavedBox {
  int file = 0;
  std::vector<std::int64_t> offsets;  // of its first element in the whole
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // bytes in the file

  std::int64_t numel() const;
};

/// A whole tensor as the files of a checkpoint hold it together.
struct SavedTensor {
  std::string key;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<SavedBox> boxes;

  std::int64_t numel() const;
};

/// Bytes to bring from a file to a shard.
struct ReadRange {
  int file = 0;
  std::uint64_t begin = 0;  // in the file
  std::uint64_t bytes = 0;
  std::uint64_t to = 0;  // in the shard

  friend bool operator==(ReadRange const&, ReadRange const&) = default;
};

/// Every element lies in exactly one box. `file_names` is for messages.
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
/// runs there.
///
/// REQUIRES: check_cover() passed; shapes are equal, elements of `element_bytes`.
void plan_reads(SavedTensor const& tensor, ShardDescription const& shard,
                std::vector<ReadRange>& ranges);

}  // namespace adamant::real
