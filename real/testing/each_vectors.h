// Tests of loops that are compiled for several widths of vectors: each of them with those that this
// processor has.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "real/offload/cpu_adam.h"

namespace adamant::real {

class EachVectors : public testing::TestWithParam<Vectors> {
 protected:
  void SetUp() override {
    if (GetParam() > widest_vectors()) GTEST_SKIP() << "this processor has no such registers";
  }
};

inline auto all_vectors() {
  return testing::Values(Vectors::narrow, Vectors::avx2, Vectors::avx512);
}

inline std::string name_of_vectors(testing::TestParamInfo<Vectors> const& info) {
  constexpr char const* names[] = {"Narrow", "Avx2", "Avx512"};
  return names[static_cast<int>(info.param)];
}

/// Any NaN as the same one.
inline std::vector<std::uint32_t> comparable_bits(std::vector<float> const& values) {
  std::vector<std::uint32_t> bits;
  for (float const value : values)
    bits.push_back(std::isnan(value) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(value));
  return bits;
}

}  // namespace adamant::real
