// The scripts that the program writes of an engine outside the process: which kind they are, and
// that they show the defect where it is, and nothing where it is not.
#include <string>

#include "scenarios/language/plain_text.h"
#include "scenarios/program/testing/program.h"
#include "scenarios/runner/testing/python.h"

namespace adamant::scenarios {
namespace {

constexpr char const* said = "a recorded session of the engine's protocol";

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
  int play(std::string const& script, std::string const& arguments = "") const {
    return shell(python_program() + " " + script + " " + arguments).status;
  }
};

TEST_F(ScriptOfProgram, IsWrittenByRun) {
  Called const called = call("run x.yaml --script x.py" + engine("no_bias_correction"));
  EXPECT_EQ(called.status, 1) << called.out << called.err;
  EXPECT_NE(called.err.find(std::string("--script: ") + said + "\n"), std::string::npos)
      << called.err;
  EXPECT_EQ(play("x.py"), 1) << read("x.py");
  EXPECT_EQ(play("x.py", shell_quoted(command("none"))), 0) << read("x.py");
}

TEST_F(ScriptOfProgram, IsWrittenByMinimizeOfWhatIsLeft) {
  Called const called =
      call("minimize x.yaml -o y.yaml --script y.py" + engine("no_bias_correction"));
  ASSERT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.err.find(said), std::string::npos) << called.err;
  EXPECT_NE(read("y.py").find("\"shape\": [1]"), std::string::npos) << read("y.py");
  EXPECT_EQ(play("y.py"), 1) << read("y.py");
  EXPECT_EQ(play("y.py", shell_quoted(command("none"))), 0) << read("y.py");
}

TEST_F(ScriptOfProgram, IsWrittenByFuzzBesideItsFinding) {
  Called const called = call("fuzz --cases 30 --seed 5 --out found" + engine("no_bias_correction"));
  ASSERT_EQ(called.status, 1) << called.out << called.err;
  EXPECT_NE(called.err.find(std::string("found/values.bitwise.py: ") + said + "\n"),
            std::string::npos)
      << called.err;
  EXPECT_EQ(play("found/values.bitwise.py"), 1);
  EXPECT_EQ(play("found/values.bitwise.py", shell_quoted(command("none"))), 0);
}

TEST_F(ScriptOfProgram, IsNotThereWhereNothingIsWrong) {
  Called const called = call("run x.yaml --script x.py" + engine("none"));
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  EXPECT_EQ(called.err, "--script: nothing is written: no law was broken\n");
  EXPECT_FALSE(exists("x.py"));
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
  EXPECT_TRUE(exists("found/values.bitwise.py")) << called.err;
  EXPECT_FALSE(exists("found/values.interval.yaml")) << called.out;
}

}  // namespace
}  // namespace adamant::scenarios
