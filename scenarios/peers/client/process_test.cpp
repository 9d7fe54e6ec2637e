#include "scenarios/peers/client/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
  EXPECT_EQ(process.last_words(), "first\nlast words");
}

TEST(PeerProcess, EndsWithAllThatItStarted) {
  pid_t grandchild = 0;
  {
    PeerProcess process("sleep 60 & echo $!; wait");
    grandchild = std::stoi(process.read_line(Deadline(5s)));
    ASSERT_TRUE(is_running(grandchild));
  }
  for (int i = 0; i < 15000 && is_running(grandchild); ++i) std::this_thread::sleep_for(2ms);
  EXPECT_FALSE(is_running(grandchild));
}

/// A process in a session of its own, whose parent has ended: no group and no parent leads to it.
constexpr char const* with_a_daemon =
    "(setsid sh -c 'trap \"\" INT TERM HUP; echo $$; exec 1>&-; sleep 600' &); cat > /dev/null";

TEST(PeerProcess, EndsWithWhatLeftItsSession) {
  pid_t daemon = 0;
  {
    PeerProcess process(with_a_daemon);
    daemon = std::stoi(process.read_line(Deadline(5s)));
    ASSERT_TRUE(is_running(daemon));
  }
  EXPECT_FALSE(is_running(daemon));
}

// A launcher may be gone before what it started.
TEST(PeerProcess, EndsWithWhatOutlivedIt) {
  PeerProcess process("(setsid sh -c 'echo $$; sleep 600' &) ; sleep 0.1; kill -9 $$");
  pid_t const daemon = std::stoi(process.read_line(Deadline(5s)));
  EXPECT_TRUE(process.ends_after_input(5s));
  EXPECT_TRUE(is_running(daemon)) << "what its end leaves is its own affair until we end it";
}

// No signal but SIGKILL ends what it started, and who would send that has been killed itself.
/// Is what `command` started, and tells the number of, still there when its owner was killed?
bool outlives_its_owner(char const* command) {
  int said[2];
  EXPECT_EQ(::pipe(said), 0);
  pid_t const owner = ::fork();
  EXPECT_GE(owner, 0);
  if (owner == 0) {
    PeerProcess process(command);
    pid_t const started = std::stoi(process.read_line(Deadline(5s)));
    if (::write(said[1], &started, sizeof started) < 0) ::_exit(1);
    ::pause();
  }
  pid_t started = 0;
  EXPECT_EQ(::read(said[0], &started, sizeof started), ssize_t{sizeof started});
  ::close(said[0]);
  ::close(said[1]);
  EXPECT_TRUE(is_running(started));
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  for (int i = 0; i < 15000 && is_running(started); ++i) std::this_thread::sleep_for(2ms);
  return is_running(started);
}

TEST(PeerProcess, EndsWithAllThatItStartedWhenItsOwnerIsKilled) {
  EXPECT_FALSE(outlives_its_owner("trap '' INT TERM HUP; sleep 60 & echo $!; wait"));
  EXPECT_FALSE(outlives_its_owner(with_a_daemon));
}

// A search may have many findings, each of which would start an engine and let it end.
TEST(PeerProcess, IsKilledWithoutAFarewellAfterAnInterrupt) {
  auto const interrupt_and_end = [] {
    watch_for_interrupts();
    std::raise(SIGINT);
    auto shortest = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 5; ++i) {  // another program of the machine may make one late
      auto const begin = std::chrono::steady_clock::now();
      { PeerProcess process("sleep 60"); }
      shortest = std::min(shortest, std::chrono::steady_clock::now() - begin);
    }
    std::exit(shortest < 200ms ? 0 : 1);
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
