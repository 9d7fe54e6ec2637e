#include "scenarios/campaign/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "scenarios/campaign/settings.h"
#include "scenarios/report/output_file.h"

namespace adamant::scenarios {
namespace {

using Lines = std::vector<std::string>;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("adamant_journal_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file() const { return folder_ / "shard" / "journal"; }
  void write(std::string const& text) const {
    std::filesystem::create_directories(file().parent_path());
    std::ofstream(file()) << text;
  }
  std::filesystem::path folder_;
};

TEST_F(JournalTest, KeepsItsLines) {
  EXPECT_EQ(read_journal(file()), Lines());
  Journal(file()).append("one");
  {
    Journal journal(file());
    EXPECT_EQ(journal.take_lines(), Lines{"one"});
    journal.append("two");
    journal.append("three");
  }
  EXPECT_EQ(Journal(file()).take_lines(), (Lines{"one", "two", "three"}));
  EXPECT_EQ(read_journal(file()), (Lines{"one", "two", "three"}));
}

TEST_F(JournalTest, ATornLineIsDropped) {
  write("one\ntwo\nthr");
  EXPECT_EQ(read_journal(file()), (Lines{"one", "two"}));
  { Journal const looks(file()); }
  EXPECT_EQ(std::filesystem::file_size(file()), 11U) << "nobody knows yet that it is a journal";
  Journal(file()).append("four");
  EXPECT_EQ(read_journal(file()), (Lines{"one", "two", "four"}));
  write("on");
  Journal(file()).append("two");
  EXPECT_EQ(read_journal(file()), Lines{"two"});
}

TEST_F(JournalTest, AFullDiskTakesNothingAway) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit const small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  Journal journal(file());
  journal.append(std::string(600, 'a'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(journal.append(std::string(600, 'b')), CannotWrite);
  EXPECT_EQ(std::filesystem::file_size(file()), 601U);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  journal.append("c");
  EXPECT_EQ(read_journal(file()), (Lines{std::string(600, 'a'), "c"}));
}

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  char get() const {
    char got = 0;
    return ::read(ends[0], &got, 1) == 1 ? got : '-';
  }
  void put() const { EXPECT_EQ(::write(ends[1], "x", 1), 1); }
  int ends[2];
};

/// A process that has the journal until it is killed, and a child of it that lives on until `end`.
pid_t process_with(std::filesystem::path const& file, Pipe const& ready, Pipe const& end) {
  pid_t const process = ::fork();
  if (process != 0) return process;
  Journal const journal(file);
  if (::fork() == 0) {
    end.get();
    ::_exit(0);
  }
  ready.put();
  for (;;) ::pause();
}

TEST_F(JournalTest, BelongsToOneLivingProcess) {
  Pipe const ready;
  Pipe const end;
  pid_t const other = process_with(file(), ready, end);
  ASSERT_EQ(ready.get(), 'x');
  try {
    Journal journal(file());
    ADD_FAILURE() << "two have it";
  } catch (CampaignError const& error) {
    EXPECT_EQ(error.what(),
              (folder_ / "shard").string() + ": another search is at work on this shard, process " +
                  std::to_string(other) + "; wait for its end, or take another shard");
  }
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  Journal(file()).append("mine");
  EXPECT_EQ(read_journal(file()), Lines{"mine"});
  end.put();
}

TEST_F(JournalTest, ALinkIsNotFollowed) {
  write("");
  std::ofstream(folder_ / "other") << "not a journal";
  std::filesystem::remove(file());
  std::filesystem::create_symlink(folder_ / "other", file());
  EXPECT_THROW(Journal(file()).append("line"), CannotWrite);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "other"), 13U);
  std::filesystem::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_THROW(Journal{file()}, CampaignError);
  EXPECT_THROW(read_journal(file()), CampaignError);
}

TEST_F(JournalTest, APlaceThatCannotBeIsSaid) {
  EXPECT_THROW(Journal("/dev/null/journal"), CannotWrite);
  std::filesystem::create_directories(file());
  EXPECT_THROW(Journal{file()}, CannotWrite);
}

}  // namespace
}  // namespace adamant::scenarios
