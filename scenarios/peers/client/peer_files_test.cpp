#include "scenarios/peers/client/peer_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "scenarios/runner/testing/scratch.h"

namespace adamant::scenarios {
namespace {

namespace fs = std::filesystem;

// A link to its own folder would be copied until no path is long enough.
TEST(PeerFiles, ImportsTheFilesOfACheckpointAndNothingElse) {
  Scratch const scratch;
  fs::path const from = scratch / "from";
  fs::create_directories(from / "ckpt" / "part");
  std::ofstream(from / "ckpt" / "a") << "1";
  std::ofstream(from / "ckpt" / "part" / "b") << "2";
  fs::create_symlink(from / "ckpt" / "a", from / "ckpt" / "c");
  fs::create_directory_symlink(".", from / "ckpt" / "again");
  fs::create_symlink("/dev/zero", from / "ckpt" / "zero");
  ASSERT_EQ(::mkfifo((from / "ckpt" / "pipe").c_str(), 0600), 0);
  Scenario const scenario;
  PeerFiles files(scenario, scratch / "to");
  files.import(from, "ckpt");
  std::string names;
  for (auto const& [name, bytes] : files.read("ckpt")) names += name + " ";
  EXPECT_EQ(names, "a c part/b ");
}

}  // namespace
}  // namespace adamant::scenarios
