// What a command reads stays as it is, however its outputs are spelled, and what cannot work is
// said before anything runs.
#include <chrono>

#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

class ProgramInputs : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("x.yaml", passing_scenario());
    write("engine.py", "");
    write("sub/there", "");
    ASSERT_EQ(shell("ln -s x.yaml link.yaml; ln x.yaml hard.yaml").status, 0);
  }

  /// The command ends with 2 and says why, prints and leaves nothing, and changes no file.
  void expect_refused(std::string const& command, std::string const& why) {
    std::string const before = shell(all).out;
    Called const called = shell(command);
    EXPECT_EQ(called.status, 2) << command;
    EXPECT_EQ(called.out, "") << command;
    EXPECT_NE(called.err.find(why), std::string::npos) << command << "\n" << called.err;
    EXPECT_EQ(shell(all).out, before) << command;
  }

  double seconds(std::string const& command, int status) {
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_EQ(shell(command).status, status) << command;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  static constexpr char all[] = "find . -type f ! -name '.out' ! -name '.err' | sort | xargs cksum";
};

TEST_F(ProgramInputs, NoFileThatIsWrittenIsAlsoRead) {
  for (std::string const option : {"--json", "--junit", "--html", "--trace", "--script"})
    for (std::string const path : {"x.yaml", "./sub/../x.yaml", "link.yaml", "hard.yaml"})
      expect_refused("PROGRAM run x.yaml " + option + " " + path, option + ": " + path + " is an");
  for (char const* const command :
       {"run . --json x.yaml", "run - --json x.yaml < x.yaml", "run x.yaml --json - >> hard.yaml",
        "minimize x.yaml -o link.yaml", "minimize x.yaml >> x.yaml",
        "run x.yaml --engine 'exec:python3 engine.py' --script engine.py",
        "run x.yaml --engine 'exec:python3 -m it --engine engine:MyEngine' --script engine.py",
        "doctor --engine 'exec:python3 engine.py' --json sub/../engine.py"})
    expect_refused(std::string("PROGRAM ") + command, "is an input");
}

TEST_F(ProgramInputs, NorIsWhatAScenarioOrAListOfKnownDefectsNames) {
  write("loads.yaml",
        "adamant: 1\nname: loads\nworld: {shard: 1}\nparams: [{name: w, shape: [2]}]\n"
        "program: [load: sub]\n");
  expect_refused("PROGRAM run loads.yaml --json sub/there", "is an input");
  write("shows.yaml", passing_scenario("expect: {violates: order.race}\n"));
  write("known.yaml",
        "known: [{name: a, cause: c, versions: v, thread: none, "
        "shown_by: [shows.yaml]}]\n");
  for (char const* const read : {"known.yaml", "shows.yaml"})
    expect_refused(std::string("PROGRAM fuzz --cases 1 --known known.yaml --json ") + read,
                   "is an input");
}

TEST_F(ProgramInputs, NorIsACampaign) {
  ASSERT_EQ(call("fuzz --seed 1 --cases 2 --campaign c").status, 0);
  expect_refused("PROGRAM fuzz --cases 2 --campaign c --html c/campaign.json", "is an input");
  for (char const* const output :
       {"--json c/campaign.json", "--html c/0-of-1/journal.jsonl", "--out c", "--out c/0-of-1"})
    expect_refused(std::string("PROGRAM merge c ") + output, "is an input");
  EXPECT_EQ(call("merge c --out c/merged --json merged.json").status, 0);
}

TEST_F(ProgramInputs, ADumpReplacesADumpAndNothingElse) {
  expect_refused("PROGRAM run x.yaml --dump sub", "sub: exists and is not a dump");
  expect_refused("PROGRAM run x.yaml --dump x.yaml", "x.yaml would be replaced");
  expect_refused("PROGRAM run x.yaml --dump x.yaml/d", "is no directory");
  ASSERT_EQ(call("run x.yaml --dump d").status, 0);
  ASSERT_EQ(shell("cp x.yaml d; ln -s d e").status, 0);
  expect_refused("PROGRAM run e/x.yaml --dump d", "d would be replaced, and e/x.yaml is in it");
  expect_refused("PROGRAM run x.yaml --dump e --json d/r.json", "d/r.json is in it");
  EXPECT_EQ(call("run x.yaml --dump d").status, 0);
}

TEST_F(ProgramInputs, ADirectoryForAnEngineIsThereOrNothingRuns) {
  for (char const* const command : {"run x.yaml", "fuzz --cases 1", "minimize x.yaml", "doctor"}) {
    std::string const end = std::string(command) + " --engine 'exec:touch started'";
    expect_refused("TMPDIR=/nonexistent PROGRAM " + end, "TMPDIR names another place");
    Called const full = shell("(ulimit -f 0; TMPDIR=. PROGRAM " + end + " 2>&1; echo $?) | cat");
    EXPECT_TRUE(full.out.ends_with("TMPDIR names another place\n2\n")) << full.out;
  }
}

TEST_F(ProgramInputs, APipeIsWaitedForWhereSomebodyMayWrite) {
  ASSERT_EQ(shell("mkfifo pipe").status, 0);
  EXPECT_LT(seconds("PROGRAM run pipe", 2), 15);
  EXPECT_LT(seconds("sleep 30 > pipe & PROGRAM run pipe; s=$?; kill $!; exit $s", 2), 15);
  EXPECT_LT(seconds("PROGRAM run x.yaml --json pipe", 2), 15);
  seconds("(sleep 1; cat x.yaml > pipe) & PROGRAM run pipe", 0);
  seconds("(sleep 1; cat pipe > r.json) & PROGRAM run x.yaml --json pipe; s=$?; wait; exit $s", 0);
  EXPECT_EQ(read_json("r.json").at("command"), "run");
  seconds("bash -c 'PROGRAM run <(sleep 7; cat x.yaml)'", 0);
}

TEST_F(ProgramInputs, WhatWasFoundIsToldThoughTheDiskIsFull) {
  std::string const end = " 2>&1; echo status $?) | cat";
  for (char const* const search :
       {"(ulimit -f 0; PROGRAM fuzz --seed 1 --cases 30 --bug mean_not_divided --out found",
        "(ulimit -f 8; PROGRAM fuzz --seed 1 --cases 30 --bug mean_not_divided --campaign c",
        "(ulimit -f 0; PROGRAM hunt --seed 1 --searches 1 --cases 200 mean_not_divided --out f"}) {
    std::string const told = shell(search + end).out;
    EXPECT_NE(told.find("values.bitwise"), std::string::npos) << told;
    EXPECT_NE(told.find("cannot be written: File too large"), std::string::npos) << told;
    EXPECT_NE(told.find("status 2\n"), std::string::npos) << told;
  }
}

}  // namespace
}  // namespace adamant::scenarios
