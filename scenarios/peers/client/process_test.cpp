#include "scenarios/peers/client/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "scenarios/peers/client/testing/processes.h"
#include "scenarios/pool/interrupt.h"

namespace adamant::scenarios {
namespace {

using Deadline = PeerProcess::Deadline;
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
  process.write_line("one", Deadline(5s));
  process.write_line("two", Deadline(5s));
  EXPECT_EQ(process.read_line(Deadline(5s)), "one");
  EXPECT_EQ(process.read_line(Deadline(5s)), "two");
}

TEST(PeerProcess, PassesLinesThatArePipesLong) {
  PeerProcess process("cat");
  std::string const line(60'000, 'x');
  process.write_line(line, Deadline(5s));
  EXPECT_EQ(process.read_line(Deadline(5s)), line);
}

TEST(PeerProcess, SaysThatNothingCameInTime) {
  PeerProcess process("sleep 60");
  EXPECT_EQ(error_of([&] { process.read_line(Deadline(20ms)); }),
            "it did not answer within 0.02 s (--peer-timeout)");
}

TEST(PeerProcess, SaysThatHalfALineCame) {
  PeerProcess slow("printf half; sleep 60");
  EXPECT_EQ(error_of([&] { slow.read_line(Deadline(300ms)); }),
            "it sent half a line, but not the rest within 0.3 s (--peer-timeout)");
  PeerProcess gone("printf half; exit 3");
  EXPECT_EQ(error_of([&] { gone.read_line(Deadline(5s)); }),
            "half a line came (4 bytes), then it ended with exit status 3");
}

// Neither silence nor the end of a line ends these: one always has a byte more, and is far from the
// longest line when its time is over; the other gets there at once.
TEST(PeerProcess, EndsOneThatSendsWithoutEndingALine) {
  PeerProcess dripping("exec dd if=/dev/zero bs=1 2> /dev/null");
  EXPECT_EQ(error_of([&] { dripping.read_line(Deadline(300ms)); }),
            "it sent half a line, but not the rest within 0.3 s (--peer-timeout)");
  PeerProcess flooding("tr '\\0' x < /dev/zero");
  auto const begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { flooding.read_line(Deadline(60s)); }),
            "it sent a line of more than 67108864 bytes");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

TEST(PeerProcess, SaysHowItEnded) {
  PeerProcess exited("exit 7");
  EXPECT_EQ(error_of([&] { exited.read_line(Deadline(5s)); }), "it ended with exit status 7");
  PeerProcess killed("kill -9 $$");
  EXPECT_EQ(error_of([&] { killed.read_line(Deadline(5s)); }),
            "it was killed by signal 9 (Killed)");
}

TEST(PeerProcess, KeepsTheEndOfWhatItComplainedAbout) {
  PeerProcess process("echo first >&2; echo last words >&2; echo done; cat");
  process.read_line(Deadline(5s));
  EXPECT_EQ(process.last_words(), "first last words");
}

TEST(PeerProcess, EndsWithAllThatItStarted) {
  pid_t grandchild = 0;
  {
    PeerProcess process("sleep 60 & echo $!; wait");
    grandchild = std::stoi(process.read_line(Deadline(5s)));
    ASSERT_TRUE(is_running(grandchild));
  }
  for (int i = 0; i < 500 && is_running(grandchild); ++i) std::this_thread::sleep_for(2ms);
  EXPECT_FALSE(is_running(grandchild));
}

// No signal but SIGKILL ends what it started, and who would send that has been killed itself.
TEST(PeerProcess, EndsWithAllThatItStartedWhenItsOwnerIsKilled) {
  int said[2];
  ASSERT_EQ(::pipe(said), 0);
  pid_t const owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    PeerProcess process("trap '' INT TERM HUP; sleep 60 & echo $!; wait");
    pid_t const started = std::stoi(process.read_line(Deadline(5s)));
    if (::write(said[1], &started, sizeof started) < 0) ::_exit(1);
    ::pause();
  }
  pid_t started = 0;
  ASSERT_EQ(::read(said[0], &started, sizeof started), ssize_t{sizeof started});
  ::close(said[0]);
  ::close(said[1]);
  ASSERT_TRUE(is_running(started));
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  for (int i = 0; i < 500 && is_running(started); ++i) std::this_thread::sleep_for(2ms);
  EXPECT_FALSE(is_running(started));
}

// A search may have many findings, each of which would start an engine and let it end.
TEST(PeerProcess, IsKilledWithoutAFarewellAfterAnInterrupt) {
  auto const interrupt_and_end = [] {
    watch_for_interrupts();
    std::raise(SIGINT);
    auto const begin = std::chrono::steady_clock::now();
    { PeerProcess process("sleep 60"); }
    std::exit(std::chrono::steady_clock::now() - begin < 200ms ? 0 : 1);
  };
  EXPECT_EXIT(interrupt_and_end(), ::testing::ExitedWithCode(0), "");
}

TEST(PeerProcess, EndsByItselfAfterItsInput) {
  PeerProcess polite("cat");
  EXPECT_TRUE(polite.ends_after_input(5s));
  PeerProcess deaf("sleep 60");
  EXPECT_FALSE(deaf.ends_after_input(20ms));
}

}  // namespace
}  // namespace adamant::scenarios
