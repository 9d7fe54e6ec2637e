#include "scenarios/peers/client/scratch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "scenarios/judge/dump/output_error.h"
#include "scenarios/runner/testing/scratch.h"

namespace adamant::scenarios {
namespace {

namespace fs = std::filesystem;
using std::chrono_literals::operator""ms;

/// Makes directories and files for a while, as ranks do whose launcher has just been killed.
[[noreturn]] void write_on(fs::path const& path) {
  ::setenv("WHERE", path.c_str(), 1);
  ::execl("/bin/sh", "sh", "-c",
          "for i in 1 2 3 4 5 6 7 8; do mkdir -p $WHERE/$i; echo > $WHERE/$i/x; sleep 0.05; done",
          nullptr);
  ::_exit(127);
}

bool is_empty_in_time(fs::path const& path) {
  for (int i = 0; i < 1'000 && !fs::is_empty(path); ++i) std::this_thread::sleep_for(5ms);
  return fs::is_empty(path);
}

class ScratchOfAProcess : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(room()); }
  fs::path room() const { return scratch_ / "room"; }

  /// Runs `life` in a process that has its directory in room(), and waits until all that it
  /// started have ended and the directory is gone: nobody else may remove it at the same time.
  template <typename Life>
  void in_process(Life life) const {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    pid_t const process = ::fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
      ::setenv("TMPDIR", room().c_str(), 1);
      life(scratch_of_this_process());
      std::raise(SIGKILL);
    }
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);
    ::close(ends[0]);
    ::waitpid(process, nullptr, 0);
    EXPECT_TRUE(is_empty_in_time(room()));
  }

 private:
  Scratch scratch_;
};

TEST_F(ScratchOfAProcess, GoesWithTheProcessThoughOthersStillWriteIntoIt) {
  in_process([](fs::path const& path) {
    if (::fork() == 0) write_on(path);
  });
}

TEST_F(ScratchOfAProcess, HoldsNothingOpenWhereItCannotBeMade) {
  auto const open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  pid_t const process = ::fork();
  ASSERT_GE(process, 0);
  if (process == 0) {
    ::setenv("TMPDIR", (room() / "missing").c_str(), 1);
    auto const before = open_files();
    try {
      scratch_of_this_process();
    } catch (OutputError const& error) {
      bool const says_why = std::string(error.what()).find("No such file") != std::string::npos;
      ::_exit(says_why && open_files() == before ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = -1;
  ::waitpid(process, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(ScratchOfAProcess, SaysInItsNameWhoseItIs) {
  in_process([](fs::path const& path) {
    std::string const begin = "adamant-" + std::to_string(::getpid()) + "-";
    if (!path.filename().string().starts_with(begin)) ::_exit(1);
    std::ofstream(path.parent_path().parent_path() / "was right");
  });
  EXPECT_TRUE(fs::exists(room().parent_path() / "was right"));
}

TEST(ScratchRoom, IsADirectoryUntilItGoes) {
  fs::path path;
  {
    ScratchRoom const room("run");
    path = room.path();
    EXPECT_TRUE(fs::is_directory(path));
    std::ofstream(path / "file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace adamant::scenarios
