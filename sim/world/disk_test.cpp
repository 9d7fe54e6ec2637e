#include "sim/world/disk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "sim/world/crash_point.h"
#include "sim/world/prng.h"

namespace adamant::sim {
namespace {

std::uint32_t worst(std::uint32_t) {
  return 0;
}
std::uint32_t kindest(std::uint32_t count) {
  return count - 1;
}

/// Answers from a seed.
Chance any(std::uint64_t seed) {
  return [prng = Prng(seed)](std::uint32_t count) mutable { return prng.below(count); };
}

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::string text_of(std::span<std::byte const> bytes) {
  std::string text(bytes.size(), ' ');
  std::transform(bytes.begin(), bytes.end(), text.begin(),
                 [](std::byte b) { return static_cast<char>(b); });
  return text;
}

std::string content(Disk const& disk, std::string_view path) {
  return text_of(disk.peek(path));
}

Disk::File write(Disk& disk, std::string_view path, std::string_view text) {
  auto file = disk.create(path);
  disk.append(file, bytes_of(text));
  return file;
}

void write_durably(Disk& disk, std::string_view path, std::string_view text) {
  disk.sync(write(disk, path, text));
  disk.sync_directory("");
}

void crash(Disk& disk, Chance const& chance) {
  disk.crash(chance);
  disk.restart();
}

DiskProblem problem_of(std::function<void()> const& act) {
  try {
    act();
  } catch (DiskError const& error) {
    return error.problem();
  }
  ADD_FAILURE() << "nothing was refused";
  return DiskProblem::missing;
}

TEST(Disk, GivesBackWhatWasWritten) {
  Disk disk;
  disk.make_directory("a");
  auto const file = write(disk, "a/f", "hello ");
  disk.append(file, bytes_of("world"));
  EXPECT_EQ(disk.size(file), 11U);
  std::vector<std::byte> part(5);
  EXPECT_EQ(disk.read(disk.open("a/f"), 6, part), 5U);
  EXPECT_EQ(text_of(part), "world");
  EXPECT_EQ(disk.read(file, 9, part), 2U);
  EXPECT_EQ(disk.read(file, 11, part), 0U);
}

TEST(Disk, ListsNamesInOrder) {
  Disk disk;
  for (char const* name : {"c", "a", "b"}) write(disk, name, "");
  disk.make_directory("d");
  EXPECT_EQ(disk.list(""), (std::vector<std::string>{"a", "b", "c", "d"}));
  disk.remove("b");
  EXPECT_EQ(disk.list(""), (std::vector<std::string>{"a", "c", "d"}));
  EXPECT_TRUE(disk.exists("a"));
  EXPECT_FALSE(disk.exists("b"));
  EXPECT_TRUE(disk.is_directory("d"));
  EXPECT_FALSE(disk.is_directory("a"));
}

TEST(Disk, RefusesWhatADiskRefuses) {
  Disk disk;
  disk.make_directory("full");
  write(disk, "full/f", "");
  disk.make_directory("empty");
  EXPECT_EQ(problem_of([&] { disk.open("nothing"); }), DiskProblem::missing);
  EXPECT_EQ(problem_of([&] { disk.create("nowhere/f"); }), DiskProblem::missing);
  EXPECT_EQ(problem_of([&] { disk.create("full/f/g"); }), DiskProblem::not_a_directory);
  EXPECT_EQ(problem_of([&] { disk.make_directory("full"); }), DiskProblem::exists);
  EXPECT_EQ(problem_of([&] { disk.open("full"); }), DiskProblem::not_a_file);
  EXPECT_EQ(problem_of([&] { disk.list("full/f"); }), DiskProblem::not_a_directory);
  EXPECT_EQ(problem_of([&] { disk.remove("full"); }), DiskProblem::not_empty);
  EXPECT_EQ(problem_of([&] { disk.rename("empty", "full"); }), DiskProblem::not_empty);
  disk.rename("full", "empty");
  EXPECT_EQ(disk.list(""), std::vector<std::string>{"empty"});
  EXPECT_EQ(disk.list("empty"), std::vector<std::string>{"f"});
}

TEST(Disk, AnOpenFileOutlivesItsName) {
  Disk disk;
  auto const old = write(disk, "f", "old");
  write(disk, "f", "new");
  std::vector<std::byte> out(3);
  disk.read(old, 0, out);
  EXPECT_EQ(text_of(out), "old");
  EXPECT_EQ(content(disk, "f"), "new");
}

TEST(Disk, ACrashedOneRefusesEverything) {
  Disk disk;
  auto const file = write(disk, "f", "x");
  disk.crash(kindest);
  std::vector<std::byte> out(1);
  std::vector<std::function<void()>> const calls{[&] { disk.create("nowhere/g"); },
                                                 [&] { disk.open("f"); },
                                                 [&] { disk.append(file, out); },
                                                 [&] { disk.sync(file); },
                                                 [&] { disk.size(file); },
                                                 [&] { disk.read(file, 0, out); },
                                                 [&] { disk.make_directory("d"); },
                                                 [&] { disk.sync_directory(""); },
                                                 [&] { disk.list(""); },
                                                 [&] { disk.rename("f", "g"); },
                                                 [&] { disk.remove("f"); },
                                                 [&] { static_cast<void>(disk.exists("f")); },
                                                 [&] { static_cast<void>(disk.is_directory("")); }};
  for (std::size_t i = 0; i < calls.size(); ++i)
    EXPECT_EQ(problem_of(calls[i]), DiskProblem::crashed) << "call " << i;
  disk.restart();
  EXPECT_EQ(content(disk, "f"), "x");
}

TEST(Disk, LosesBytesThatWereNotSynced) {
  Disk disk;
  write_durably(disk, "f", "kept");
  disk.append(disk.open("f"), bytes_of(" lost"));
  crash(disk, worst);
  EXPECT_EQ(content(disk, "f"), "kept");
}

TEST(Disk, LosesANameWhoseDirectoryWasNotSynced) {
  Disk disk;
  disk.sync(write(disk, "f", "all of it"));
  crash(disk, worst);
  EXPECT_FALSE(disk.exists("f"));
}

TEST(Disk, KeepsAnOldNameUntilTheDirectoryIsSynced) {
  Disk disk;
  write_durably(disk, "f", "old");
  disk.sync(write(disk, "tmp", "new"));
  disk.rename("tmp", "f");
  crash(disk, worst);
  EXPECT_EQ(content(disk, "f"), "old");
  EXPECT_FALSE(disk.exists("tmp"));
}

// The classic: renamed before it was synced, the name is there and the bytes are not.
TEST(Disk, ARenamedFileThatWasNotSyncedMayBeEmpty) {
  Disk disk;
  write_durably(disk, "f", "old");
  write(disk, "tmp", "new");
  disk.rename("tmp", "f");
  disk.sync_directory("");
  crash(disk, worst);
  EXPECT_EQ(content(disk, "f"), "");
}

TEST(Disk, TearsInEveryWay) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Disk disk;
    write_durably(disk, "f", "ab");
    disk.append(disk.open("f"), bytes_of("cde"));
    crash(disk, any(seed));
    seen.insert(content(disk, "f"));
  }
  using namespace std::string_literals;
  EXPECT_EQ(seen, (std::set<std::string>{"ab", "abc", "abcd", "abcde", "ab\0\0\0"s, "abc\0\0"s,
                                         "abcd\0"s}));
}

