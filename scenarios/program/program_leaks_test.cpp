// A search that ends in any way leaves nothing: the campaign of run/peer/testing, a few rounds
// long, and planted leaks that it has to see.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "scenarios/language/plain_text.h"
#include "scenarios/program/testing/called_program.h"
#include "scenarios/runner/testing/python.h"

namespace adamant::scenarios {
namespace {

class LeakCampaign : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (!has_numpy())
      GTEST_SKIP() << python_program() << " has no NumPy (ADAMANT_PYTHON names another)";
  }

  /// Searches with the engine in NumPy, before which the shell runs `planted`.
  Called campaign(std::string const& arguments, std::string const& planted = "") const {
    std::string const engine = "exec:" + planted + "exec " + python_program() +
                               " " ADAMANT_SOURCE_DIR "/scenarios/peers/numpy";
    return shell(python_program() +
                 " " ADAMANT_SOURCE_DIR
                 "/scenarios/peers/client/testing/leak_campaign.py PROGRAM "
                 "--engine " +
                 shell_quoted(engine) + " " + arguments);
  }

  /// Words for the shell: `command` runs on when its parent has ended, where nobody keeps it.
  static std::string set_free(std::string const& command) {
    return "setsid " + command + " </dev/null >/dev/null & ";
  }
  /// Before the engine: who would end all that it started is killed as soon as its input ends.
  static constexpr char const* kill_keeper = "{ cat; kill -9 $PPID; } | ";

  /// One round that ends by itself; what is left is waited for so many seconds.
  Called round_with(std::string const& planted, std::string const& patience = "0.5") const {
    return campaign("--scenarios 1 --round 20 --ending 'its own end' --patience " + patience,
                    planted);
  }
};

TEST_F(LeakCampaign, FindsNothingHoweverASearchEnds) {
  Called const called = campaign("--scenarios 40 --round 20");
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  for (char const* const ending : {"process group", "SIGTERM", "to a worker", "to the program"})
    EXPECT_NE(called.err.find(ending), std::string::npos) << called.err;
}

TEST_F(LeakCampaign, FindsNothingOfAProcessThatLeftItsSession) {
  Called const called = round_with(set_free("sleep 60"), "20");
  EXPECT_EQ(called.status, 0) << called.out << called.err;
}

TEST_F(LeakCampaign, SeesAProcessThatLeftItsFamily) {
  Called const called = round_with(set_free("sleep 60") + kill_keeper);
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("(sleep), whose parent is"), std::string::npos) << called.out;
}

TEST_F(LeakCampaign, SeesAFileInTheTemporaryFolder) {
  Called const called = round_with("touch \"$TMPDIR/forgotten\"; ");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("/tmp/forgotten"), std::string::npos) << called.out;
}

TEST_F(LeakCampaign, SeesAFolderInMemoryThatNamesItsProcess) {
  Called const called = round_with("mkdir /dev/shm/adamant-$$; sleep 1; ");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("/dev/shm/adamant-"), std::string::npos) << called.out;
}

TEST_F(LeakCampaign, LetsTheFilesOfOthersAlone) {
  auto const names = folder_ / "names";
  Called const called = round_with(
      "for name in adamant-test-$$ $$.yaml; do mkdir /tmp/$name; "
      "echo /tmp/$name >> " +
          names.string() + "; done; ",
      "15");
  std::ifstream file(names);
  int made = 0;
  for (std::string name; std::getline(file, name); ++made) std::filesystem::remove(name);
  EXPECT_GT(made, 0);
  EXPECT_EQ(called.status, 0) << called.out << called.err;
}

TEST_F(LeakCampaign, SeesASocketThatIsHeldOpen) {
  std::string const listener = write("listener.py",
                                     "import pathlib, socket, sys, time\n"
                                     "held = socket.create_server(('127.0.0.1', 0))\n"
                                     "pathlib.Path(sys.argv[1]).touch()\n"
                                     "time.sleep(60)\n")
                                   .string();
  std::string const ready = (folder_ / "ready").string();
  Called const called = round_with(set_free(python_program() + " " + listener + " " + ready) +
                                   until_exists(ready) + kill_keeper);
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("socket with inode"), std::string::npos) << called.out;
}

TEST_F(LeakCampaign, SeesAnEngineThatOpensEverMoreFiles) {
  write("sitecustomize.py",  // which Python imports when it starts
        "import os, threading, time\n"
        "def leak():\n"
        "    while True:\n"
        "        os.open('/dev/null', os.O_RDONLY)\n"
        "        time.sleep(0.1)\n"
        "threading.Thread(target=leak, daemon=True).start()\n");
  Called const called = campaign("--scenarios 1 --round 4000 --ending 'its own end' --jobs 1",
                                 "export PYTHONPATH=" + folder_.string() + "; ");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("descriptors early in the round"), std::string::npos) << called.out;
}

}  // namespace
}  // namespace adamant::scenarios
