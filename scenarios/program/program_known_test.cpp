// A search of an engine with defects that are known: `--known`, or what the engine itself names.
// The engine is right but for two defects, each with an option that goes around it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "scenarios/language/plain_text.h"
#include "scenarios/program/testing/called_program.h"
#include "scenarios/runner/testing/python.h"

namespace adamant::scenarios {
namespace {

constexpr char const* counts_ahead =
    "adamant: 1\nname: counts ahead\nseed: 0\nworld: {shard: 1}\n"
    "params: [{name: p0, shape: [1]}]\nprogram: [step, step]\n"
    "expect: {violates: values.bitwise}\n";
constexpr char const* doubles_rate =
    "adamant: 1\nname: doubles a rate\nseed: 0\nworld: {shard: 1}\n"
    "params: [{name: p0, shape: [1]}]\nprogram: [set: {lr: 0.01}]\n"
    "expect: {violates: values.bitwise}\n";
constexpr char const* counting =
    "  - name: counting_ahead\n    cause: A counter is ahead.\n    versions: all\n"
    "    thread: none\n    avoid: {counting: right}\n    shown_by: [counts_ahead.yaml]\n";
constexpr char const* rates =
    "  - name: doubled_rate\n    cause: A rate is told twice.\n    versions: all\n"
    "    thread: https://example.invalid/7\n    avoid: {rates: right}\n    met: seldom\n"
    "    shown_by: [doubles_rate.yaml]\n";

class KnownProgram : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (!has_numpy())
      GTEST_SKIP() << python_program() << " has no NumPy (ADAMANT_PYTHON names another)";
    write("counts_ahead.yaml", counts_ahead);
    write("doubles_rate.yaml", doubles_rate);
    write("both.yaml", std::string("known:\n") + counting + rates);
    write("one.yaml", std::string("known:\n") + counting);
  }

  /// `known`: the file that the engine itself names.
  static std::string engine(std::string const& known = "") {
    return " --engine " + shell_quoted("exec:exec " + python_program() +
                                       " " ADAMANT_SOURCE_DIR
                                       "/scenarios/program/testing/defective_engine.py " +
                                       known);
  }
};

TEST_F(KnownProgram, WhatIsKnownIsCountedAndDoesNotFail) {
  Called const called =
      call("fuzz --cases 400 --seed 3 --known both.yaml --out found --json out.json" + engine());
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  EXPECT_NE(called.out.find("of 400 cases met known defects of this engine, in "),
            std::string::npos)
      << called.out;
  EXPECT_NE(called.out.find("doubled_rate: A rate is told twice. https://example.invalid/7\n"),
            std::string::npos)
      << called.out;
  EXPECT_NE(called.out.find(": nothing found\n"), std::string::npos) << called.out;
  EXPECT_EQ(called.err, "running 2 scenarios of what is known first\n");
  EXPECT_FALSE(exists("found"));
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("results").size(), 0U);
  auto const& known = document.at("known");
  EXPECT_GT(known.at("cases"), 0);
  EXPECT_LT(known.at("cases"), 200) << "most cases go around what is known";
  EXPECT_GT(known.at("share_of_time"), 0.0);
  EXPECT_GT(known.at("defects").at("counting_ahead"), 0);
  EXPECT_GT(known.at("defects").at("doubled_rate"), 0);
  EXPECT_EQ(known.at("not_shown").size(), 0U);
}

TEST_F(KnownProgram, OneThatIsNamedCountsAsNew) {
  std::string const fuzz = "fuzz --cases 400 --seed 3 --first --known both.yaml --json out.json";
  Called const called = call(fuzz + " --unknown doubled_rate" + engine());
  EXPECT_EQ(called.status, 1) << called.out << called.err;
  EXPECT_EQ(read_json("out.json").at("known").at("defects").count("doubled_rate"), 0U);
  Called const misspelt = call(fuzz + " --unknown doubled_rates" + engine());
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_EQ(misspelt.err,
            "--unknown: no defect `doubled_rates` is known (did you mean `doubled_rate`?); known: "
            "counting_ahead or doubled_rate\n");
}

