// What a collective does to elements: the data types of NCCL and its reductions, one hop at a time.
//
// It does not know ranks or orders (reduction.h). Not modelled: reductions of the 8-bit floats,
// which only move; the fp32 accumulators of NVLink switches and of registered buffers.
#pragma once

#include <nccl.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace adamant::sim {

enum class Reduction : std::uint8_t {
  none,  // of collectives that only move data
  sum,
  product,
  maximum,
  minimum,
  average,
  scaled_sum,  // each rank's own input times a scalar of that rank, then the sum
};

char const* name_of(ncclDataType_t type);
char const* name_of(Reduction reduction);
std::size_t element_bytes(ncclDataType_t type);
bool is_integer(ncclDataType_t type);
bool is_reducible(ncclDataType_t type);
/// Can the order of the operands change bits of the result?
bool depends_on_order(ncclDataType_t type, Reduction reduction);

/// One element of any type.
struct Scalar {
  alignas(8) std::array<std::byte, 8> bytes{};
};
/// (T)(1 / ranks), by which an average of floats multiplies each input before the sum.
Scalar reciprocal(ncclDataType_t type, int ranks);

/// Rounding: each call rounds once to the element type, as each hop of NCCL's ring and tree does;
///           sums of integers wrap. A NaN result has the bits that the GPU's adder gives.
/// Source: NCCL 2.28.9, src/device/reduce_kernel.h.
struct ReductionArithmetic {
  /// received[i] = own[i] (op) received[i]
  void (*combine)(void* received, void const* own, std::size_t count) = nullptr;
  /// own[i] = scalar * own[i]
  void (*scale)(void* own, void const* scalar, std::size_t count) = nullptr;
  /// sums[i] /= ranks, truncating towards zero; null except for averages of integers.
  void (*divide)(void* sums, int ranks, std::size_t count) = nullptr;
};

/// REQUIRES: is_reducible(type), reduction != none.
ReductionArithmetic arithmetic(ncclDataType_t type, Reduction reduction);

}  // namespace adamant::sim
