#include "sim/world/choices.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace adamant::sim {
namespace {

std::vector<std::uint32_t> answers(Choices& choices, ScheduleOptions const& schedule,
                                   int questions) {
  choices.reset(schedule);
  std::vector<std::uint32_t> result;
  for (int i = 0; i < questions; ++i) {
    result.push_back(choices.pick(2 + static_cast<std::uint32_t>(i) % 5));
  }
  return result;
}

/// Which of three agents, always able to go on, goes on at each step.
std::vector<std::uint32_t> agents_picked(ScheduleOptions const& schedule, int steps) {
  Choices choices;
  choices.reset(schedule);
  std::vector<Candidate> agents(3);
  std::vector<std::uint32_t> result;
  for (int i = 0; i < steps; ++i) {
    std::vector<Candidate*> const ready{&agents[0], &agents[1], &agents[2]};
    result.push_back(choices.pick_agent(ready));
  }
  return result;
}

std::size_t switches(std::vector<std::uint32_t> const& picked) {
  std::size_t result = 0;
  for (std::size_t i = 1; i < picked.size(); ++i) result += picked[i] != picked[i - 1];
  return result;
}

TEST(Choices, FifoAlwaysTakesTheFirst) {
  Choices choices;
  std::vector<std::uint32_t> const none(50, 0);
  EXPECT_EQ(answers(choices, {.strategy = Strategy::fifo, .seed = 3}, 50), none);
}

TEST(Choices, TheSameSeedGivesTheSameAnswersAndAnotherSeedOthers) {
  Choices choices;
  auto const first = answers(choices, {.strategy = Strategy::random, .seed = 1}, 50);
  EXPECT_EQ(answers(choices, {.strategy = Strategy::random, .seed = 1}, 50), first);
  EXPECT_NE(answers(choices, {.strategy = Strategy::random, .seed = 2}, 50), first);
}

TEST(Choices, RandomReachesEveryAnswer) {
  Choices choices;
  choices.reset({.strategy = Strategy::random, .seed = 1});
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(choices.pick(5));
  EXPECT_EQ(seen, (std::set<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(Choices, AQuestionWithOneAnswerIsNotRecorded) {
  Choices choices;
  choices.reset({.strategy = Strategy::random, .seed = 1});
  EXPECT_EQ(choices.pick(1), 0U);
  EXPECT_TRUE(choices.record().empty());
}

TEST(Choices, ARecordReplaysItselfUnderAnyStrategy) {
  Choices choices;
  auto const first = answers(choices, {.strategy = Strategy::random, .seed = 9}, 40);
  EXPECT_EQ(choices.record(), first);
  for (Strategy const strategy : {Strategy::fifo, Strategy::random, Strategy::pct}) {
    EXPECT_EQ(answers(choices, {.strategy = strategy, .seed = 4, .choices = first}, 40), first);
  }
}

TEST(Choices, TooManyToKeepAreForgottenAndTheSeedSaysThemAgain) {
  constexpr int too_many = (1 << 22) + 1;
  auto const digest = [](std::uint64_t seed) {
    Choices choices;
    choices.reset({.strategy = Strategy::random, .seed = seed});
    for (int i = 0; i < too_many; ++i) choices.pick(2);
    EXPECT_TRUE(choices.forgotten());
    EXPECT_TRUE(choices.record().empty());
    return choices.forgotten_digest();
  };
  EXPECT_EQ(digest(1), digest(1));
  EXPECT_NE(digest(1), digest(2));
}

TEST(Choices, WhatIsReplayedIsNeverForgotten) {
  constexpr std::size_t too_many = (1 << 22) + 1;
  Choices choices;
  choices.reset({.strategy = Strategy::fifo, .choices = std::vector<std::uint32_t>{1}});
  for (std::size_t i = 0; i < too_many; ++i) choices.pick(2);
  EXPECT_FALSE(choices.forgotten());
  EXPECT_EQ(choices.record().size(), too_many);
}

TEST(Choices, AShortRecordIsFollowedByTheStrategy) {
  Choices choices;
  std::vector<std::uint32_t> const record{1, 2, 3};
  std::vector<std::uint32_t> const expected{1, 2, 3, 0, 0, 0};
  EXPECT_EQ(answers(choices, {.choices = record}, 6), expected);
}

TEST(Choices, AnAnswerThatIsTooLargeIsBroughtIntoRange) {
  Choices choices;
  EXPECT_EQ(answers(choices, {.choices = std::vector<std::uint32_t>{7}}, 1),
            std::vector<std::uint32_t>{1});
}

TEST(Choices, StepsAreThoseWithSeveralAgents) {
  Choices choices;
  choices.reset({.strategy = Strategy::random, .seed = 1});
  Candidate one;
  Candidate other;
  std::vector<Candidate*> const both{&one, &other};
  std::vector<Candidate*> const alone{&one};
  choices.pick(3);
  choices.pick_agent(alone);
  EXPECT_EQ(choices.steps(), 0U);
  choices.pick_agent(both);
  choices.pick_agent(both);
  EXPECT_EQ(choices.steps(), 2U);
  choices.reset({});
  EXPECT_EQ(choices.steps(), 0U);
}

TEST(Choices, PctFollowsOnePriorityButAtItsChangePoints) {
  std::set<std::uint32_t> first;
  std::size_t most = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto const picked = agents_picked({.strategy = Strategy::pct, .seed = seed, .depth = 3}, 200);
    first.insert(picked[0]);
    most = std::max(most, switches(picked));
    EXPECT_LE(switches(picked), 2U);
  }
  EXPECT_EQ(first.size(), 3U);
  EXPECT_EQ(most, 2U);
}

TEST(Choices, MarksAreOfOneRun) {
  Choices choices;
  choices.mark(CoverageMark::sum_by_tree, false);
  EXPECT_TRUE(choices.marks().none());
  choices.mark(CoverageMark::sum_by_tree);
  EXPECT_TRUE(choices.marks().test(static_cast<std::size_t>(CoverageMark::sum_by_tree)));
  choices.reset({});
  EXPECT_TRUE(choices.marks().none());
}

TEST(Choices, PctsChanceIsThatOfThePaperOverItsScales) {
  EXPECT_EQ(pct_chance(1, 4, 1'000'000), 0.25) << "without change points length does not matter";
  double sum = 0;
  for (double scale = 16; scale <= 4096; scale *= 2) sum += 1 / (scale * scale);
  EXPECT_DOUBLE_EQ(pct_chance(3, 5, 14), sum / 9 / 5);
  EXPECT_DOUBLE_EQ(pct_chance(3, 5, 15), (sum - 1.0 / (16 * 16)) / 9 / 5) << "17 steps";
  EXPECT_EQ(pct_chance(2, 5, 4096), 0) << "no change point comes so late";
}

/// Which of three agents goes on, until each has had its three steps.
std::vector<int> trace_of(std::uint64_t seed) {
  Choices choices;
  choices.reset({.strategy = Strategy::pct, .seed = seed, .depth = 3});
  Candidate agents[3];
  int left[3] = {3, 3, 3};
  std::vector<int> trace;
  while (trace.size() < 9) {
    std::vector<Candidate*> ready;
    for (int i = 0; i < 3; ++i)
      if (left[i] > 0) ready.push_back(&agents[i]);
    auto const picked = static_cast<int>(ready[choices.pick_agent(ready)] - agents);
    --left[picked];
    trace.push_back(picked);
  }
  return trace;
}

// A bug of depth 3: agent 0 stops after its first step, then agent 1 after its first, agent 2 goes
// to its end, and then agent 1 goes on before agent 0 does, or agent 0 before agent 1.
// It takes one of the six orders in which the agents may stand at first, and both change points.
TEST(Choices, PctMeetsABugOfItsDepthAsOftenAsItPromises) {
  constexpr int schedules = 100'000;
  std::map<std::vector<int>, int> met;
  for (std::uint64_t seed = 0; seed < schedules; ++seed) ++met[trace_of(seed)];
  double const promised = schedules * pct_chance(3, 6, 9);
  EXPECT_GE(met[(std::vector<int>{0, 1, 2, 2, 2, 1, 1, 0, 0})], promised);
  EXPECT_GE(met[(std::vector<int>{0, 1, 2, 2, 2, 0, 0, 1, 1})], promised);
}

TEST(Choices, PctPutsAnAgentThatAskedInVainBehindTheOthers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Choices choices;
    choices.reset({.strategy = Strategy::pct, .seed = seed, .depth = 1});
    Candidate poller;
    Candidate worker;
    std::vector<Candidate*> const ready{&poller, &worker};
    choices.pick_agent(ready);
    choices.yielded(poller);
    EXPECT_EQ(choices.pick_agent(ready), 1U);
  }
}

}  // namespace
}  // namespace adamant::sim
