// `adamant run` in CI: which scenarios run, in which order, when it ends, and what machines read
// when files are broken or something is missing.
#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

class SelectedRun : public ProgramTest {
 protected:
  /// Three scenarios that pass, called as their files.
  void write_three() const {
    for (char const* const name : {"a", "b", "c"}) write_named(name, "seed: 7\n");
  }
  void write_named(std::string const& name, std::string const& extra) const {
    std::string text = passing_scenario(extra);
    text.replace(text.find("name: small"), 11, "name: the " + name);
    write("in/" + name + ".yaml", text);
  }
  /// Files in the order of the results.
  std::string files_run(std::string const& arguments) const {
    static_cast<void>(call("run in --jobs 1 --json out.json " + arguments));
    std::string files;
    auto const document = read_json("out.json");
    for (auto const& result : document.at("results"))
      files += result.at("file").get<std::string>() + " ";
    return files;
  }
  std::string listed(std::string const& arguments) const {
    Called const called = call("run in --list " + arguments);
    EXPECT_EQ(called.status, 0) << called.err;
    return called.out;
  }
};

TEST_F(SelectedRun, OneUnreadableFileIsAnErrorAndTheRestRuns) {
  write_three();
  write_named("bad", "speed: 9\n");
  Called const called = call("run in --json out.json --junit out.xml");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("in/bad.yaml:6: speed:"), std::string::npos) << called.err;
  EXPECT_NE(called.out.find("4 scenarios, 1 not as expected"), std::string::npos) << called.out;
  auto const results = read_json("out.json").at("results");
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results.at(2).at("file"), "in/bad.yaml");
  EXPECT_EQ(results.at(2).at("outcome"), "error");
  EXPECT_NE(results.at(2).at("message").get<std::string>().find("speed"), std::string::npos);
  EXPECT_EQ(results.at(3).at("outcome"), "pass");
  EXPECT_NE(read("out.xml").find("errors=\"1\""), std::string::npos);
  EXPECT_NE(read("out.xml").find("in/bad.yaml:6: speed:"), std::string::npos);
}

TEST_F(SelectedRun, APathThatDoesNotExistIsSuchAFile) {
  write_three();
  EXPECT_EQ(call("run missing.yaml in --json out.json").status, 2);
  EXPECT_EQ(read_json("out.json").at("results").size(), 4U);
}

TEST_F(SelectedRun, TheStandardInputIsOneScenario) {
  write("small.yaml", passing_scenario());
  EXPECT_EQ(shell("PROGRAM run - < small.yaml").status, 0);
  EXPECT_EQ(shell("PROGRAM run - in < small.yaml").status, 2);
  EXPECT_NE(shell("echo 'adamant: 1' | PROGRAM run -").err.find("-:1: name:"), std::string::npos);
  EXPECT_EQ(shell("PROGRAM run - < /dev/zero").status, 2);
}

TEST_F(SelectedRun, MinimizeReadsTheStandardInputToo) {
  write("wrong.yaml", passing_scenario("seed: 7\nbug: te_2795\n"));
  Called const called = shell(
      "sed 's/program: .*/program: [{save: a}, {load: a}]/' wrong.yaml |"
      " PROGRAM minimize -");
  EXPECT_EQ(called.status, 0) << called.err;
  EXPECT_NE(called.out.find("checkpoint.roundtrip"), std::string::npos) << called.out;
}

TEST_F(SelectedRun, AFilterIsAGlobOverPathFileAndName) {
  write_three();
  EXPECT_EQ(listed("--filter 'in/a*'"), "in/a.yaml: the a\n");
  EXPECT_EQ(listed("--filter 'b.yaml'"), "in/b.yaml: the b\n");
  EXPECT_EQ(listed("--filter 'the [bc]'"), "in/b.yaml: the b\nin/c.yaml: the c\n");
  EXPECT_EQ(files_run("--filter '*c*'"), "in/c.yaml ");
  Called const none = call("run in --filter d");
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "--filter: `d` matches none of 3 scenarios; --list shows their names\n");
}

