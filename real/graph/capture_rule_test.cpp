#include "real/graph/capture_rule.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace adamant::real {
namespace {

constexpr Formats mixed{.parameter = NumberFormat::bf16,
                        .gradient = NumberFormat::bf16,
                        .main = NumberFormat::fp32,
                        .decoupled_gradient = false};

TEST(CaptureRule, RefusesACopyThatComesAndGoesAlone) {
  EXPECT_FALSE(can_be_captured(mixed, false));
  EXPECT_TRUE(can_be_captured(mixed, true));
  Formats decoupled = mixed;
  decoupled.decoupled_gradient = true;
  EXPECT_TRUE(can_be_captured(decoupled, false));
  Formats equal = mixed;
  equal.gradient = NumberFormat::fp32;
  EXPECT_TRUE(can_be_captured(equal, false));
}

TEST(CaptureRule, ComparesWithTheOptimizersOwnWeights) {
  Formats without_main = mixed;
  without_main.main = {};
  EXPECT_TRUE(can_be_captured(without_main, false));
}

TEST(CaptureRule, NamesEveryWayOut) {
  std::string const text = why_not_captured("embed.weight", mixed);
  for (char const* part : {"embed.weight", "bf16", "fp32", "decoupled_grad: true", "equal types",
                           "keep_cast_grad: true"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(CaptureRule, IsTheTableOfTheReadme) {
  std::ifstream in("real/README.md");
  std::string const readme((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(readme.find(capture_table()), std::string::npos) << "real/README.md should show\n"
                                                             << capture_table();
}

}  // namespace
}  // namespace adamant::real
