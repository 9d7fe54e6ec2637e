// `adamant run` as its users call it: exit statuses, files, order, interrupts.
#include <cstdlib>
#include <regex>

#include "scenarios/program/testing/called_program.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

using RunProgram = ProgramTest;

TEST_F(RunProgram, APassingScenarioIsZeroAndHasAllKeys) {
  write("small.yaml", passing_scenario());
  Called const called = call("run small.yaml --json out.json");
  ASSERT_EQ(called.status, 0) << called.err;
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("adamant"), "0.1.0");
  EXPECT_EQ(document.at("command"), "run");
  EXPECT_FALSE(document.contains("interrupted"));
  auto const& result = document.at("results").at(0);
  EXPECT_EQ(result.at("scenario"), "small");
  EXPECT_EQ(result.at("file"), "small.yaml");
  EXPECT_EQ(result.at("engine"), "sim");
  EXPECT_EQ(result.at("seed"), 7);
  EXPECT_EQ(result.at("outcome"), "pass");
  EXPECT_EQ(result.at("expected"), "pass");
  EXPECT_EQ(result.at("met"), true);
  EXPECT_EQ(result.at("operations"), 1);
  EXPECT_EQ(result.at("schedules"), 1);
  EXPECT_EQ(result.at("digest").get<std::string>().size(), 16U);
  EXPECT_GT(result.at("wall_seconds").get<double>(), 0);
  EXPECT_GT(result.at("simulated_seconds").get<double>(), 0);
  EXPECT_EQ(result.at("violations").size(), 0U);
  EXPECT_GT(result.at("memory").at("device_peak_bytes").get<int>(), 0);
  EXPECT_TRUE(result.at("memory").contains("pinned_peak_bytes"));
}

// Else it might be taken for a run of the adapter's engine.
TEST_F(RunProgram, AScenarioBesideAnAdapterSaysThatItRunsOnAnotherEngine) {
  for (char const* const folder : {"mine/adamant_mine", "mine/tests/scenarios"})
    std::filesystem::create_directories(folder_ / folder);
  write("mine/adamant_mine/__main__.py", "");
  write("mine/tests/scenarios/small.yaml", passing_scenario());
  write("mine/tests/scenarios/named.yaml", passing_scenario() + "engine: {name: sim-unchecked}\n");
  Called const called = call("run mine");
  EXPECT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.err.find("1 scenario in the folder of an adapter names no engine and runs on "
                            "sim; --engine mine runs them on the adapter's\n"),
            std::string::npos)
      << called.err;
  write("small.yaml", passing_scenario());
  for (char const* const other : {"run small.yaml", "run --engine sim mine"})
    EXPECT_EQ(call(other).err.find("adapter"), std::string::npos) << other;
}

TEST_F(RunProgram, TheSameSeedGivesTheSameDigest) {
  write("small.yaml", passing_scenario());
  auto const digest = [&](std::string const& arguments) {
    EXPECT_EQ(call("run small.yaml --json out.json " + arguments).status, 0);
    return read_json("out.json").at("results").at(0).at("digest").get<std::string>();
  };
  EXPECT_EQ(digest(""), digest("--jobs 2"));
  EXPECT_EQ(digest(""), digest("--seed 7"));
  EXPECT_NE(digest(""), digest("--seed 8"));
}

TEST_F(RunProgram, ASeedThatIsDrawnIsPrintedAndRecorded) {
  write("small.yaml", passing_scenario(""));
  Called const called = call("run small.yaml --json out.json");
  ASSERT_EQ(called.status, 0) << called.err;
  auto const seed = read_json("out.json").at("results").at(0).at("seed").get<std::uint64_t>();
  EXPECT_EQ(called.out.rfind("seed " + std::to_string(seed) + " (drawn)\n", 0), 0U) << called.out;
}

TEST_F(RunProgram, AnExpectationThatIsNotMetIsOne) {
  write("wrong.yaml", passing_scenario("seed: 7\nexpect: {violates: order.race}\n"));
  Called const called = call("run wrong.yaml --json out.json --junit out.xml");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("expected violates order.race, outcome pass"), std::string::npos);
  EXPECT_NE(called.out.find("run wrong.yaml --seed 7"), std::string::npos);
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("met"), false);
  EXPECT_NE(read("out.xml").find("failures=\"1\""), std::string::npos);
}