TEST(Disk, KeepsAPrefixOfADirectorysChanges) {
  std::set<std::vector<std::string>> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Disk disk;
    write_durably(disk, "a", "");
    write(disk, "b", "");
    disk.rename("b", "c");
    disk.remove("a");
    crash(disk, any(seed));
    seen.insert(disk.list(""));
  }
  EXPECT_EQ(seen, (std::set<std::vector<std::string>>{{"a"}, {"a", "b"}, {"a", "c"}, {"c"}}));
}

// Law: whatever a crash leaves, synced things are among it; everything syncs, nothing is lost.
TEST(Disk, NothingThatWasSyncedIsEverLost) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Disk disk;
    Chance const chance = any(seed);
    disk.make_directory("d");
    disk.sync_directory("");
    std::string synced;
    auto const file = disk.create("d/f");
    disk.sync_directory("d");
    for (int i = 0; i < 6; ++i) {
      disk.append(file, bytes_of(std::string(chance(5), static_cast<char>('a' + i))));
      if (chance(2) == 0) continue;
      disk.sync(file);
      synced = content(disk, "d/f");
    }
    crash(disk, chance);
    EXPECT_EQ(content(disk, "d/f").substr(0, synced.size()), synced) << seed;
  }
}

TEST(Disk, DamageOutlastsACrash) {
  Disk disk;
  disk.make_directory("d");
  disk.sync_directory("");
  disk.overwrite("d/f", bytes_of("x"));
  write(disk, "d/g", "");
  disk.sync_directory("d");
  disk.lose("d/g");
  crash(disk, worst);
  EXPECT_EQ(content(disk, "d/f"), "x");
  EXPECT_EQ(disk.list("d"), std::vector<std::string>{"f"});
}

TEST(CrashPoint, StrikesAtItsByteAndItsRank) {
  CrashPoint point;
  EXPECT_EQ(point.admit(1, 100), 100U);
  point.arm(1, 150);
  EXPECT_EQ(point.admit(0, 1000), 1000U);
  EXPECT_EQ(point.admit(1, 100), 100U);
  EXPECT_FALSE(point.strikes(1, worst));
  EXPECT_EQ(point.admit(1, 100), 50U);
}

TEST(CrashPoint, BehindItsLastByteAnyOperationMayBeTheLast) {
  CrashPoint point;
  point.arm(2, 10);
  EXPECT_EQ(point.admit(2, 10), 10U);
  EXPECT_TRUE(point.strikes(2, worst));
  EXPECT_FALSE(point.strikes(2, kindest));
  EXPECT_FALSE(point.strikes(0, worst));
  EXPECT_EQ(point.admit(2, 1), 0U);
  point.disarm();
  EXPECT_FALSE(point.armed());
  EXPECT_EQ(point.admit(2, 1), 1U);
}

}  // namespace
}  // namespace adamant::sim
