#include "scenarios/peers/client/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "scenarios/peers/client/testing/processes.h"

namespace adamant::scenarios {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// The message of the PeerError that `action` throws, or "".
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
    return "";
  } catch (PeerError const& error) {
    return error.what();
  }
}

TEST(PeerProcess, AnswersLinesWithLines) {
  PeerProcess process("cat");
  process.write_line("one", Clock::now() + 5s);
  process.write_line("two", Clock::now() + 5s);
  EXPECT_EQ(process.read_line(Clock::now() + 5s), "one");
  EXPECT_EQ(process.read_line(Clock::now() + 5s), "two");
}

TEST(PeerProcess, PassesLinesThatArePipesLong) {
  PeerProcess process("cat");
  std::string const line(60'000, 'x');
  process.write_line(line, Clock::now() + 5s);
  EXPECT_EQ(process.read_line(Clock::now() + 5s), line);
}

TEST(PeerProcess, SaysThatNothingCameInTime) {
  PeerProcess process("sleep 60");
  EXPECT_EQ(error_of([&] { process.read_line(Clock::now() + 20ms); }), "it did not answer in time");
}

TEST(PeerProcess, SaysThatHalfALineCame) {
  PeerProcess slow("printf half; sleep 60");
  EXPECT_EQ(error_of([&] { slow.read_line(Clock::now() + 300ms); }),
            "it sent half a line, but not the rest, in time");
  PeerProcess gone("printf half; exit 3");
  EXPECT_EQ(error_of([&] { gone.read_line(Clock::now() + 5s); }),
            "half a line came (4 bytes), then it ended with exit status 3");
}

TEST(PeerProcess, SaysHowItEnded) {
  PeerProcess exited("exit 7");
  EXPECT_EQ(error_of([&] { exited.read_line(Clock::now() + 5s); }), "it ended with exit status 7");
  PeerProcess killed("kill -9 $$");
  EXPECT_EQ(error_of([&] { killed.read_line(Clock::now() + 5s); }),
            "it was killed by signal 9 (Killed)");
}

TEST(PeerProcess, KeepsTheEndOfWhatItComplainedAbout) {
  PeerProcess process("echo first >&2; echo last words >&2; echo done; cat");
  process.read_line(Clock::now() + 5s);
  EXPECT_EQ(process.last_words(), "first last words");
}

TEST(PeerProcess, EndsWithAllThatItStarted) {
  pid_t grandchild = 0;
  {
    PeerProcess process("sleep 60 & echo $!; wait");
    grandchild = std::stoi(process.read_line(Clock::now() + 5s));
    ASSERT_TRUE(is_running(grandchild));
  }
  for (int i = 0; i < 500 && is_running(grandchild); ++i) std::this_thread::sleep_for(2ms);
  EXPECT_FALSE(is_running(grandchild));
}

TEST(PeerProcess, EndsByItselfAfterItsInput) {
  PeerProcess polite("cat");
  EXPECT_TRUE(polite.ends_after_input(Clock::now() + 5s));
  PeerProcess deaf("sleep 60");
  EXPECT_FALSE(deaf.ends_after_input(Clock::now() + 20ms));
}

}  // namespace
}  // namespace adamant::scenarios
