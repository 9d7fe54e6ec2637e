// Which bytes of which files make up this rank's rows: saved boxes cut with own rows. It knows
// neither files nor devices, only numbers.
//
//   saved:  | file 0 | file 1 | file 2 | file 3 |          by 4 ranks
//   own:    |        rank 0        |   ...      |          of 3: all of 0, 1 and a part of 2
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "real/shard/description.h"

namespace adamant::real {

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

/// The ranges that fill `shard`, each byte once; appended to `ranges`. A box whose inner dimensions
/// are whole gives one range, another one as many as it has runs.
///
/// REQUIRES: check_cover() passed; shapes are equal, elements of `element_bytes`.
void plan_reads(SavedTensor const& tensor, ShardDescription const& shard,
                std::vector<ReadRange>& ranges);

}  // namespace adamant::real
