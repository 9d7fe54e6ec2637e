// What a rank says of its elements of one tensor to whoever moves them: save, load, offload. One
// type for parameter, gradient, main weight and moments, so that no two of them can mean others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracle/types.h"

namespace adamant::real {

/// Ranges of a whole tensor, their elements one after the other and without gaps at `data`.
struct ShardDescription {
  std::string key;  // of the tensor; the same on every rank
  NumberFormat format = NumberFormat::fp32;
  std::vector<std::int64_t> global_shape;     // at least one dimension
  std::span<ElementRange const> ranges = {};  // as the layout has them, which outlives this
  std::byte* data = nullptr;                  // null where there are no elements
  bool on_host = false;  // host code may touch `data`, and nothing else does meanwhile
  /// The last elements may be elsewhere, in host memory; `data` then has only those before them.
  std::byte* tail = nullptr;
  std::int64_t tail_numel = 0;

  std::int64_t numel() const { return numel_of(ranges); }
  std::size_t bytes() const { return static_cast<std::size_t>(numel()) * bytes_of(format); }
  std::size_t tail_bytes() const { return static_cast<std::size_t>(tail_numel) * bytes_of(format); }
};

}  // namespace adamant::real