TEST_F(RunProgram, BrokenInputIsTwo) {
  write("bad.yaml", passing_scenario("speed: 9\n"));
  Called const called = call("run . --json out.json");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("bad.yaml:6: speed:"), std::string::npos) << called.err;
  EXPECT_EQ(called.out, "");
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("outcome"), "error");
}

TEST_F(RunProgram, NothingToRunIsTwo) {
  EXPECT_EQ(call("run missing.yaml").status, 2);
  EXPECT_EQ(call("run .").status, 2);
  write("other.yaml", "just: yaml\n");
  EXPECT_EQ(call("run .").status, 2);
  write("small.yaml", passing_scenario());
  EXPECT_EQ(call("run .").status, 0);
  EXPECT_EQ(call("run other.yaml").status, 2);
}

TEST_F(RunProgram, ADirectorysPipesAreNotWaitedFor) {
  write("small.yaml", passing_scenario());
  EXPECT_EQ(shell("mkfifo pipe.yaml && timeout 10 PROGRAM run .").status, 0);
}

TEST_F(RunProgram, ARefusalIsTwoUnlessItIsExpected) {
  write("refused.yaml", passing_scenario("seed: 7\nschedule: {strategy: exhaustive}\n"));
  Called const called = call("run refused.yaml --json out.json");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("refused.yaml:7: unsupported.schedule: "), std::string::npos)
      << called.err;
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("outcome"), "refused");

  write("refused.yaml",
        passing_scenario(
            "schedule: {strategy: exhaustive}\nexpect: {refused: unsupported.schedule}\n"));
  EXPECT_EQ(call("run refused.yaml").status, 0);
  write("refused.yaml",
        passing_scenario("schedule: {strategy: exhaustive}\nexpect: {refused: any}\n"));
  EXPECT_EQ(call("run refused.yaml").status, 0);
  write(
      "refused.yaml",
      passing_scenario("schedule: {strategy: exhaustive}\nexpect: {refused: unsupported.save}\n"));
  EXPECT_EQ(call("run refused.yaml").status, 2);
}

TEST_F(RunProgram, AnUnexpectedRefusalDoesNotHideTheOthers) {
  write("a_refused.yaml", passing_scenario("schedule: {strategy: exhaustive}\n"));
  write("b_small.yaml", passing_scenario());
  EXPECT_EQ(call("run . --json out.json --seed 1").status, 2);
  auto const results = read_json("out.json").at("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results.at(0).at("outcome"), "refused");
  EXPECT_EQ(results.at(1).at("outcome"), "pass");
}

TEST_F(RunProgram, ResultsComeInTheOrderOfFilesWhateverTheJobs) {
  for (char const* const name : {"c", "a", "d", "b"}) {
    write(std::string("many/") + name + ".yaml", passing_scenario());
  }
  write("many/deep/e.yaml", passing_scenario());
  ASSERT_EQ(call("run many --jobs 3 --json out.json").status, 0);
  std::string files;
  auto const document = read_json("out.json");
  for (auto const& result : document.at("results")) {
    files += result.at("file").get<std::string>() + " ";
  }
  EXPECT_EQ(files, "many/a.yaml many/b.yaml many/c.yaml many/d.yaml many/deep/e.yaml ");
}

TEST_F(RunProgram, OutputsThatCannotBeWrittenAreTwoAndLeaveNothing) {
  write("small.yaml", passing_scenario());
  EXPECT_EQ(call("run small.yaml --json missing/out.json").status, 2);
  EXPECT_EQ(call("run small.yaml --junit .").status, 2);
  EXPECT_EQ(call("run small.yaml --json /dev/full").status, 2);
  EXPECT_EQ(call("run small.yaml --json out.json --junit missing/out.xml").status, 2);
  EXPECT_EQ(call("run small.yaml --dump /dev/null/dump").status, 2);
  EXPECT_EQ(listing(), "small.yaml ");
}

TEST_F(RunProgram, DumpsGoToTheDirectoryOrToOneAScenario) {
  write("two/a.yaml", passing_scenario());
  write("two/b.yaml", passing_scenario());
  ASSERT_EQ(call("run two/a.yaml --dump one").status, 0);
  EXPECT_TRUE(exists("one/initial.safetensors"));
  EXPECT_TRUE(exists("one/state_002.safetensors"));
  ASSERT_EQ(call("run two --dump several").status, 0);
  EXPECT_TRUE(exists("several/a/initial.safetensors"));
  EXPECT_TRUE(exists("several/b/grad_001.safetensors"));
  write("two/deep/a.yaml", passing_scenario());
  EXPECT_EQ(call("run two --dump clash").status, 2);
}

TEST_F(RunProgram, QuietSaysNothingAboutSuccess) {
  write("small.yaml", passing_scenario());
  Called const quiet = call("run small.yaml --quiet");
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
  EXPECT_NE(call("run small.yaml --verbose").out.find("digest"), std::string::npos);
  EXPECT_NE(call("run small.yaml --color always").out.find("\x1b[32m"), std::string::npos);
  EXPECT_EQ(call("run small.yaml").out.find('\x1b'), std::string::npos);
}

TEST_F(RunProgram, EnginesThatAreNotHereAreThree) {
  write("small.yaml", passing_scenario());
  Called const gone = call("run small.yaml --engine 'exec:exit 5'");
  EXPECT_EQ(gone.status, 3);
  EXPECT_NE(gone.err.find("request 0 (hello): it ended with exit status 5"), std::string::npos)
      << gone.err;
  EXPECT_EQ(call("run small.yaml --engine cuda").status, 3);
  EXPECT_EQ(call("run small.yaml --engine sim-unchecked").status, 0);
  Called const absent = call("run small.yaml --engine sim_unchecked");
  EXPECT_EQ(absent.status, 3);
  EXPECT_NE(absent.err.find("did you mean `sim-unchecked`?"), std::string::npos) << absent.err;
  EXPECT_EQ(call("run small.yaml --engine abacus").status, 3);
}

TEST_F(RunProgram, ManySchedulesAreRunAndCounted) {
  write("small.yaml", passing_scenario());
  ASSERT_EQ(call("run small.yaml --schedules 4 --json out.json").status, 0);
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("schedules"), 5);
}

