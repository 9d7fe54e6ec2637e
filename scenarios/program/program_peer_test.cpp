// How long the program waits for an engine outside the process: until --peer-timeout, or until an
// interrupt, which leaves nothing of an engine that no other signal ends.
#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>

#include "scenarios/language/plain_text.h"
#include "scenarios/peers/client/testing/processes.h"
#include "scenarios/program/testing/called_program.h"
#include "scenarios/runner/testing/python.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Clock = std::chrono::steady_clock;

/// The stub takes steps without gradients, and nothing else.
constexpr char const* stepping =
    "adamant: 1\nname: small\nworld: {shard: 1}\nparams: [{name: w, shape: [3]}]\n"
    "program: [step]\nseed: 7\n";

class PeerOfProgram : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (!python_runs(""))
      GTEST_SKIP() << "there is no " << python_program() << " (ADAMANT_PYTHON names another)";
    write("step.yaml", stepping);
  }

  /// An engine that does so at the request of that name, as --engine takes it.
  static std::string engine(std::string const& how) {
    return shell_quoted(
        "exec:" + python_program() +
        " " ADAMANT_SOURCE_DIR "/scenarios/peers/client/testing/hostile_engine.py " + how);
  }
};

struct Hang {
  char const* at;
  int status;
  char const* text;
};

TEST_F(PeerOfProgram, IsWaitedForAsLongAsTheOptionSays) {
  Hang const hangs[] = {{"hello", 3, "request 0 (hello): it did not answer within 3 s"},
                        {"open", 1, "(open): it did not answer within 3 s (--peer-timeout)"},
                        {"close", 1, "(close): it did not answer within 3 s (--peer-timeout)"}};
  for (Hang const& hang : hangs) {
    auto const begin = Clock::now();
    Called const called =
        call("run step.yaml --peer-timeout 3 --engine " + engine(std::string("never ") + hang.at));
    EXPECT_EQ(called.status, hang.status) << hang.at << called.out << called.err;
    EXPECT_NE((called.out + called.err).find(hang.text), std::string::npos)
        << called.out << called.err;
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20)) << hang.at;
  }
  Called const replayed = call("run step.yaml --peer-timeout 3 --engine " + engine("never open"));
  EXPECT_NE(replayed.out.find(" --peer-timeout 3\n"), std::string::npos) << replayed.out;
}

TEST_F(PeerOfProgram, IsToldTheLimitOfItsRanks) {
  std::string const listener = "exec:read line; echo \"$line\" > said; exit 3";
  EXPECT_EQ(call("run step.yaml --peer-timeout 10 --engine " + shell_quoted(listener)).status, 3);
  EXPECT_NE(read("said").find("\"timeout_seconds\":6"), std::string::npos) << read("said");
}

TEST_F(PeerOfProgram, HasALimitInEveryCommandThatTakesAnEngine) {
  for (char const* const command :
       {"run step.yaml", "fuzz --cases 1 --seed 1", "minimize step.yaml", "doctor"}) {
    Called const called =
        call(std::string(command) + " --peer-timeout 1 --engine " + engine("never hello"));
    EXPECT_EQ(called.status, 3) << command;
    EXPECT_NE(called.err.find("it did not answer within 1 s (--peer-timeout)"), std::string::npos)
        << command << ": " << called.err;
    std::string const name(
        std::string_view(command).substr(0, std::string_view(command).find(' ')));
    EXPECT_NE(call(name + " --help").out.find("--peer-timeout"), std::string::npos) << command;
  }
  EXPECT_EQ(call("run step.yaml --peer-timeout 0").status, 2);
  EXPECT_NE(call("completion bash").out.find("--peer-timeout"), std::string::npos);
}

struct Interrupted {
  char const* command;
  char const* at;
  char const* said;
};

std::ostream& operator<<(std::ostream& out, Interrupted const& at) {
  return out << at.command << ' ' << at.at;
}

class DeafEngine : public PeerOfProgram, public testing::WithParamInterface<Interrupted> {
 protected:
  /// Those of the engine that are still there.
  int left() const {
    int count = 0;
    std::istringstream ids(read("deaf"));
    for (pid_t id = 0; ids >> id;) count += is_running(id) ? 1 : 0;
    return count;
  }
};

TEST_P(DeafEngine, EndsWithinTwoSecondsOfAnInterruptAndLeavesNothing) {
  Interrupted const& at = GetParam();
  Called const called =
      shell("export DEAF=$PWD/deaf; PROGRAM " + std::string(at.command) +
            " --jobs 2 --json out.json --engine " + engine(std::string("deaf ") + at.at) +
            " & pid=$!; " + until_exists("deaf") +
            "until grep -q all deaf; do sleep 0.01; done; begin=$(date +%s%N); kill -INT $pid; "
            "wait $pid; status=$?; end=$(date +%s%N); "
            "test $(( (end - begin) / 1000000 )) -lt 2000 || exit 99; exit $status");
  EXPECT_EQ(called.status, 130) << called.out << called.err;
  EXPECT_NE(called.err.find(at.said), std::string::npos) << called.err;
  EXPECT_EQ(read_json("out.json").at("interrupted"), true);
  EXPECT_EQ(read_json("out.json").at("results").size(), 0U);
  for (int i = 0; i < 6000 && left() > 0; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(left(), 0) << read("deaf");
}

// By default the last lines of it, each on its own; the document has it whole.
TEST_F(PeerOfProgram, AnExceptionKeepsItsTraceback) {
  std::string const run = "run step.yaml --engine " + engine("thrown step");
  Called const called = call(run + " --json out.json");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("RuntimeError: shape\n        frame 3\n        frame 4\n"
                            "        frame 5\n      RuntimeError: shape\n"),
            std::string::npos)
      << called.out;
  auto const violation = read_json("out.json").at("results").at(0).at("violations").at(0);
  EXPECT_EQ(violation.at("kind"), "builtins.RuntimeError");
  EXPECT_EQ(violation.at("where"), "engine.py:7");
  std::string const whole = violation.at("traceback");
  EXPECT_EQ(whole.rfind("Traceback\n  frame 0\n", 0), 0U) << whole;
  Called const verbose = call(run + " --verbose --html out.html");
  EXPECT_NE(verbose.out.find("      Traceback\n        frame 0\n"), std::string::npos)
      << verbose.out;
  EXPECT_NE(read("out.html").find("<pre>Traceback\n  frame 0\n"), std::string::npos);
}