// Without either option a scenario ends as it says, whatever is known.
TEST_F(KnownProgram, ARunThatMeetsAKnownOneDoesNotFailWhereThatIsAskedFor) {
  write("steps.yaml",
        "adamant: 1\nname: steps\nseed: 0\nworld: {shard: 1}\n"
        "params: [{name: p0, shape: [1]}]\nprogram: [step, step]\n");
  std::string const own = engine((folder_ / "both.yaml").string());
  EXPECT_EQ(call("run steps.yaml" + own).status, 1);
  Called const known =
      call("run steps.yaml --known one.yaml --json out.json --html page.html" + engine());
  EXPECT_NE(read("page.html").find(": numpy "), std::string::npos) << "the engine's releases";
  EXPECT_EQ(known.status, 0) << known.out << known.err;
  EXPECT_NE(known.out.find("note: meets a known defect, counting_ahead: A counter is ahead.\n"),
            std::string::npos)
      << known.out;
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("outcome"), "violated");
  EXPECT_EQ(call("run steps.yaml --unknown doubled_rate" + own).status, 0) << "the other is known";
  Called const as_new = call("run steps.yaml --unknown counting_ahead" + own);
  EXPECT_EQ(as_new.status, 1) << as_new.out;
  EXPECT_NE(as_new.out.find(" --unknown counting_ahead\n"), std::string::npos) << as_new.out;
  EXPECT_EQ(call("run counts_ahead.yaml --known one.yaml" + engine()).status, 0)
      << "it expects what is known";
  std::string other = counts_ahead;
  write("other.yaml", other.replace(other.find("values.bitwise"), 14, "order.race"));
  EXPECT_EQ(call("run other.yaml --known one.yaml" + engine()).status, 1) << "and this does not";
  EXPECT_EQ(call("run steps.yaml --unknown other" + own).status, 2);
}

// What is new shows beside what is known.
TEST_F(KnownProgram, ARunOfWhichMoreIsLeftFails) {
  write("both_met.yaml",
        "adamant: 1\nname: both\nseed: 0\nworld: {shard: 1}\n"
        "params: [{name: p0, shape: [1]}]\nprogram: [step, step, set: {lr: 0.01}]\n");
  EXPECT_EQ(call("run both_met.yaml --known both.yaml" + engine()).status, 0);
  EXPECT_EQ(call("run both_met.yaml --known one.yaml" + engine()).status, 1);
}

TEST_F(KnownProgram, AnEngineNamesItsOwn) {
  Called const called =
      call("fuzz --cases 60 --seed 3 --html page.html" + engine((folder_ / "both.yaml").string()));
  EXPECT_NE(read("page.html").find(">numpy "), std::string::npos) << "the engine's releases";
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  EXPECT_NE(called.out.find(" met known defects "), std::string::npos) << called.out;
}

// What it is built on may have defects that it cannot meet: they are not missed.
TEST_F(KnownProgram, AnEngineInheritsWhatItMayMeet) {
  auto const of_base = [this](std::string const& name, std::string const& avoid,
                              std::string const& options, int ranks) {
    write(name + ".yaml",
          "adamant: 1\nname: n\nworld: {shard: " + std::to_string(ranks) + "}\n" +
              "params: [{name: p0, shape: [1]}]\nprogram: [step]\nengine: {name: base, options: {" +
              options + "}}\nexpect: {violates: values.bitwise}\n");
    return "  - {name: " + name + ", cause: C, versions: all, thread: none, avoid: {" + avoid +
           "}, shown_by: [" + name + ".yaml]}\n";
  };
  write("base.yaml", "known:\n" + of_base("not_offered", "rates: right", "mood: calm", 1) +
                         of_base("too_large", "rates: right", "", 64) +
                         of_base("mended", "rates: right", "", 1));
  std::string const files =
      (folder_ / "one.yaml").string() + " " + (folder_ / "base.yaml").string();
  Called const called = call("fuzz --cases 1 --seed 3 --json out.json" + engine(files));
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  EXPECT_EQ(read_json("out.json").at("known").at("not_shown"), nlohmann::json({"mended"}));
}

TEST_F(KnownProgram, WhatIsNotKnownIsFoundAndMinimised) {
  Called const called =
      call("fuzz --cases 400 --seed 3 --known one.yaml --out found --json out.json" + engine());
  EXPECT_EQ(called.status, 1) << called.out << called.err;
  auto const document = read_json("out.json");
  ASSERT_EQ(document.at("results").size(), 1U) << called.out;
  EXPECT_GT(document.at("known").at("cases"), 0);
  EXPECT_NE(called.err.find("found values.bitwise in case "), std::string::npos) << called.err;
  std::string const text = read("found/values.bitwise.yaml");
  EXPECT_NE(text.find("settings of group 0 differ"), std::string::npos) << text;
  EXPECT_FALSE(exists("found/values.bitwise-2.yaml"));
  EXPECT_FALSE(exists("found/unfinished"));
  Called const again = shell(document.at("results").at(0).at("replay").get<std::string>());
  EXPECT_EQ(again.status, 0) << again.out << again.err;
}

