// Files that come from somebody else: which commands that they name run, and what is made of
// journals that this program did not write.
#include <sys/stat.h>

#include <regex>

#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

class Trust : public ProgramTest {
 protected:
  static constexpr char const* engine = "exec:touch ran; exit 3";

  void SetUp() override {
    ProgramTest::SetUp();
    write("file.yaml", passing_scenario("engine: {name: \"exec:touch ran; exit 3\"}\n"));
  }
  /// Did the command run? Then it is forgotten.
  bool ran() const { return std::filesystem::remove(folder_ / "ran"); }
};

TEST_F(Trust, ACommandOfAFileDoesNotRunByItself) {
  for (char const* const call :
       {"run file.yaml", "run .", "run file.yaml --dry-run", "run file.yaml --dry-run --trust",
        "minimize file.yaml", "explain file.yaml --element 'w[0]'", "run - < file.yaml"}) {
    Called const called = this->call(call);
    EXPECT_EQ(called.status, 2) << call;
    EXPECT_NE(called.err.find(":6: engine.name: the file names the command `touch ran; exit 3`"),
              std::string::npos)
        << call << called.err;
    EXPECT_FALSE(ran()) << call;
  }
  EXPECT_EQ(call("run file.yaml --list").status, 0);
  EXPECT_FALSE(ran());
}

TEST_F(Trust, ACommandRunsWhereTheCallNamesItOrTrustsFiles) {
  std::string const named = " --engine '" + std::string(engine) + "'";
  for (std::string const& options : {named, std::string(" --trust")})
    for (char const* const call : {"run file.yaml", "minimize file.yaml"}) {
      Called const called = this->call(call + options);
      EXPECT_EQ(called.status, 3) << called.err;
      EXPECT_TRUE(ran()) << call << options;
    }
  EXPECT_EQ(call("run file.yaml --dry-run" + named).status, 2);
  EXPECT_FALSE(ran());
}

TEST_F(Trust, AnotherEngineTakesThePlaceOfTheCommand) {
  EXPECT_EQ(call("run file.yaml --engine sim --seed 1").status, 0);
  EXPECT_EQ(call("run file.yaml --engine sim --seed 1 --dry-run").status, 0);
  EXPECT_FALSE(ran());
}

TEST_F(Trust, OthersRunAndTheRefusedFileIsAnErrorAmongTheResults) {
  write("other.yaml", passing_scenario("seed: 1\n"));
  EXPECT_EQ(call("run file.yaml other.yaml --json out.json").status, 2);
  auto const results = read_json("out.json").at("results");
  EXPECT_EQ(results.at(0).at("outcome"), "error");
  EXPECT_EQ(results.at(1).at("outcome"), "pass");
  EXPECT_FALSE(ran());
}

TEST_F(Trust, LastWordsOfAnEngineSteerNoTerminal) {
  write("other.yaml", passing_scenario("seed: 1\n"));
  std::string const engine =
      " --engine 'exec:printf \"a\\033[2Jb\\302\\233c\\342\\200\\256d\" >&2; exit 3'";
  for (char const* const call : {"run other.yaml", "run .", "fuzz --cases 1", "doctor"}) {
    Called const called = this->call(call + engine);
    std::string const said = called.out + called.err;
    EXPECT_NE(said.find("it wrote: a?[2Jb?c?d"), std::string::npos) << call << said;
    for (char const* const steers : {"\x1b", "\u009b", "\u202e"})
      EXPECT_EQ(said.find(steers), std::string::npos) << call;
  }
}

class ForeignCampaign : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(call("fuzz --campaign kept --seed 5 --cases 200 --bug areal_1468").status, 1);
    journal_ = read(file);
  }
  /// With every match replaced in the journal.
  void replace(std::string const& pattern, std::string const& by) const {
    std::string const text = std::regex_replace(journal_, std::regex(pattern), by);
    ASSERT_NE(text, journal_) << pattern;
    write(file, text);
  }
  static constexpr char const* file = "kept/0-of-1/journal.jsonl";
  std::string journal_;
};

TEST_F(ForeignCampaign, WordsOfANewerAdamantAreNoLineOfAJournal) {
  for (char const* const key : {"law", "outcome", "breach"}) {
    replace(std::string("\"") + key + "\":\"[^\"]*\"", std::string("\"") + key + "\":\"newer\"");
    for (char const* const call :
         {"merge kept", "fuzz --campaign kept --seed 5 --cases 200 --bug areal_1468"}) {
      Called const called = this->call(call);
      EXPECT_EQ(called.status, 2) << key << called.out << called.err;
      EXPECT_NE(called.err.find(std::string(file) + ":1: is no line of a journal: this adamant "
                                                    "knows no "),
                std::string::npos)
          << called.err;
    }
  }
}

TEST_F(ForeignCampaign, WhatIsNoJournalStaysAsItIs) {
  write(file, "mine\nand more");
  EXPECT_EQ(call("fuzz --campaign kept --seed 5 --cases 200 --bug areal_1468").status, 2);
  EXPECT_EQ(read(file), "mine\nand more");
}

TEST_F(ForeignCampaign, SettingsBeyondAnyCampaignAreRefused) {
  std::string const settings = read("kept/campaign.json");
  for (char const* const shards : {"9223372036854775808", "1e300", "4.9", "1000001", "\"1\""}) {
    write("kept/campaign.json", std::regex_replace(settings, std::regex("\"shards\": 1"),
                                                   std::string("\"shards\": ") + shards));
    EXPECT_EQ(call("merge kept").status, 2) << shards;
  }
  write("kept/campaign.json", std::string(20'000, '[') + std::string(20'000, ']'));
  EXPECT_EQ(call("merge kept").status, 2);
  std::filesystem::remove(folder_ / "kept/campaign.json");
  ASSERT_EQ(::mkfifo((folder_ / "kept/campaign.json").c_str(), 0600), 0);
  EXPECT_EQ(call("merge kept").status, 2);
}

TEST_F(ForeignCampaign, RunsNoCommandThatItsJournalNames) {
  std::string const command = "engine: {name: \\\"exec:touch ran\\\"}";
  replace(R"(\\nseed: )", "\\n" + command + "\\nseed: ");
  Called const merged = call("merge kept --html page.html --out found");
  EXPECT_EQ(merged.status, 1) << merged.err;
  EXPECT_NE(read("found/areal_1468.yaml").find("exec:touch ran"), std::string::npos);
  Called const called = call(
      "fuzz --campaign kept --seed 5 --cases 200 --bug areal_1468 --html page.html --out found");
  EXPECT_EQ(called.status, 2) << called.out;
  EXPECT_NE(called.err.find("has a finding of engine exec:touch ran"), std::string::npos)
      << called.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

}  // namespace
}  // namespace adamant::scenarios
