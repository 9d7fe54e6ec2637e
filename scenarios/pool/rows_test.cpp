#include "scenarios/pool/rows.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

constexpr Rows::Worker a = 11;
constexpr Rows::Worker b = 12;
constexpr Rows::Worker c = 13;

std::uint64_t by_fours(std::uint64_t job) {
  return job / 4;
}

using Jobs = std::vector<std::uint64_t>;

Jobs next_of(Rows& rows, std::vector<Rows::Worker> const& workers) {
  Jobs jobs;
  for (Rows::Worker const worker : workers) jobs.push_back(rows.next(worker));
  return jobs;
}

TEST(Rows, AWorkerStaysInItsRow) {
  Rows rows({}, by_fours);
  EXPECT_EQ(next_of(rows, {a, b, b, a, a, a, a, b}), (Jobs{0, 4, 5, 1, 2, 3, 8, 6}));
}

TEST(Rows, WhoHasNoneLeftHelpsWithTheLongest) {
  Rows rows(10, by_fours);
  EXPECT_EQ(next_of(rows, {a, b, b, b, c, c, c}), (Jobs{0, 4, 5, 6, 8, 9, 1}));
  EXPECT_EQ(next_of(rows, {b, b, a}), (Jobs{7, 2, 3}));
  EXPECT_FALSE(rows.has_next());
}

TEST(Rows, WhatADeadWorkerLeavesIsTakenUp) {
  Rows rows({}, by_fours);
  EXPECT_EQ(next_of(rows, {a, b}), (Jobs{0, 4}));
  rows.gone(a);
  EXPECT_EQ(next_of(rows, {c, b, c, c, c}), (Jobs{1, 5, 2, 3, 8}));
}

TEST(Rows, MayBeginInTheMiddle) {
  Rows rows({}, [](std::uint64_t job) { return (job + 2) / 4; });
  EXPECT_EQ(next_of(rows, {a, a, b, a}), (Jobs{0, 1, 2, 6}));
}

TEST(Rows, OfOneJobAreDealtInOrder) {
  Rows rows(3, [](std::uint64_t job) { return job; });
  EXPECT_EQ(next_of(rows, {a, b, a}), (Jobs{0, 1, 2}));
  EXPECT_FALSE(rows.has_next());
}

}  // namespace
}  // namespace adamant::scenarios