TEST_F(PeerOfProgram, WrongJsonIsOneFindingOfASearch) {
  Called const called =
      call("fuzz --cases 30 --seed 1 --json out.json --engine " + engine("bare_number state"));
  EXPECT_EQ(called.status, 1) << called.err;
  auto const results = read_json("out.json").at("results");
  ASSERT_EQ(results.size(), 1U) << called.out;
  std::string const reason = results.at(0).at("reason");
  EXPECT_NE(reason.find("write it as \"nan\""), std::string::npos) << reason;
}

// The search has asked it already what it offers.
TEST_F(PeerOfProgram, ThatStartsLateIsNoFinding) {
  if (!has_numpy()) GTEST_SKIP() << python_program() << " has no NumPy";
  auto const late = [](std::string const& when) {
    return " --jobs 1 --seed 1 --peer-timeout 5 --json out.json --engine " +
           shell_quoted("exec:mkdir first 2>/dev/null || " + when + " || exec sleep 60; exec " +
                        python_program() + " " ADAMANT_SOURCE_DIR "/scenarios/peers/numpy");
  };
  Called const once = call("fuzz --cases 20" + late("! mkdir second 2>/dev/null"));
  EXPECT_EQ(once.status, 0) << once.out << once.err;
  EXPECT_EQ(read_json("out.json").at("cases"), 19);
  EXPECT_NE(once.err.find("not counted: engine exec:"), std::string::npos) << once.err;
  EXPECT_NE(once.err.find("(hello): it did not answer within 5 s"), std::string::npos) << once.err;
  std::filesystem::remove_all(folder_ / "first");
  Called const always = call("fuzz --cases 1" + late("false"));
  EXPECT_EQ(always.status, 3) << always.out << always.err;
  EXPECT_EQ(read_json("out.json").at("results").size(), 0U);
}

// Engine and known scenarios are started, too.
TEST_F(PeerOfProgram, TimeBoundsASearchWhateverItsEngineDoes) {
  EXPECT_TRUE(is_in_time(4s, [&] {
    Called const called =
        call("fuzz --for 3s --seed 1 --json out.json --out found --engine " + engine("never step"));
    EXPECT_LE(called.status, 2) << called.err;
  }));
}

// Its script would be a session that is recorded by another run.
TEST_F(PeerOfProgram, InterruptedItTellsOfAFindingThatEndsItsEngine) {
  Called const called = shell(
      "PROGRAM fuzz --for 1h --seed 1 --jobs 2 --json out.json --out found --engine " +
      engine("exits step") + " & pid=$!; " + until_exists("found/unfinished") +
      "until ls found/unfinished | grep -q yaml; do sleep 0.01; done; kill -INT $pid; wait $pid");
  EXPECT_EQ(called.status, 130) << called.out << called.err;
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("interrupted"), true);
  EXPECT_GT(document.at("cases"), 0) << called.err;
  EXPECT_GT(document.at("results").size(), 0U);
  EXPECT_EQ(called.err.find("\ninterrupted\n"), std::string::npos) << called.err;
}

// Each of its findings would otherwise be tried once more, by an engine that starts for it.
TEST_F(PeerOfProgram, EndsWithinTwoSecondsOfAnInterruptWithPyTorchToo) {
  if (call("fuzz --engine torch --cases 1 --seed 1").status == 3)
    GTEST_SKIP() << "PyTorch is not set up: .ci/setup --peers";
  Called const called = shell(
      "PROGRAM fuzz --for 1h --seed 3 --engine torch --json out.json & pid=$!; sleep 15; "
      "begin=$(date +%s%N); kill -INT $pid; wait $pid; status=$?; end=$(date +%s%N); "
      "test $(( (end - begin) / 1000000 )) -lt 2000 || exit 99; exit $status");
  EXPECT_EQ(called.status, 130) << called.out << called.err;
  EXPECT_EQ(read_json("out.json").at("interrupted"), true);
}

INSTANTIATE_TEST_SUITE_P(
    Each, DeafEngine,
    testing::Values(Interrupted{"run step.yaml", "hello", "interrupted\n"},
                    Interrupted{"run step.yaml", "open", "interrupted: 0 of 1 scenario finished"},
                    Interrupted{"run step.yaml", "close", "interrupted: 0 of 1 scenario finished"},
                    Interrupted{"fuzz --cases 9", "hello", "interrupted\n"},
                    Interrupted{"fuzz --cases 9", "open", "interrupted after 0 cases"},
                    Interrupted{"minimize step.yaml", "open", "interrupted\n"}));

}  // namespace
}  // namespace adamant::scenarios
