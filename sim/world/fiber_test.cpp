#include "sim/world/fiber.h"

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace adamant::sim {
namespace {

constexpr auto rank = Fiber::StackSize::rank;

TEST(Fiber, RunsBetweenResumeAndSuspend) {
  std::string story;
  Fiber fiber;
  fiber.start(rank, [&] {
    story += "b";
    fiber.suspend();
    story += "d";
  });
  story += "a";
  fiber.resume();
  story += "c";
  EXPECT_TRUE(fiber.alive());
  fiber.resume();
  EXPECT_FALSE(fiber.alive());
  EXPECT_EQ(story, "abcd");
}

TEST(Fiber, StartsAgainAfterItsEnd) {
  int runs = 0;
  Fiber fiber;
  for (int i = 0; i < 3; ++i) {
    fiber.start(rank, [&] { ++runs; });
    fiber.resume();
  }
  EXPECT_EQ(runs, 3);
}

TEST(Fiber, KeepsItsLocalsWhileOthersRun) {
  constexpr int fibers = 8;
  std::vector<std::unique_ptr<Fiber>> all;
  std::vector<int> sums(fibers);
  for (int f = 0; f < fibers; ++f) {
    Fiber& fiber = *all.emplace_back(std::make_unique<Fiber>());
    fiber.start(Fiber::StackSize::device_thread, [&, f] {
      int sum = f;
      for (int i = 0; i < 10; ++i) {
        fiber.suspend();
        sum += f;
      }
      sums[static_cast<std::size_t>(f)] = sum;
    });
  }
  for (int round = 0; round < 11; ++round) {
    for (auto const& fiber : all) fiber->resume();
  }
  for (int f = 0; f < fibers; ++f) EXPECT_EQ(sums[static_cast<std::size_t>(f)], 11 * f);
}

/// Catches `name`, lets others run inside the handler, then rethrows what it caught.
void catch_and_rethrow(Fiber& fiber, std::string const& name, std::string& caught) {
  try {
    try {
      throw std::runtime_error(name);
    } catch (std::exception const&) {
      fiber.suspend();
      throw;
    }
  } catch (std::exception const& error) {
    caught = error.what();
  }
}

TEST(Fiber, TwoInsideCatchRethrowTheirOwnExceptions) {
  Fiber first;
  Fiber second;
  std::string caught_by_first;
  std::string caught_by_second;
  first.start(rank, [&] { catch_and_rethrow(first, "first", caught_by_first); });
  second.start(rank, [&] { catch_and_rethrow(second, "second", caught_by_second); });
  first.resume();
  second.resume();
  first.resume();
  second.resume();
  EXPECT_EQ(caught_by_first, "first");
  EXPECT_EQ(caught_by_second, "second");
}

/// Suspends while an exception is on its way.
struct SuspendsWhenDestroyed {
  Fiber& fiber;
  ~SuspendsWhenDestroyed() { fiber.suspend(); }
};

TEST(Fiber, HasItsOwnCountOfUncaughtExceptions) {
  Fiber fiber;
  fiber.start(rank, [&] {
    try {
      SuspendsWhenDestroyed const guard{fiber};
      throw std::runtime_error("on its way");
    } catch (std::exception const&) {
    }
  });
  fiber.resume();
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  fiber.resume();
  EXPECT_FALSE(fiber.alive());
}

TEST(FiberDeathTest, ASuspendedOneMustNotBeDropped) {
  EXPECT_DEATH(
      {
        auto fiber = std::make_unique<Fiber>();
        fiber->start(rank, [&] { fiber->suspend(); });
        fiber->resume();
        fiber.reset();
      },
      "assertion failed in the simulator");
}

}  // namespace
}  // namespace adamant::sim
