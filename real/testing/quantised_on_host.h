// A quantised parameter, or a part of it, copied to the host: for tests, which compare bits and
// read values as kernels of a model do.
#pragma once

#include <cstdint>
#include <vector>

#include "real/cuda/error.h"
#include "real/quantise/quantised_view.h"

namespace adamant::real {

class QuantisedOnHost {
 public:
  QuantisedOnHost() = default;
  /// Copies `count` elements and all scales, in the order of `stream`; they may be looked at once
  /// it is synchronized, and this may not be moved before.
  QuantisedOnHost(QuantisedView const& view, std::int64_t count, cudaStream_t stream)
      : shape_(view.shape), begin_(view.begin) {
    Recipe const recipe = shape_.recipe;
    bool const beside = has_scales_beside(shape_);
    copy(view.codes, count > 0 ? code_bytes(recipe, count) : 0, codes, stream);
    copy(view.scales, scale_count(shape_), scales, stream);
    copy(view.scale_codes, beside ? scale_codes_beside(recipe, count) : scale_code_count(shape_),
         scale_codes, stream);
    copy(view.delayed, recipe == Recipe::fp8_delayed ? 1 : 0, delayed, stream);
  }

  /// To be read on the host, while this lives.
  QuantisedView view() const {
    return {.shape = shape_,
            .begin = begin_,
            .codes = codes.data(),
            .scales = scales.data(),
            .scale_codes = scale_codes.data()};
  }

  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
  std::vector<std::uint8_t> scale_codes;
  std::vector<DelayedScale> delayed;  // one, or none

  /// The same scales, where they are of the whole tensor?
  bool has_scales_of(QuantisedOnHost const& other) const {
    bool const own = has_scales_beside(shape_);
    return scales == other.scales && delayed == other.delayed &&
           (own || scale_codes == other.scale_codes);
  }
  /// The part that follows joins this one.
  void append(QuantisedOnHost const& next) {
    codes.insert(codes.end(), next.codes.begin(), next.codes.end());
    if (has_scales_beside(shape_))
      scale_codes.insert(scale_codes.end(), next.scale_codes.begin(), next.scale_codes.end());
  }

  friend bool operator==(QuantisedOnHost const& a, QuantisedOnHost const& b) {
    return a.codes == b.codes && a.scales == b.scales && a.scale_codes == b.scale_codes &&
           a.delayed == b.delayed;
  }

 private:
  template <typename T>
  static void copy(T const* from, std::int64_t count, std::vector<T>& to, cudaStream_t stream) {
    if (count == 0) return;
    to.resize(static_cast<std::size_t>(count));
    ADAMANT_TRY(
        cudaMemcpyAsync(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost, stream));
  }

  RecipeShape shape_;
  std::int64_t begin_ = 0;
};

}  // namespace adamant::real