TEST_F(KnownProgram, TheFirstThatIsNewEndsASearch) {
  Called const called =
      call("fuzz --for 5m --seed 3 --first --known one.yaml --json out.json" + engine());
  EXPECT_EQ(called.status, 1) << called.out << called.err;
  EXPECT_EQ(read_json("out.json").at("results").size(), 1U);
}

TEST_F(KnownProgram, ACampaignCountsWhatIsKnown) {
  std::string const campaign = "fuzz --campaign kept --seed 3 --known both.yaml --json out.json ";
  EXPECT_EQ(call(campaign + "--cases 80" + engine()).status, 0);
  auto const before = read_json("out.json").at("known");
  EXPECT_GT(before.at("cases"), 0);
  EXPECT_EQ(call(campaign + "--cases 160" + engine()).status, 0);
  EXPECT_GT(read_json("out.json").at("known").at("cases"), before.at("cases"))
      << "those of the cases before are still there";
  Called const merged = call("merge kept --json merged.json --html page.html");
  EXPECT_NE(read("page.html").find(">numpy "), std::string::npos) << "the engine's releases";
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_NE(merged.out.find(" cases met known defects\n"), std::string::npos) << merged.out;
  EXPECT_EQ(read_json("merged.json").at("known").at("cases"),
            read_json("out.json").at("known").at("cases"));
  Called const other = call("fuzz --campaign kept --seed 3 --cases 200" + engine());
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("its cases are not those that this program draws"), std::string::npos)
      << other.err;
}

// Nothing that it finds would be the engine's.
TEST_F(KnownProgram, AnAdapterThatDoesNotFitEndsASearch) {
  Called const called = shell("OF_OTHER_RELEASE=1 PROGRAM fuzz --cases 400 --seed 3 --out found" +
                              engine((folder_ / "both.yaml").string()));
  EXPECT_EQ(called.status, 3) << called.out;
  EXPECT_NE(called.err.find("what fails is not the engine but its adapter: AttributeError: no x; "
                            "zero1 9 was not tried"),
            std::string::npos)
      << called.err;
  EXPECT_FALSE(exists("found"));
  Called const run = shell("OF_OTHER_RELEASE=1 PROGRAM run counts_ahead.yaml" + engine());
  EXPECT_EQ(run.status, 3) << run.out;
  EXPECT_NE(run.out.find("its adapter: AttributeError: no x"), std::string::npos) << run.out;
}

TEST_F(KnownProgram, AFileThatIsWrongIsSaidBeforeTheSearch) {
  Called const gone = call("fuzz --seed 3 --known gone.yaml" + engine());
  EXPECT_EQ(gone.status, 2);
  EXPECT_EQ(gone.err.rfind("gone.yaml:1: document: cannot be read", 0), 0U) << gone.err;
  write("misspelt.yaml",
        "known:\n  - {name: a, cause: c, versions: v, thread: none, "
        "avoid: {countings: right}, shown_by: [counts_ahead.yaml]}\n");
  Called const misspelt = call("fuzz --seed 3 --known misspelt.yaml" + engine());
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_EQ(misspelt.err,
            "misspelt.yaml: a: engine numpy-zero1 has no option `countings`; adamant doctor lists "
            "them\n");
}

TEST_F(KnownProgram, WhatAKillInterruptsIsInFiles) {
  Called const called =
      shell("PROGRAM fuzz --for 1h --seed 3 --out found" + engine() + " 2> said & pid=$!; " +
            "for i in $(seq 3000); do grep -q ' in case ' said && break; sleep 0.01; done; " +
            "kill -9 $pid; wait $pid; status=$?; cat said >&2; exit $status");
  EXPECT_EQ(called.status, 137) << called.out << called.err;
  EXPECT_NE(called.err.find("found values.bitwise in case "), std::string::npos) << called.err;
  EXPECT_NE(called.err.find(": found/unfinished/case-"), std::string::npos) << called.err;
  Called const run = call("run found/unfinished" + engine());
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

}  // namespace
}  // namespace adamant::scenarios
