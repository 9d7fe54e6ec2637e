// How tensors are packed into one buffer that ranks cut into equal parts: the rules of `flat` and
// of `bucketed`. Numbers of elements only; whose tensors they are and who gets which part is the
// caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace adamant::oracle {

/// Elements of a tensor, and of one of its rows, which divides them.
struct TensorSize {
  std::int64_t numel = 0;
  std::int64_t row_numel = 1;
};

/// The first multiple that is not below `value`.
inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The most elements of a buffer that may belong to no tensor.
inline constexpr std::int64_t padding_numel_max = std::int64_t{1} << 31;

/// A buffer. Of tensors without elements, which take no place, offsets are 0.
struct Packing {
  std::vector<std::int64_t> offsets;  // in elements, in the order in which tensors were given
  std::int64_t size = 0;
};

/// The last tensor first, each at the next multiple of 8 elements, up to a multiple of 8 `parts`.
/// Parts may cut rows.
///
/// Errors: nothing where that takes more padding than is allowed.
/// REQUIRES: at most 2^60 elements in total; at least one part, and at most 2^40.
/// Source: Megatron-LM, DistributedOptimizer's buffers, with 8 in the place of 64 and 128.
std::optional<Packing> pack_flat(std::span<TensorSize const> tensors, std::int64_t parts);

/// So that no part begins inside of a row. With C the least common multiple of all rows of tensors
/// with elements, a size that is a multiple of C times `parts`, and tensors of fewer than C
/// elements as fragments:
///
///   1. The first tensor that is left and is no fragment begins at the next multiple of C.
///   2. Unless it ends at a multiple of C, the first later one whose own elements beyond a multiple
///      of C fit beside those of the first into one C is drawn forward, to begin so many elements
///      before the next multiple of C.
///   3. What is left between the two, or up to that multiple, is filled with fragments, the largest
///      first, then in order, each at the next multiple of its row.
///   4. Fragments that are left come last, in the same order, at multiples of their rows.
///
/// Errors, REQUIRES: as pack_flat.
/// Source: Megatron-LM, Megatron-FSDP's experimental GlobalLayout, commit d98e8a64ddf3.
std::optional<Packing> pack_bucketed(std::span<TensorSize const> tensors, std::int64_t parts);

}  // namespace adamant::oracle