TEST_F(SelectedRun, WhatIsExcludedIsLeftOut) {
  write_three();
  EXPECT_EQ(listed("--exclude 'in/a*'"), "in/b.yaml: the b\nin/c.yaml: the c\n");
  EXPECT_EQ(listed("--filter 'the [bc]' --exclude 'c.yaml'"), "in/b.yaml: the b\n");
  EXPECT_EQ(files_run("--exclude '*c*'"), "in/a.yaml in/b.yaml ");
  Called const none = call("run in --filter 'b.yaml' --exclude '*'");
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "--exclude: `*` leaves none of 1 scenario; --list shows their names\n");
}

TEST_F(SelectedRun, ShardsAreDisjointAndHoldEverything) {
  write_three();
  EXPECT_EQ(files_run("--shard 0/2"), "in/a.yaml in/c.yaml ");
  EXPECT_EQ(files_run("--shard 1/2"), "in/b.yaml ");
  EXPECT_EQ(files_run("--shard 3/4"), "");
  for (char const* const wrong : {"2/2", "0/0", "1", "a/2", "-1/2", "0/2/3"})
    EXPECT_EQ(call(std::string("run in --shard ") + wrong).status, 2) << wrong;
}

TEST_F(SelectedRun, AScenarioPastItsTimeIsAnError) {
  write_three();
  write("in/b.yaml", endless_scenario());
  EXPECT_EQ(call("run in --timeout 1 --json out.json").status, 1);
  auto const results = read_json("out.json").at("results");
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results.at(1).at("outcome"), "error");
  EXPECT_NE(results.at(1).at("reason").get<std::string>().find(
                "no answer within 1 s, the limit that --timeout sets"),
            std::string::npos);
  EXPECT_EQ(results.at(2).at("outcome"), "pass");
}

TEST_F(SelectedRun, FailFastEndsAtTheFirstFailure) {
  write_three();
  write_named("b", "seed: 7\nexpect: {violates: order.race}\n");
  EXPECT_EQ(files_run("--fail-fast"), "in/a.yaml in/b.yaml ");
  EXPECT_EQ(read_json("out.json").at("stopped"), true);
  Called const called = call("run in --fail-fast --jobs 1");
  EXPECT_EQ(called.status, 1);
  EXPECT_NE(called.out.find("stopped: 2 of 3 scenarios, 1 not as expected"), std::string::npos)
      << called.out;
  write_named("b", "seed: 7\n");
  EXPECT_EQ(files_run("--fail-fast"), "in/a.yaml in/b.yaml in/c.yaml ");
  EXPECT_FALSE(read_json("out.json").contains("stopped"));
}

TEST_F(SelectedRun, WhatFailedLastTimeComesFirst) {
  write_three();
  write_named("c", "seed: 7\nexpect: {violates: order.race}\n");
  EXPECT_EQ(files_run("--cache kept"), "in/a.yaml in/b.yaml in/c.yaml ");
  EXPECT_EQ(files_run("--cache kept --fail-fast"), "in/c.yaml ");
  EXPECT_EQ(files_run("--cache kept --filter 'the a'"), "in/a.yaml ");  // c stays remembered
  write_named("c", "seed: 7\n");
  EXPECT_EQ(files_run("--cache kept"), "in/c.yaml in/a.yaml in/b.yaml ");
  EXPECT_EQ(files_run("--cache kept"), "in/a.yaml in/b.yaml in/c.yaml ");
  write("kept/last-failures.json", "no JSON");
  EXPECT_EQ(files_run("--cache kept"), "in/a.yaml in/b.yaml in/c.yaml ");
  EXPECT_EQ(call("run in --cache /dev/null/kept").status, 2);
}

