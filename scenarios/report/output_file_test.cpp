#include "scenarios/report/output_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace adamant::scenarios {
namespace {

class OutputFiles : public testing::Test {
 protected:
  void SetUp() override {
    auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(testing::TempDir()) / ("output_file_" + std::string(test->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::size_t entries() const {
    std::size_t count = 0;
    for ([[maybe_unused]] auto const& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }
  static std::string text_of(std::filesystem::path const& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST_F(OutputFiles, ReplaceWhatWasThereOnlyWhenCommitted) {
  auto const path = folder_ / "out.json";
  write_whole(path, "old");
  OutputFile file(path);
  EXPECT_EQ(text_of(path), "old");
  file.commit("new");
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFiles, LeaveNothingBehindWhenAbandoned) {
  { OutputFile const file(folder_ / "out.json"); }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(OutputFiles, AreWrittenThroughNoLinkThatWasLaidInTheirWay) {
  auto const target = folder_ / "target";
  auto const laid = folder_ / (".out.json." + std::to_string(::getpid()) + ".tmp");
  write_whole(target, "old");
  std::filesystem::create_symlink(target, laid);
  write_whole(folder_ / "out.json", "new");
  EXPECT_EQ(text_of(target), "old");
  EXPECT_EQ(text_of(folder_ / "out.json"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(laid));
  EXPECT_EQ(entries(), 3U);
}

TEST_F(OutputFiles, AreThereOnceWhereOnlyTheFirstCounts) {
  OutputFile(folder_ / "out.json").commit_if_absent("first");
  OutputFile(folder_ / "out.json").commit_if_absent("second");
  EXPECT_EQ(text_of(folder_ / "out.json"), "first");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFiles, ReplaceWhatALinkPointsTo) {
  auto const target = folder_ / "target.json";
  auto const link = folder_ / "link.json";
  write_whole(target, "old");
  std::filesystem::create_symlink(target, link);
  write_whole(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(target), "new");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(OutputFiles, SayWhatCannotBeWritten) {
  EXPECT_THROW(OutputFile(folder_ / "missing" / "out.json"), CannotWrite);
  EXPECT_THROW(OutputFile{folder_}, CannotWrite);
  EXPECT_THROW(OutputFile(folder_ / std::string(5000, 'x')), CannotWrite);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(OutputFiles, NoticeAFullDisk) {
  OutputFile file("/dev/full");
  try {
    file.commit("text");
    FAIL() << "a full disk was not noticed";
  } catch (CannotWrite const& error) {
    EXPECT_EQ(std::string(error.what()), "/dev/full: cannot be written: No space left on device");
  }
}

}  // namespace
}  // namespace adamant::scenarios
