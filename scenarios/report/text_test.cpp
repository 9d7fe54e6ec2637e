#include "scenarios/report/text.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

Reported make_failure() {
  Reported reported;
  reported.result.name = "two ranks";
  reported.result.file = "two.yaml";
  reported.result.outcome = Outcome::violated;
  reported.result.expected = "pass";
  reported.replay = "adamant run two.yaml --seed 7";
  reported.result.violations.push_back(
      {.law = Law::values_bitwise,
       .breach = Breach::other_value,
       .operation = 4,
       .rank = 1,
       .subject = Tensor{.parameter = "w", .kind = TensorKind::exp_avg},
       .index = 17,
       .expected = Number(0x1.2p-3F),
       .actual = Number(0x1.3p-3F),
       .ulp = 1048576});
  return reported;
}

TEST(Text, AFailureNamesLawPlaceBothValuesAndTheReplay) {
  EXPECT_EQ(describe(make_failure(), Style{}),
            "FAIL  two.yaml: two ranks\n"
            "    expected pass, outcome violated\n"
            "  values.bitwise: operation 4, rank 1, w/exp_avg[17]\n"
            "    expected  0x1.2p-3  (0.140625)\n"
            "    actual    0x1.3p-3  (0.1484375), 1048576 ulp apart\n"
            "    the engine's bits differ from the oracle's\n"
            "  replay: adamant run two.yaml --seed 7\n");
}

TEST(Text, ARaceNamesBothAccessesAndTheMissingEdge) {
  Violation race;
  race.law = Law::order_race;
  race.breach = Breach::unordered_accesses;
  race.operation = 0;
  race.accesses = {{.rank = 0,
                    .stream = "comm",
                    .operation = "ncclAllGather",
                    .kind = "write",
                    .buffer = "whole#2",
                    .begin = 0,
                    .end = 64},
                   {.rank = 0,
                    .stream = "host",
                    .operation = "host code",
                    .kind = "read",
                    .buffer = "whole#2",
                    .begin = 60,
                    .end = 64}};
  race.missing = "no event orders comm before host";
  EXPECT_EQ(describe(race, Style{}),
            "  order.race: operation 0, rank 0\n"
            "    first     rank 0, stream comm: ncclAllGather writes bytes [0, 64) of whole#2\n"
            "    second    rank 0, stream host: host code reads bytes [60, 64) of whole#2\n"
            "    missing   no event orders comm before host\n");
}

TEST(Text, QuietSaysNothingAboutSuccess) {
  Reported reported = make_failure();
  EXPECT_NE(describe(reported, {.verbosity = Verbosity::quiet}), "");
  reported.result.met = true;
  EXPECT_EQ(describe(reported, {.verbosity = Verbosity::quiet}), "");
  EXPECT_EQ(describe(reported, {}), "ok    two.yaml: two ranks\n");
}

TEST(Text, ManyViolationsAreCutUnlessVerbose) {
  Reported reported = make_failure();
  reported.result.violations.resize(8, reported.result.violations[0]);
  auto const normal = describe(reported, {});
  EXPECT_NE(normal.find("and 3 more"), std::string::npos);
  auto const verbose = describe(reported, {.verbosity = Verbosity::verbose});
  EXPECT_EQ(verbose.find("more; --verbose"), std::string::npos);
}

TEST(Text, ColoursAndControlCharacters) {
  Style const colored{.verbosity = Verbosity::normal, .colored = true};
  EXPECT_EQ(colored.paint(Color::red, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Style{}.paint(Color::red, "x"), "x");
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a?[31mb?");
  EXPECT_TRUE(wants_color(ColorMode::always, false));
  EXPECT_FALSE(wants_color(ColorMode::never, true));
  EXPECT_FALSE(wants_color(ColorMode::automatic, false));
}

TEST(Text, AShellTakesAQuotedWordForOne) {
  EXPECT_EQ(shell_quoted("scenarios/a-b.yaml"), "scenarios/a-b.yaml");
  EXPECT_EQ(shell_quoted("my file's.yaml"), "'my file'\\''s.yaml'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace adamant::scenarios
