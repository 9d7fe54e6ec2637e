// A search that ends in any way leaves nothing: the campaign of run/peer/testing, a few rounds
// long, and planted leaks that it has to see.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "scenarios/cli/testing/program.h"
#include "scenarios/report/style.h"

namespace adamant::scenarios {
namespace {

class LeakCampaign : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    char const* const chosen = std::getenv("ADAMANT_PYTHON");
    python_ = chosen == nullptr ? "python3" : chosen;
    if (std::system((python_ + " -c 'import numpy' 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << python_ << " has no NumPy (ADAMANT_PYTHON names another)";
  }

  /// Searches with the engine in NumPy, before which the shell runs `planted`.
  Called campaign(std::string const& arguments, std::string const& planted = "") const {
    std::string const engine =
        "exec:" + planted + "exec " + python_ + " " ADAMANT_SOURCE_DIR "/real/peers/numpy";
    return shell(python_ +
                 " " ADAMANT_SOURCE_DIR
                 "/scenarios/run/peer/testing/leak_campaign.py PROGRAM "
                 "--engine " +
                 shell_quoted(engine) + " " + arguments);
  }

  /// One round that ends by itself; what is left is not waited for.
  Called round_with(std::string const& planted) const {
    return campaign("--scenarios 1 --round 20 --patience 0.5 --ending 'its own end'", planted);
  }

  std::string python_;
};

TEST_F(LeakCampaign, FindsNothingHoweverASearchEnds) {
  Called const called = campaign("--scenarios 40 --round 20");
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  for (char const* const ending : {"process group", "SIGTERM", "to a worker", "to the program"})
    EXPECT_NE(called.err.find(ending), std::string::npos) << called.err;
}

TEST_F(LeakCampaign, SeesAProcessThatLeftItsFamily) {
  Called const called = round_with("setsid sleep 60 </dev/null >/dev/null & ");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("(sleep), whose parent is"), std::string::npos) << called.out;
}

TEST_F(LeakCampaign, SeesAFileInTheTemporaryFolder) {
  Called const called = round_with("touch \"$TMPDIR/forgotten\"; ");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("/tmp/forgotten"), std::string::npos) << called.out;
}

TEST_F(LeakCampaign, SeesAFolderInMemoryThatNamesItsProcess) {
  Called const called = round_with("mkdir /dev/shm/adamant-$$; ");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("/dev/shm/adamant-"), std::string::npos) << called.out;
}

TEST_F(LeakCampaign, SeesASocketThatIsHeldOpen) {
  write("listener.py",
        "import socket, time\n"
        "held = socket.create_server(('127.0.0.1', 0))\n"
        "time.sleep(60)\n");
  Called const called = round_with("setsid " + python_ + " " + (folder_ / "listener.py").string() +
                                   " </dev/null >/dev/null & sleep 0.6; ");
  EXPECT_EQ(called.status, 1) << called.err;
  EXPECT_NE(called.out.find("socket with inode"), std::string::npos) << called.out;
}

}  // namespace
}  // namespace adamant::scenarios