TEST_F(RunProgram, AnInterruptEndsSoonAndKeepsWhatIsFinished) {
  write("a.yaml", passing_scenario());
  write("b.yaml", endless_scenario());
  Called const called = shell(
      "PROGRAM run a.yaml b.yaml --jobs 2 --json out.json & pid=$!; sleep 1; "
      "begin=$(date +%s%N); kill -INT $pid; wait $pid; status=$?; end=$(date +%s%N); "
      "test $(( (end - begin) / 1000000 )) -lt 2000 || exit 99; exit $status");
  EXPECT_EQ(called.status, 130) << called.err;
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("interrupted"), true);
  ASSERT_EQ(document.at("results").size(), 1U);
  EXPECT_EQ(document.at("results").at(0).at("outcome"), "pass");
}

TEST_F(RunProgram, AnInterruptLeavesNoHalfOfADump) {
  write("long.yaml", endless_scenario());
  for (char const* const signal : {"INT", "TERM", "HUP"}) {
    Called const called = shell(std::string("PROGRAM run long.yaml --dump out & pid=$!; sleep 0.5; "
                                            "test -e out.tmp-$pid || exit 99; kill -") +
                                signal + " $pid; wait $pid");
    EXPECT_EQ(called.status, 130) << signal << called.err;
    EXPECT_EQ(listing(), "long.yaml ");
  }
}

TEST_F(RunProgram, ADumpThatOutgrowsTheLimitOfFilesIsTwoAndLeavesNothing) {
  write("large.yaml",
        "adamant: 1\nname: large\nworld: {shard: 1}\nparams: [{name: w, shape: [100000]}]\n"
        "program: [{train: 2}]\nseed: 1\n");
  Called const called = shell("ulimit -f 100; PROGRAM run large.yaml --dump out");
  EXPECT_EQ(called.status, 2) << called.out;
  EXPECT_NE(called.out.find("cannot write: File too large"), std::string::npos) << called.out;
  EXPECT_EQ(listing(), "large.yaml ");
}

TEST_F(RunProgram, ADocumentOnTheStandardOutputStandsThereAlone) {
  write("small.yaml", passing_scenario(""));
  Called const called = call("run small.yaml --json -");
  ASSERT_EQ(called.status, 0) << called.err;
  EXPECT_EQ(nlohmann::json::parse(called.out).at("results").size(), 1U);
  EXPECT_NE(called.err.find("small.yaml: small"), std::string::npos) << called.err;
}

