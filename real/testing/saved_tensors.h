// Saved tensors as tests write them down.
#pragma once

#include <utility>
#include <vector>

#include "real/checkpoint/reshard.h"

namespace adamant::real {

/// A box of a tensor that owns its extents.
struct BoxInFile {
  int file = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
};

/// Tensor `t` of such boxes, in fp32.
inline SavedTensor tensor_of(std::vector<std::int64_t> shape, std::vector<BoxInFile> const& boxes) {
  SavedTensor tensor{.key = "t", .dtype = "F32", .shape = std::move(shape)};
  for (auto const& [file, offsets, extents, begin] : boxes)
    tensor.boxes.add({.file = file, .offsets = offsets, .shape = extents, .begin = begin});
  return tensor;
}

}  // namespace adamant::real
