#include "scenarios/bugs/mutants/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace adamant::bugs {
namespace {

/// Ten operators on ten functions in each of two files; the first operator has ten times as many.
std::vector<Stratum> population() {
  std::vector<Stratum> all;
  for (std::size_t file = 0; file < 2; ++file)
    for (std::size_t function = 0; function < 10; ++function)
      for (std::size_t one = 0; one < 10; ++one)
        for (std::uint64_t k = 0; k < (one == 0 ? 10U : 1U); ++k)
          all.push_back({one, file, 10 * file + function, (k * 7919 + all.size() * 104729) % 1009});
  return all;
}

TEST(Sample, TakesFromOperatorsByTurns) {
  auto const all = population();
  std::vector<int> counts(10);
  for (std::size_t const i : draw_sample(all, 40)) ++counts[all[i].operator_index];
  EXPECT_EQ(counts, std::vector<int>(10, 4));
}

TEST(Sample, ReachesEveryFunctionBeforeItReturnsToOne) {
  auto const all = population();
  std::set<std::size_t> functions;
  for (std::size_t const i : draw_sample(all, 20)) functions.insert(all[i].function);
  EXPECT_EQ(functions.size(), 20U);
}

TEST(Sample, IsTheSameEachTimeAndHasEachOnce) {
  auto const all = population();
  auto const drawn = draw_sample(all, 100);
  EXPECT_EQ(drawn, draw_sample(all, 100));
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), 100U);
}

TEST(Sample, TakesAllWhereMoreAreWanted) {
  EXPECT_EQ(draw_sample(population(), 100000).size(), population().size());
}

}  // namespace
}  // namespace adamant::bugs
