#include "real/shard/parameter_set.h"

#include <gtest/gtest.h>

namespace adamant::real {
namespace {

// On both sides of the ends of words.
constexpr int counts[] = {0, 1, 63, 64, 65, 128, 200};

TEST(ParameterSet, HasWhatWasAdded) {
  ParameterSet set(200);
  EXPECT_TRUE(set.empty());
  for (int const p : {0, 63, 64, 199}) set.add(p);
  for (int p = 0; p < 200; ++p)
    EXPECT_EQ(set.has(p), p == 0 || p == 63 || p == 64 || p == 199) << p;
  EXPECT_FALSE(set.empty());
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.has(63));
  EXPECT_EQ(set.count(), 200U);
}

TEST(ParameterSet, IsTheSameByWhicheverWayItCameAbout) {
  for (int const count : counts) {
    ParameterSet one_by_one(static_cast<std::size_t>(count));
    for (int p = 0; p < count; ++p) one_by_one.add(p);
    ParameterSet all(static_cast<std::size_t>(count));
    all.add_all();
    EXPECT_EQ(all, one_by_one) << count;
    EXPECT_EQ(all.empty(), count == 0);
    all.clear();
    EXPECT_EQ(all, ParameterSet(static_cast<std::size_t>(count)));
  }
}

TEST(ParameterSet, OfOtherParametersIsAnother) {
  ParameterSet one(65), other(65);
  one.add(64);
  EXPECT_NE(one, other);
  EXPECT_NE(ParameterSet(64), ParameterSet(65));
}

}  // namespace
}  // namespace adamant::real
