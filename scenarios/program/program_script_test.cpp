// The scripts that the program writes of an engine outside the process, or the sessions in their
// place: which of them there is, and that it shows the defect where it is, and nothing where it is
// not.
#include <string>

#include "scenarios/language/plain_text.h"
#include "scenarios/program/testing/called_program.h"
#include "scenarios/runner/testing/python.h"

namespace adamant::scenarios {
namespace {

constexpr char const* said =
    "a recorded session of the engine's protocol, which replay.py (in share/adamant) plays, and no "
    "script: the engine names nothing that makes a script of it\n";

constexpr char const* two_steps =
    "adamant: 1\nname: Two steps\nseed: 5\nworld: {shard: 2}\n"
    "params: [{name: w, shape: [4, 3]}, {name: b, shape: [3]}]\nprogram: [train: 2]\n";

class ScriptOfProgram : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (!has_numpy()) GTEST_SKIP() << "there is no NumPy in " << python_program();
    write("x.yaml", two_steps);
  }

  static std::string command(std::string const& bug) {
    return python_program() + " " ADAMANT_SOURCE_DIR "/scenarios/peers/numpy --bug " + bug;
  }
  static std::string engine(std::string const& bug) {
    return " --engine " + shell_quoted("exec:" + command(bug));
  }
  int play(std::string const& session, std::string const& arguments = "") const {
    return shell(python_program() + " " ADAMANT_SOURCE_DIR "/scenarios/peers/replay.py " + session +
                 " " + arguments)
        .status;
  }

  /// An engine whose hello names a command that makes scripts, a shell's; its call.
  Called run_with_maker(std::string const& maker, std::string const& script = "x.py") const {
    write("maker.sh", maker);
    write("engine.sh",
          command("no_bias_correction") +
              R"( | sed -u 's/"arithmetic":/"script": ["sh", "maker.sh"], "arithmetic":/')");
    return call("run x.yaml --quiet --engine 'exec:sh engine.sh' --script " + script);
  }
};

TEST_F(ScriptOfProgram, IsWrittenByRun) {
  Called const called = call("run x.yaml --script x.py" + engine("no_bias_correction"));
  EXPECT_EQ(called.status, 1) << called.out << called.err;
  EXPECT_NE(called.err.find(std::string("--script: x.py.session.json: ") + said), std::string::npos)
      << called.err;
  EXPECT_FALSE(exists("x.py"));
  EXPECT_EQ(play("x.py.session.json"), 1);
  EXPECT_EQ(play("x.py.session.json", shell_quoted(command("none"))), 0);
}

TEST_F(ScriptOfProgram, IsPrintedWhereFileIsTheStandardOutput) {
  Called const called = call("run x.yaml --quiet --script -" + engine("no_bias_correction"));
  EXPECT_EQ(called.status, 1) << called.err;
  auto const begin = called.out.find("{\n\"adamant_session\": 1,\n");
  ASSERT_NE(begin, std::string::npos) << called.out;
  EXPECT_NE(called.err.find(std::string("--script: ") + said), std::string::npos) << called.err;
}

TEST_F(ScriptOfProgram, IsWhatTheEnginesOwnSideMakesOfTheSession) {
  Called const called = run_with_maker("cp $1 $3; cp $1 ${3%.py}.numbers.pt; echo a play\n");
  EXPECT_EQ(called.status, 1) << called.out << called.err;
  EXPECT_NE(called.err.find("--script: a play\n"), std::string::npos) << called.err;
  EXPECT_EQ(play("x.py"), 1);
  EXPECT_EQ(read("x.numbers.pt"), read("x.py"));
  EXPECT_FALSE(exists("x.py.session.json"));
}

TEST_F(ScriptOfProgram, IsTheSessionWhereThatMakesNone) {
  Called const called = run_with_maker("echo out of paper >&2; exit 1\n");
  EXPECT_EQ(called.status, 1) << "as it was without a script: " << called.out << called.err;
  EXPECT_NE(called.err.find(", and no script: out of paper\n"), std::string::npos) << called.err;
  EXPECT_FALSE(exists("x.py"));
  EXPECT_EQ(play("x.py.session.json"), 1);
  EXPECT_EQ(run_with_maker("cp $1 $3\n").status, 1);
  EXPECT_FALSE(exists("x.py.session.json")) << "it was in place of the script that is there now";
}

TEST_F(ScriptOfProgram, IsWrittenByMinimizeOfWhatIsLeft) {
  Called const called =
      call("minimize x.yaml -o y.yaml --script y.py" + engine("no_bias_correction"));
  ASSERT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.err.find(said), std::string::npos) << called.err;
  std::string const session = "y.py.session.json";
  EXPECT_NE(read(session).find("\"shape\":[1]"), std::string::npos) << read(session);
  EXPECT_EQ(play(session), 1);
  EXPECT_EQ(play(session, shell_quoted(command("none"))), 0);
}

TEST_F(ScriptOfProgram, IsWrittenByFuzzBesideItsFinding) {
  Called const called = call("fuzz --cases 30 --seed 5 --out found" + engine("no_bias_correction"));
  ASSERT_EQ(called.status, 1) << called.out << called.err;
  std::string const session = "found/values.bitwise.py.session.json";
  EXPECT_NE(called.err.find(session + ": " + said), std::string::npos) << called.err;
  EXPECT_EQ(play(session), 1);
  EXPECT_EQ(play(session, shell_quoted(command("none"))), 0);
}

TEST_F(ScriptOfProgram, LeavesItsNumbersNowhereElse) {
  Called const called = run_with_maker("cp $1 $3; cp $1 ${3%.py}.numbers.pt\n", "-");
  EXPECT_NE(called.out.find("\"adamant_session\": 1"), std::string::npos) << called.out;
  EXPECT_NE(called.err.find("its numbers are too many for a script that lies in no folder\n"),
            std::string::npos)
      << called.err;
}

TEST_F(ScriptOfProgram, IsWhatThePageLinksTo) {
  std::string const options = "run x.yaml --script x.py --html x.html";
  EXPECT_EQ(call(options + engine("no_bias_correction")).status, 1);
  EXPECT_NE(read("x.html").find("<a href=\"x.py.session.json\">"), std::string::npos);
}

TEST_F(ScriptOfProgram, IsNotThereWhereNothingIsWrong) {
  Called const called = call("run x.yaml --script x.py" + engine("none"));
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  EXPECT_EQ(called.err, "--script: nothing is written: no law was broken\n");
  EXPECT_FALSE(exists("x.py"));
  EXPECT_FALSE(exists("x.py.session.json"));
}

TEST_F(ScriptOfProgram, OfAnOptionThatTheEngineIgnoresIsNoSecondOne) {
  std::string const name = "exec:exec " + python_program() +
                           " " ADAMANT_SOURCE_DIR "/scenarios/program/testing/ignoring_engine.py";
  write("any.yaml",
        std::string(two_steps) + "engine: {name: \"" + name + "\", options: {order: any}}\n");
  EXPECT_EQ(call("run any.yaml --trust --json out.json").status, 1);
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("violations").at(0).at("law"),
            "values.interval")
      << "the option changes the law";
  Called const called = call("fuzz --cases 60 --seed 5 --out found --engine " + shell_quoted(name));
  ASSERT_EQ(called.status, 1) << called.out << called.err;
  EXPECT_NE(called.err.find("found values.interval in case "), std::string::npos) << called.err;
  EXPECT_TRUE(exists("found/values.bitwise.py.session.json")) << called.err;
  EXPECT_FALSE(exists("found/values.interval.yaml")) << called.out;
}

}  // namespace
}  // namespace adamant::scenarios
