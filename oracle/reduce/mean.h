// The mean of a gradient over the microbatches of a global batch, for gradients whose partial sums
// are all exact: then the order used here is as good as any other. It knows no ranks; gradients
// whose sums do round are judged by sum_bound.h instead.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace adamant::oracle {

/// Fills `out` with elements [begin, begin + out.size()) of one microbatch's gradient.
using MicrobatchReader =
    std::function<void(int microbatch, std::int64_t begin, std::span<float> out)>;

/// Writes the mean:
///
///   mean[i] = (x_0[i] + x_1[i] + ... + x_{count-1}[i]) / count
///
/// Works through the tensor in blocks that stay in cache and asks the reader for block after block,
/// within a block microbatch after microbatch.
///
/// Shapes:   mean is flat [numel]; numel 0 asks nothing.
/// Rounding: one binary32 addition per microbatch after the first, in order, then one IEEE division
///           by the count; never a multiplication by a rounded 1 / count.
/// Errors:   asserts 1 <= count <= 2^24 (above, the count itself would round).
///
/// Not said: the sign of a zero mean whose inputs are all -0. A rank that has no microbatch adds
///           +0, and -0 + 0 is +0, so that case depends on the world; exact gradients avoid -0.
void mean_over_microbatches(int count, MicrobatchReader const& read, std::span<float> mean);

}  // namespace adamant::oracle