TEST_F(RunProgram, AWorkerThatIsKilledIsAnErrorAndTheRestGoesOn) {
  write("a.yaml", passing_scenario());
  write("b.yaml", passing_scenario());
  Called const called = shell(
      "PROGRAM run a.yaml b.yaml --jobs 2 --schedules 20000 --json out.json & pid=$!; sleep 0.3; "
      "kill -KILL $(cut -d ' ' -f 1 /proc/$pid/task/$pid/children); sleep 0.3; kill -INT $pid; "
      "wait $pid");
  EXPECT_EQ(called.status, 130) << called.err;
  auto const results = read_json("out.json").at("results");
  ASSERT_EQ(results.size(), 1U) << results;
  EXPECT_EQ(results.at(0).at("outcome"), "error");
  EXPECT_NE(results.at(0).at("reason").get<std::string>().find("signal 9"), std::string::npos);
  EXPECT_NE(results.at(0).at("replay").get<std::string>().find(" --seed 7"), std::string::npos);
}

TEST_F(RunProgram, AWrongEngineIsFoundAndTheReplayLineRepeatsIt) {
  write("small.yaml", passing_scenario());
  Called const called = call("run small.yaml --bug mean_not_divided");
  ASSERT_EQ(called.status, 1) << called.out << called.err;
  std::string const label = "  replay: ";
  auto const at = called.out.find(label);
  ASSERT_NE(at, std::string::npos) << called.out;
  auto const begin = at + label.size();
  std::string const line = called.out.substr(begin, called.out.find('\n', begin) - begin);
  Called const again = shell(line);
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.out, called.out);
}

TEST_F(RunProgram, AScriptIsWrittenForPyTorchAlone) {
  write("small.yaml", passing_scenario());
  Called const passing = call("run small.yaml --script small.py");
  EXPECT_EQ(passing.status, 0);
  EXPECT_NE(passing.err.find("no law was broken"), std::string::npos) << passing.err;
  Called const called = call("run small.yaml --bug mean_not_divided --script small.py");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("the engine is sim"), std::string::npos) << called.err;
  EXPECT_FALSE(exists("small.py"));
  write("other.yaml", passing_scenario());
  Called const two = call("run small.yaml other.yaml --script small.py");
  EXPECT_EQ(two.status, 2);
  EXPECT_NE(two.err.find("2 scenarios"), std::string::npos) << two.err;
}

TEST_F(RunProgram, ALongScenarioAndAMinimisationSayHowFarTheyAre) {
  write("a.yaml", passing_scenario());
  std::string const run = shell("script -qec 'PROGRAM run a.yaml --schedules 3000' run.txt").out;
  EXPECT_TRUE(std::regex_search(run, std::regex("[0-9]+ of [0-9]+ operations"))) << run;
  std::string const smaller =
      shell("script -qec 'PROGRAM minimize a.yaml --bug mean_not_divided -o b.yaml' min.txt").out;
  EXPECT_TRUE(std::regex_search(smaller, std::regex("[0-9]+ runs"))) << smaller;
}

TEST_F(RunProgram, AStrippedProgramSaysThatItHasNoLines) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  if (std::system("strip --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no strip";
  write("races.yaml", passing_scenario("seed: 7\nbug: step_skips_wait_for_reduction\n"));
  std::string const note = "source lines are missing: this program has none; it was stripped";
  Called const stripped = shell("strip -o stripped PROGRAM && ./stripped run races.yaml");
  EXPECT_EQ(stripped.status, 1) << stripped.err;
  EXPECT_NE(stripped.out.find(note), std::string::npos) << stripped.out;
  EXPECT_EQ(call("run races.yaml").out.find("source lines are missing"), std::string::npos);
}

TEST_F(RunProgram, AStrippedProgramHasItsLinesAndNamesFromADebugFile) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  if (std::system("objcopy --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no objcopy";
  write("races.yaml", passing_scenario("seed: 7\nbug: step_skips_wait_for_reduction\n"));
  std::string const run = " run races.yaml | grep -v replay:";
  Called const whole = shell("cp PROGRAM program && ./program" + run);
  EXPECT_NE(whole.out.find("adam_kernel reads"), std::string::npos) << whole.out;
  Called const stripped = shell(
      "objcopy --only-keep-debug program lines.debug && objcopy --strip-unneeded program && "
      "objcopy --add-gnu-debuglink=lines.debug program && ./program" +
      run);
  EXPECT_EQ(stripped.out, whole.out) << stripped.err;
}

}  // namespace
}  // namespace adamant::scenarios
