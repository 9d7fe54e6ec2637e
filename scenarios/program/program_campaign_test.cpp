// `adamant fuzz --campaign` and `adamant merge` as their users call them: shards that are killed,
// that run out of disk, that run at once, and what all of them say together.
#include <fstream>

#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

std::string const planted = "--seed 5 --cases 400 --bug areal_1468";

class Campaign : public ProgramTest {
 protected:
  /// One of two shards of a search with a planted bug, in a folder of its own. `before` stands in
  /// front of the program.
  Called search(std::string const& folder, int shard, std::string const& before = "",
                std::string const& options = planted) const {
    return shell("mkdir -p " + folder + "; cd " + folder + "; " + before +
                 " PROGRAM fuzz --campaign kept --jobs 2 --shard " + std::to_string(shard) + "/2 " +
                 options);
  }
  /// All that a merge says and writes.
  std::string merged(std::string const& folder) const {
    Called const called = shell("cd " + folder + " && rm -rf found && " +
                                "PROGRAM merge kept --out found --json ledger.json");
    EXPECT_EQ(called.status, 1) << called.err;
    EXPECT_EQ(called.err, "");
    return called.out + read(folder + "/ledger.json") +
           shell("cd " + folder + " && tail -n +1 found/*").out;
  }
  /// The same of a search that nobody disturbs.
  std::string undisturbed() const {
    for (int const shard : {0, 1}) EXPECT_EQ(search("whole", shard).status, 1);
    return merged("whole");
  }
  int cases_of(std::string const& folder) const {
    return read_json(folder + "/ledger.json").at("cases");
  }
};

TEST_F(Campaign, FindsAPlantedBugAndMergesItToOneFile) {
  Called const called = search(".", 0, "", planted + " --json out.json");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_EQ(called.out.rfind("seed 5\nFAIL  kept/0-of-2/areal_1468.yaml: ", 0), 0U) << called.out;
  EXPECT_EQ(read_json("out.json").at("cases"), 200);
  EXPECT_EQ(search(".", 1).status, 1);
  merged(".");
  auto const ledger = read_json("ledger.json");
  EXPECT_EQ(ledger.at("cases"), 400);
  EXPECT_EQ(ledger.at("shards"), (std::vector<int>{200, 200}));
  ASSERT_EQ(ledger.at("results").size(), 1U) << ledger.at("results");
  EXPECT_EQ(ledger.at("results").at(0).at("file"), "found/areal_1468.yaml");
  EXPECT_EQ(call("run found kept").status, 0) << "each file repeats what it says";
}

TEST_F(Campaign, SaysTheSameHoweverOftenItWasKilled) {
  std::string const expected = undisturbed();
  int killed = 0;
  int kept_going = 0;
  for (int const shard : {0, 1}) {
    // Each life is a little longer than the one before, so that one of them reaches the end.
    for (int tenths = 1; tenths < 600; tenths += 1 + tenths / 4) {
      std::string const life = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
      Called called = search("killed", shard, "timeout -s KILL " + life);
      while (called.err.find("is at work") != std::string::npos)  // the one before is still dying
        called = search("killed", shard, "timeout -s KILL " + life);
      if (called.out.find("goes on after") != std::string::npos) ++kept_going;
      if (called.status == 1) break;
      EXPECT_EQ(called.status, 137) << called.err;
      ++killed;
    }
  }
  EXPECT_GE(killed, 4);
  EXPECT_GE(kept_going, 1);
  EXPECT_EQ(merged("killed"), expected);
  EXPECT_EQ(shell("find killed -name '*.tmp'").out, "");
}

TEST_F(Campaign, SaysTheSameWhenItsShardsRunAtOnce) {
  std::string const expected = undisturbed();
  shell("mkdir at_once; cd at_once; for i in 0 1; do PROGRAM fuzz --campaign kept --jobs 1 " +
        planted + " --shard $i/2 & done; wait");
  EXPECT_EQ(merged("at_once"), expected);
}

TEST_F(Campaign, AFullDiskLosesNothing) {
  std::string const expected = undisturbed();
  // What is found fits, and not all lines of the journal do.
  Called const full = search("full", 0, "prlimit --fsize=7000", planted + " --quiet");
  EXPECT_EQ(full.status, 2) << full.out;
  EXPECT_EQ(full.err,
            "kept/0-of-2/journal.jsonl: cannot be written: File too large; what is whole in it "
            "stays, and the same command goes on from there\n");
  for (int const shard : {0, 1}) EXPECT_EQ(search("full", shard).status, 1);
  EXPECT_EQ(merged("full"), expected);
}

TEST_F(Campaign, AFullFileSystemLosesNothing) {
  if (shell("mkdir disk && mount -t tmpfs -o size=12k none disk").status != 0)
    GTEST_SKIP() << "no file system of its own can be mounted here";
  std::string const expected = undisturbed();
  Called const full = search("disk", 0);
  EXPECT_EQ(full.status, 2) << full.out;
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
  EXPECT_EQ(shell("mount -o remount,size=8m disk").status, 0);
  for (int const shard : {0, 1}) EXPECT_EQ(search("disk", shard).status, 1);
  EXPECT_EQ(merged("disk"), expected);
  shell("umount disk");
}

TEST_F(Campaign, GoesOnToMoreCases) {
  EXPECT_EQ(search("whole", 0, "", "--seed 3 --cases 300").status, 0);
  EXPECT_EQ(search("grown", 0, "", "--seed 3 --cases 100").status, 0);
  Called const more = search("grown", 0, "", "--cases 300");
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_NE(more.out.find("seed 3\nkept/0-of-2 goes on after 50 cases\n"), std::string::npos)
      << more.out;
  EXPECT_NE(more.out.find("150 cases, 100 of them now in "), std::string::npos) << more.out;
  for (char const* const folder : {"whole", "grown"})
    EXPECT_EQ(shell(std::string("cd ") + folder + "; PROGRAM merge kept --json ledger.json").status,
              0);
  EXPECT_EQ(read("grown/ledger.json"), read("whole/ledger.json"));
  EXPECT_NE(search("grown", 0, "", "--cases 300").out.find("150 cases, 0 of them now"),
            std::string::npos);
}

