// A program whose accesses can be counted on fingers, of functions that instrumented and plain code
// share: the linker must not give one of them the other's copy.
#pragma once

#include <numeric>
#include <vector>

namespace adamant::sim {

/// noinline, so that an optimising compiler keeps the weak symbol, too.
template <typename T>
__attribute__((noinline)) T pick(T const* values, int index) {
  return values[index];
}
template <typename T>
__attribute__((noinline)) void put(T* values, int index, T value) {
  values[index] = value;
}

/// Reads `order.size()` elements of `values` twice and writes as many.
inline float shuffle_and_sum(float* values, std::vector<int> const& order) {
  float sum = 0;
  for (int const index : order) sum += pick(values, index);
  for (int const index : order) put(values, index, sum);
  std::vector<float const*> places;
  for (int const index : order) places.push_back(values + index);
  return std::accumulate(places.begin(), places.end(), sum,
                         [](float total, float const* place) { return total + *place; });
}

}  // namespace adamant::sim
