// Numbers between the type in which an engine has them and the fp32 values of files. It knows
// neither files nor how ranks agree on a scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/state.h"
#include "real/cuda/handles.h"

namespace adamant::real {

/// Does a file have numbers of this tensor in another type beside their fp32 values? Remainders are
/// no numbers: what they complete to fp32 is all there is.
inline bool has_raw(NumberFormat format) {
  return format != NumberFormat::fp32 && format != NumberFormat::remainder;
}

/// The scale of a tensor, or 1. Stream: waits for `stream`. Errors: CudaError.
float scale_of(StateTensor const& tensor, Stream const& stream);

/// What elements [first, first + count) of a shard are worth.
///
/// Rounding: stored times scale, once. Stream: waits for `stream`. Errors: CudaError.
std::vector<float> values_of(StateTensor const& tensor, float scale, std::int64_t first,
                             std::int64_t count, Stream const& stream);

/// A quantised parameter's scales, on the host, to read blocks of its values by.
class QuantisedValues {
 public:
  /// REQUIRES: the tensor is quantised. Stream: waits for `stream`. Errors: CudaError.
  QuantisedValues(StateTensor const& tensor, Stream const& stream);

  /// What elements [first, first + count) of a shard are worth. REQUIRES: `first` is a multiple of
  /// 32 where scales lie beside codes, of 2 otherwise. Rounding: code times scale, once. Stream:
  /// waits for `stream`. Errors: CudaError.
  std::vector<float> values(std::int64_t first, std::int64_t count) const;

 private:
  QuantisedView view_;  // on the device
  Stream const& stream_;
  std::vector<float> scales_;
  std::vector<std::uint8_t> scale_codes_;
};

/// How a tensor stores these values.
///
/// Rounding: once, as a step stores them; of the two halves of a split weight see split().
std::vector<std::byte> stored_as(StateTensor const& tensor, std::span<float const> values,
                                 float scale);

/// The first of the values that is another number once it is stored and read, or their count: any
/// NaN is the same, zeros of two signs are not. REQUIRES: no remainders, which have all bits.
std::size_t first_rounded(StateTensor const& tensor, std::span<float const> values, float scale);

/// A number with all of its bits, for messages.
std::string hexadecimal(float value);

}  // namespace adamant::real