TEST_F(Campaign, RunsForATimeAgainAndAgain) {
  std::string const search = "fuzz --campaign kept --for 500ms --json out.json --seed 1";
  EXPECT_EQ(call(search).status, 0);
  int const first = read_json("out.json").at("cases");
  EXPECT_GT(first, 0);
  EXPECT_EQ(call(search).status, 0);
  EXPECT_GT(read_json("out.json").at("cases"), first);
}

TEST_F(Campaign, AnInterruptKeepsWhatWasSearched) {
  Called const called =
      shell("PROGRAM fuzz --campaign kept --for 1h --json out.json & pid=$!; " +
            until_exists("kept/0-of-1/journal.jsonl") + "sleep 2; kill -INT $pid; wait $pid");
  EXPECT_EQ(called.status, 130) << called.err;
  int const cases = read_json("out.json").at("cases");
  EXPECT_GT(cases, 0);
  EXPECT_EQ(call("merge kept --json ledger.json").status, 0);
  EXPECT_EQ(cases_of("."), cases);
}

TEST_F(Campaign, AShardIsSearchedByOneProcess) {
  Called const second = shell(
      "PROGRAM fuzz --campaign kept --for 1h & pid=$!; "
      // made before it is locked, and written afterwards
      "for i in $(seq 3000); do [ -s kept/0-of-1/journal.jsonl ] && "
      "break; sleep 0.01; done; "
      "PROGRAM fuzz --campaign kept --for 1s; status=$?; "
      "kill -KILL $pid; wait $pid; exit $status");
  EXPECT_EQ(second.status, 2);
  EXPECT_NE(second.err.find("kept/0-of-1: another search is at work on this shard, process "),
            std::string::npos)
      << second.err;
}

TEST_F(Campaign, OtherSettingsAreRefused) {
  EXPECT_EQ(call("fuzz --campaign kept --seed 1 --cases 5").status, 0);
  Called const other = call("fuzz --campaign kept --seed 2 --cases 5");
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.err,
            "kept/campaign.json: seed is 1, not 2; ask for the same, or use another directory\n");
  for (char const* const option : {"--shard 0/2", "--bug canary", "--engine sim-unchecked"})
    EXPECT_EQ(call(std::string("fuzz --campaign kept --cases 5 ") + option).status, 2) << option;
  EXPECT_EQ(call("fuzz --campaign kept --skip 3").status, 2);
  EXPECT_EQ(call("fuzz --campaign /dev/null/kept").status, 2);
  EXPECT_EQ(call("fuzz --campaign kept --cases 5").status, 0);
}

TEST_F(Campaign, ABrokenJournalIsSaidByItsLine) {
  EXPECT_EQ(call("fuzz --campaign kept --seed 1 --cases 5").status, 0);
  EXPECT_EQ(shell("echo nonsense >> kept/0-of-1/journal.jsonl").status, 0);
  for (char const* const command : {"fuzz --campaign kept", "merge kept"}) {
    Called const called = call(command);
    EXPECT_EQ(called.status, 2);
    EXPECT_NE(called.err.find("kept/0-of-1/journal.jsonl:2: is no line of a journal: "),
              std::string::npos)
        << called.err;
  }
  // The last whole line once more: its cases would count twice.
  shell("sed -i '2d; p' kept/0-of-1/journal.jsonl");
  EXPECT_NE(call("merge kept").err.find("it goes on from case 0, but 5 came before it"),
            std::string::npos);
}

TEST_F(Campaign, MachinesWithoutACommonFolderAreMergedInAnyOrder) {
  for (int const shard : {0, 1}) search(shard == 0 ? "a" : "b", shard);
  std::string const merge = "PROGRAM merge --out found --json out.json ";
  EXPECT_EQ(shell(merge + "a/kept b/kept").status, 1);
  std::string const one = read("out.json");
  EXPECT_EQ(shell(merge + "b/kept a/kept").status, 1);
  EXPECT_EQ(read("out.json"), one);
  EXPECT_EQ(read_json("out.json").at("cases"), 400);
  Called const twice = call("merge a/kept b/kept a/kept");
  EXPECT_EQ(twice.status, 2);
  EXPECT_EQ(twice.err, "a/kept: shard 0-of-2 is in a/kept as well; leave one of them out\n");
  search("c", 0, "", "--seed 6 --cases 10 --bug te_2795");
  EXPECT_EQ(call("merge a/kept c/kept").err,
            "c/kept: seed is 6, not 5 as in a/kept; only shards of one campaign are merged\n");
  EXPECT_EQ(call("merge a").err, "a: is no campaign: there is no campaign.json in it\n");
}

TEST_F(Campaign, ItsDocumentShowsWhatIsPrinted) {
  std::ifstream document(ADAMANT_SOURCE_DIR "/scenarios/CAMPAIGN.md");
  std::string printed;
  std::string shown;
  int commands = 0;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("$ adamant ")) {
      inside = true;
      ++commands;
      printed += line + "\n" + shell("PROGRAM " + line.substr(10)).out;
    }
    if (line == "```") inside = false;
    if (inside) shown += line + "\n";
  }
  EXPECT_GE(commands, 3);
  EXPECT_EQ(printed, shown);
}

}  // namespace
}  // namespace adamant::scenarios
