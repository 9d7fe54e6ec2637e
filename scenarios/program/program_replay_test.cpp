// A file that adamant wrote, run again as a colleague does who got it.
#include <regex>

#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

class ReplayProgram : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("large.yaml", R"(adamant: 1
name: Two steps
seed: 5
world: {shard: 2}
params:
  - {name: embed, shape: [7, 3]}
program:
  - train: 2
bug: mean_not_divided
)");
    ASSERT_EQ(call("minimize large.yaml -o small.yaml").status, 0);
  }

  /// The line of the output that has "note: ", or nothing.
  static std::string note_in(std::string const& out) {
    auto const at = out.find("note: ");
    return at == std::string::npos ? "" : out.substr(at, out.find('\n', at) - at);
  }
  /// The written file with one thing changed in it.
  std::string edited(std::string const& before, std::string const& after) const {
    std::string const text = std::regex_replace(read("small.yaml"), std::regex(before), after,
                                                std::regex_constants::format_first_only);
    EXPECT_NE(text, read("small.yaml")) << before;
    return text;
  }
  std::string note_of(std::string const& arguments) const { return note_in(call(arguments).out); }
};

TEST_F(ReplayProgram, AWrittenFileSaysWhereItComesFrom) {
  EXPECT_TRUE(std::regex_search(
      read("small.yaml"),
      std::regex(
          "(^|\n)# written by adamant 0\\.1\\.0, commit [0-9a-z-]+, engine sim, schedule fifo\n"
          "# digest [0-9a-f]{16}\n# checksum [0-9a-f]{16}\n"
          "# replay: adamant run small\\.yaml\nadamant: 1\n")))
      << read("small.yaml");
}

TEST_F(ReplayProgram, ItsExpectedViolationIsShown) {
  Called const called = call("run small.yaml");
  EXPECT_EQ(called.status, 0);
  EXPECT_EQ(
      called.out.rfind(
          "ok    small.yaml: mean_not_divided breaks values.bitwise with gradient at backward\n"
          "    violates values.bitwise, as expected\n"
          "  values.bitwise: operation 0, rank 0, p0/gradient[0]\n",
          0),
      0U)
      << called.out;
  EXPECT_EQ(called.out.find("replay:"), std::string::npos) << "nothing is wrong";
  EXPECT_EQ(note_in(called.out), "") << "it came to the same";
  write("fine.yaml", passing_scenario());
  EXPECT_EQ(call("run small.yaml fine.yaml").out.find("as expected\n  values"), std::string::npos)
      << "of several only what is wrong is told";
}

TEST_F(ReplayProgram, AnotherDigestIsSaidWithItsLikelyCause) {
  EXPECT_NE(note_of("run small.yaml --seed 77").find("likely cause: --seed 77"), std::string::npos);
  write("other.yaml", edited("microbatches: 2", "microbatches: 4"));
  Called const other = call("run other.yaml");
  EXPECT_EQ(other.status, 0) << "a note is no failure";
  EXPECT_NE(other.out.find("likely cause: the file was edited\n"), std::string::npos) << other.out;
  write("digest.yaml", edited("digest [0-9a-f]{16}", "digest 0123456789abcdef"));
  std::string const digest = note_of("run digest.yaml");
  EXPECT_NE(digest.find(", and 0123456789abcdef when the file was written; likely cause: "),
            std::string::npos)
      << digest;
  write("older.yaml", edited("digest [0-9a-f]{16}", "digest 0123456789abcdef"));
  write("small.yaml", read("older.yaml"));
  write("older.yaml", edited("0\\.1\\.0, commit [0-9a-z-]+", "0.0.9, commit 0123456"));
  std::string const older = note_of("run older.yaml");
  EXPECT_NE(older.find("likely cause: this is adamant 0.1.0, and then 0.0.9; this is commit "),
            std::string::npos)
      << older;
  EXPECT_NE(older.find(", and then 0123456"), std::string::npos) << older;
}

TEST_F(ReplayProgram, TheCommentsComeThroughStandardInput) {
  write("other.yaml", edited("microbatches: 2", "microbatches: 4"));
  Called const called = shell("PROGRAM run - --json out.json < other.yaml");
  EXPECT_NE(called.out.find("likely cause: the file was edited\n"), std::string::npos)
      << called.out;
  auto const notes = read_json("out.json").at("results").at(0).at("notes");
  EXPECT_NE(notes.dump().find("the file was edited"), std::string::npos) << notes;
  EXPECT_EQ(note_in(shell("PROGRAM run - < small.yaml").out), "");
}

}  // namespace
}  // namespace adamant::scenarios
