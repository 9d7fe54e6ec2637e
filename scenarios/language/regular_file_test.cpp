#include "scenarios/language/regular_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace adamant::scenarios {
namespace {

TEST(RegularFile, IsReadAndNothingElse) {
  std::filesystem::path const folder = testing::TempDir() + "/adamant_regular_file";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::string const text(200'000, 'x');
  std::ofstream(folder / "file") << text;
  std::filesystem::create_symlink("/dev/zero", folder / "zeros");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);

  EXPECT_EQ(read_regular_file(folder / "file", text.size()), text);
  EXPECT_EQ(read_regular_file(folder / "file", text.size() - 1), std::nullopt);
  for (char const* const other : {"zeros", "pipe", ".", "missing"})
    EXPECT_EQ(read_regular_file(folder / other, 100), std::nullopt) << other;
}

}  // namespace
}  // namespace adamant::scenarios
