// What a search says of a case: nothing where it ended as expected, and nothing of a load that
// returned what was saved although a bit was flipped that its engine never promised to notice.
#include "scenarios/cli/worker_lines.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "scenarios/run/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

char const* const no_checksums = "--bug no_checksums";
/// The same, and honest about it: its hello does not promise to notice flipped bits.
char const* const promises_less = "--bug no_checksums | sed -u 's/\"flip_byte\", //'";

// Of a rank's file, which has a header of 1,263 bytes and 384 bytes of tensors.
constexpr std::int64_t byte_of_a_tensor = 1'400;

std::string python() {
  char const* const chosen = std::getenv("ADAMANT_PYTHON");
  return chosen == nullptr ? "python3" : chosen;
}

class SearchInWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system((python() + " -c 'import numpy' 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << python() << " has no NumPy (ADAMANT_PYTHON names another)";
    scenario_ = small_scenario();
    scenario_.program = {operation(Train{.count = 1}), operation(Save{.checkpoint = "a"}),
                         operation(Load{.from = "a"})};
    scenario_.expect = {.kind = Expectation::Kind::refused, .id = "damaged_checkpoint"};
  }

  /// Flips a bit of a key's letter in the index, which is not looked at without checksums.
  void flip_harmless_bit() { flip({.file = 0, .byte = 3}); }
  void flip(Fault fault) {
    fault.at = Fault::Where::load;
    fault.then = Fault::Then::flip_byte;
    scenario_.faults = {fault};
  }

  nlohmann::ordered_json search(std::string const& arguments) const {
    RunOptions options;
    options.engine = "exec:" + python() + " " ADAMANT_SOURCE_DIR "/real/peers/numpy " + arguments;
    return search_in_worker(scenario_, options);
  }

  Scenario scenario_;
};

std::string outcome_of(nlohmann::ordered_json const& line) {
  if (!line.contains("result")) return line.dump();
  return line.at("result").at("outcome");
}

TEST_F(SearchInWorker, SaysNothingOfDamageThatWasReported) {
  flip_harmless_bit();
  EXPECT_EQ(search("").dump(), "{}");
}

TEST_F(SearchInWorker, SaysNothingOfHarmlessDamageThatNobodyPromisedToNotice) {
  flip_harmless_bit();
  EXPECT_EQ(search(promises_less).dump(), "{}");
}

TEST_F(SearchInWorker, SaysThatAPromiseWasBroken) {
  flip_harmless_bit();
  EXPECT_EQ(outcome_of(search(no_checksums)), "violated");
}

TEST_F(SearchInWorker, SaysThatWhatWasLoadedIsWrong) {
  flip({.file = 1, .byte = byte_of_a_tensor});
  EXPECT_EQ(outcome_of(search(promises_less)), "violated");
}

TEST_F(SearchInWorker, SaysThatNothingWasRefusedWhereNothingWasSpoilt) {
  EXPECT_EQ(outcome_of(search(promises_less)), "pass");
}

}  // namespace
}  // namespace adamant::scenarios
