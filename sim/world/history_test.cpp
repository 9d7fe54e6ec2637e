#include "sim/world/history.h"

#include <gtest/gtest.h>

#include <string>

namespace adamant::sim {
namespace {

constexpr std::size_t all_kept = History::kept_first + History::kept_last;

/// A history of so many records, each with its id as its bytes.
History history_of(std::size_t count, bool all = false) {
  History history;
  history.clear(all);
  for (std::size_t id = 0; id < count; ++id) EXPECT_EQ(history.add({.bytes = id}), id);
  return history;
}

TEST(History, OfAShortRunNothingIsForgotten) {
  History const history = history_of(all_kept);
  for (std::uint32_t id = 0; id < all_kept; ++id) ASSERT_EQ(history[id].bytes, id);
}

TEST(History, TheFirstAndTheLastAreKept) {
  std::size_t const count = all_kept + History::kept_last / 2 + 3;
  History history = history_of(count);
  for (std::uint32_t id = 0; id < History::kept_first; ++id) ASSERT_EQ(history[id].bytes, id);
  for (auto id = static_cast<std::uint32_t>(count - History::kept_last); id < count; ++id)
    ASSERT_EQ(history[id].bytes, id);
  auto const before = static_cast<std::uint32_t>(count - History::kept_last - 1);
  EXPECT_EQ(std::string(history[before].name), "something long ago");
  EXPECT_EQ(history.find(before), nullptr);
}

TEST(History, WhatIsAddedLaterIsFoundAgain) {
  History history = history_of(all_kept + 7);
  auto const newest = static_cast<std::uint32_t>(all_kept + 6);
  history.find(newest)->agent = 5;
  EXPECT_EQ(history[newest].agent, 5U);
  EXPECT_EQ(history[newest].bytes, newest);
}

TEST(History, ForATraceAllIsKept) {
  History const history = history_of(all_kept + History::kept_last, true);
  for (std::uint32_t id = 0; id < all_kept + History::kept_last; ++id)
    ASSERT_EQ(history[id].bytes, id);
}

}  // namespace
}  // namespace adamant::sim
