#include "sim/world/ready_list.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/world/prng.h"

namespace adamant::sim {
namespace {

std::vector<Candidate*> listed(ReadyList const& ready) {
  return {ready.all().begin(), ready.all().end()};
}

TEST(ReadyList, TheOldestComeFirst) {
  std::vector<Candidate> agents(3);
  ReadyList ready;
  for (Candidate& agent : agents) ready.add(agent);
  EXPECT_EQ(&ready.take(0), &agents[0]);
  ready.add(agents[0]);
  EXPECT_EQ(listed(ready), (std::vector<Candidate*>{&agents[1], &agents[2], &agents[0]}));
  EXPECT_EQ(&ready.take(2), &agents[0]);
  EXPECT_EQ(&ready.take(0), &agents[1]);
  EXPECT_EQ(&ready.take(0), &agents[2]);
  EXPECT_TRUE(ready.empty());
}

// Whatever is taken, and whenever room is taken back, it is a list from which elements are erased.
TEST(ReadyList, IsTheListFromWhichTheTakenAreErased) {
  Prng prng(7);
  std::vector<Candidate> agents(50);
  ReadyList ready;
  std::vector<Candidate*> expected;
  for (int step = 0; step < 20'000; ++step) {
    bool const grows = prng.below(100) < (step / 500 % 2 == 0 ? 60U : 40U);
    if (expected.empty() || grows) {
      Candidate& agent = agents[prng.below(50)];
      ready.add(agent);
      expected.push_back(&agent);
    } else {
      auto const count = static_cast<std::uint32_t>(expected.size());
      std::uint32_t const place = prng.below(2) == 0 ? 0 : prng.below(count);
      ASSERT_EQ(&ready.take(place), expected[place]);
      expected.erase(expected.begin() + place);
    }
    ASSERT_EQ(listed(ready), expected);
  }
}

TEST(ReadyList, KeepsTheOrderOfThoseThatAreLeft) {
  std::vector<Candidate> agents(4);
  ReadyList ready;
  for (Candidate& agent : agents) ready.add(agent);
  ready.take(0);
  ready.erase_if([&](Candidate const* candidate) { return candidate == &agents[2]; });
  EXPECT_EQ(listed(ready), (std::vector<Candidate*>{&agents[1], &agents[3]}));
  ready.clear();
  EXPECT_TRUE(ready.empty());
}

}  // namespace
}  // namespace adamant::sim