TEST_F(SelectedRun, GitHubIsToldAtTheFile) {
  write_three();
  write_named("b", "seed: 7\nexpect: {violates: order.race}\n");
  Called const told = shell("GITHUB_ACTIONS=true PROGRAM run in");
  EXPECT_NE(told.out.find("\n::error file=in/b.yaml,title=the b::FAIL  in/b.yaml: the b%0A"),
            std::string::npos)
      << told.out;
  EXPECT_EQ(shell("GITHUB_ACTIONS= PROGRAM run in").out.find("::error"), std::string::npos);
  write("fails.yaml", passing_scenario("seed: 7\nbug: canary\n"));
  for (std::string const call : {"fuzz --bug canary --cases 1 --seed 1 --out found",
                                 "minimize fails.yaml -o found/canary.yaml"}) {
    EXPECT_NE(
        shell("GITHUB_ACTIONS=true PROGRAM " + call).out.find("::error file=found/canary.yaml,"),
        std::string::npos)
        << call;
    EXPECT_EQ(shell("GITHUB_ACTIONS= PROGRAM " + call).out.find("::error"), std::string::npos);
  }
  static_cast<void>(call("fuzz --bug canary --cases 1 --seed 1 --campaign c"));
  for (std::string const call :
       {"merge c", "fuzz --bug canary --cases 1 --seed 1", "minimize fails.yaml -o - --json m.json",
        "hunt --seed 1 --searches 1 --cases 1 ds_7898"}) {
    std::string const out = shell("GITHUB_ACTIONS=true PROGRAM " + call + " 2>&1").out;
    EXPECT_NE(("\n" + out).find("\n::error "), std::string::npos) << call << out;
  }
  write_named("a", "seed: 7\nspeed: 9\n");
  write_named("b", "seed: 7\nbug: mean_not_divided\n");
  Called const lines = shell("GITHUB_ACTIONS=true PROGRAM run in --junit out.xml");
  EXPECT_NE(lines.out.find("::error file=in/a.yaml,line=7,"), std::string::npos) << lines.out;
  EXPECT_NE(lines.out.find("::error file=in/b.yaml,line=5,"), std::string::npos) << lines.out;
  std::string const xml = read("out.xml");
  EXPECT_NE(xml.find("<error message=\"cannot be read: in/a.yaml:7: speed: "), std::string::npos);
  EXPECT_NE(xml.find("<failure message=\"values.bitwise: "), std::string::npos) << xml;
}

TEST_F(SelectedRun, WhatTheMachineLacksIsSkippedWithItsReason) {
  write_three();
  write_named("b", "seed: 7\nengine: {name: 'exec:exit 5'}\n");
  Called const called = call("run in --trust --json out.json --junit out.xml");
  EXPECT_EQ(called.status, 0) << called.out;
  EXPECT_NE(called.out.find("passed over 1 scenario: "), std::string::npos) << called.out;
  EXPECT_NE(called.out.find("2 scenarios, all as expected"), std::string::npos) << called.out;
  auto const skipped = read_json("out.json").at("skipped");
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped.at(0).at("file"), "in/b.yaml");
  std::string const xml = read("out.xml");
  EXPECT_NE(xml.find("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"1\""), std::string::npos);
  EXPECT_NE(xml.find("<skipped message=\""), std::string::npos) << xml;
}

TEST_F(SelectedRun, AnEngineThatIsNotHereSkipsAllAndIsThree) {
  write_three();
  for (char const* const what : {"in", "in/a.yaml"}) {
    write("out.xml", "of an earlier call");
    Called const called = call("run " + std::string(what) +
                               " --engine exec:/nonexistent --json out.json --junit out.xml");
    EXPECT_EQ(called.status, 3) << called.out;
    EXPECT_NE(called.err.find("/nonexistent"), std::string::npos) << called.err;
    EXPECT_EQ(called.out.find("as expected"), std::string::npos) << called.out;
    auto const document = read_json("out.json");
    EXPECT_EQ(document.at("results").size(), 0U);
    std::size_t const scenarios = std::string(what) == "in" ? 3 : 1;
    ASSERT_EQ(document.at("skipped").size(), scenarios);
    EXPECT_EQ(document.at("skipped").at(0).at("file"), "in/a.yaml");
    EXPECT_NE(read("out.xml").find("skipped=\"" + std::to_string(scenarios) + "\""),
              std::string::npos);
  }
  write_named("a", "seed: 7\nengine: {name: 'exec:exit 5'}\n");
  EXPECT_EQ(call("run in/a.yaml --trust --json out.json").status, 3) << "it was named";
  EXPECT_EQ(read_json("out.json").at("skipped").size(), 1U);
}

}  // namespace
}  // namespace adamant::scenarios
