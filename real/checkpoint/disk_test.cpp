// What a save asks of the disk, in which order, and what is left of checkpoints where the disk
// refuses or the machine dies. On files in memory, and on those of the system.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/manifest.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/posix_storage.h"
#include "real/testing/memory_storage.h"
#include "real/testing/small_world.h"
#include "real/testing/temporary_directory.h"
#include "real/testing/watched_storage.h"

namespace adamant::real {
namespace {

// A file of several pieces, some of which hold parts of several tensors.
EngineConfig small_config() {
  EngineConfig config;
  config.parameters = {{.name = "embed", .shape = {5, 3}}, {.name = "one", .shape = {2}}};
  config.groups = {{}};
  config.group_names = {"default"};
  config.checkpoint_piece_bytes = 128;
  return config;
}

State in_world_of_one(std::function<void(Rank&)> const& body) {
  return in_world(1, small_config(), body);
}

using Changes = std::vector<std::string>;

/// What is done to names, in order, without the files that are written before.
Changes to_names(Changes const& all) {
  Changes changes;
  for (std::string const& change : all)
    if (change.starts_with("sync_directory") || change.starts_with("rename") ||
        change.starts_with("remove"))
      changes.push_back(change);
  return changes;
}

TEST(Disk, EachStepOfASaveIsOnDiskBeforeTheNext) {
  ADAMANT_NEEDS(1, Devices::shared);
  MemoryStorage files;
  WatchedStorage storage(files);
  Changes changes;
  storage.on_change = [&](std::string const& change) { changes.push_back(change); };
  in_world_of_one([&](Rank& rank) {
    rank.engine->save(storage, "c");
    changes.clear();
    rank.engine->save(storage, "c");
  });
  EXPECT_EQ(to_names(changes),
            (Changes{"sync_directory .c.partial", "rename c to .c.previous", "sync_directory .",
                     "rename .c.partial to c", "sync_directory .",
                     concat("remove .c.previous/", manifest_name),
                     concat("remove .c.previous/", shard_file_name(0)), "remove .c.previous"}));
}

/// How a disk behaves from some change on.
enum class Trouble { refuses_once, is_gone };

/// Saves over an older checkpoint, with trouble from the change of that number on; false where the
/// save makes fewer changes. What can be loaded afterwards is either of the two, and the next save
/// leaves nothing of it.
bool save_in_trouble(Rank& rank, Storage& files, std::string const& root, Trouble trouble,
                     int number) {
  WatchedStorage storage(files);
  std::string const directory = join_path(root, "c");
  rank.write(1);
  rank.engine->save(storage, directory);
  State const older = state_of(rank);
  rank.write(2);
  State const newer = state_of(rank);
  int changes = 0;
  storage.on_change = [&](std::string const& change) {
    if (trouble == Trouble::is_gone ? changes++ < number : changes++ != number) return;
    throw StorageError(concat("no ", change));
  };
  bool refused = false;
  try {
    rank.engine->save(storage, directory);
  } catch (StorageError const&) {
    refused = true;
  }
  storage.on_change = nullptr;
  EXPECT_EQ(state_of(rank), newer);
  rank.engine->load(storage, directory);
  State const loaded = state_of(rank);
  EXPECT_TRUE(loaded == newer || (refused && loaded == older)) << number;
  rank.engine->save(storage, directory);
  EXPECT_EQ(storage.list(root), (std::vector<DirectoryEntry>{{"c", true}})) << number;
  return refused;
}

void expect_a_checkpoint_after_any_trouble(Rank& rank, Storage& files, std::string const& root) {
  for (Trouble const trouble : {Trouble::refuses_once, Trouble::is_gone}) {
    int number = 0;
    while (save_in_trouble(rank, files, root, trouble, number)) ++number;
    EXPECT_GT(number, 12);
  }
}

TEST(Disk, WhateverAndWheneverItRefusesACheckpointIsThere) {
  ADAMANT_NEEDS(1, Devices::shared);
  MemoryStorage files;
  in_world_of_one([&](Rank& rank) { expect_a_checkpoint_after_any_trouble(rank, files, "."); });
}

TEST(Disk, WhateverAndWheneverTheSystemRefusesACheckpointIsThere) {
  ADAMANT_NEEDS(1, Devices::shared);
  TemporaryDirectory const root;
  PosixStorage files;
  bool done = false;  // by one schedule: a real disk takes its time to sync
  in_world_of_one([&](Rank& rank) {
    if (!std::exchange(done, true)) expect_a_checkpoint_after_any_trouble(rank, files, root.path());
  });
}

// The older checkpoint has its name again before anything is written, so also when that fails.
TEST(Disk, ASaveFirstPutsBackWhatAnotherLeftBetweenItsRenames) {
  ADAMANT_NEEDS(1, Devices::shared);
  in_world_of_one([&](Rank& rank) {
    MemoryStorage storage;
    rank.engine->save(storage, "c");
    storage.rename("c", ".c.previous");
    storage.refuses_append = [](std::string const&) { return true; };
    EXPECT_THROW(rank.engine->save(storage, "c"), StorageError);
    EXPECT_EQ(storage.list("."), (std::vector<DirectoryEntry>{{"c", true}}));
  });
}

// ---- worlds of two, of which one or both are refused --------------------------------------------

/// Every file and directory there is, with the bytes of files.
using Content = std::map<std::string, std::vector<std::byte>>;

void add_content(MemoryStorage& files, std::string const& directory, Content& content) {
  for (DirectoryEntry const& entry : files.list(directory)) {
    std::string const path = directory == "." ? entry.name : join_path(directory, entry.name);
    content[path] = entry.is_directory ? std::vector<std::byte>() : files.bytes_of(path);
    if (entry.is_directory) add_content(files, path, content);
  }
}

Content content_of(MemoryStorage& files) {
  Content content;
  add_content(files, ".", content);
  return content;
}

/// What a rank is told, with the kind of it; nothing where nothing is refused.
std::string told(std::function<void()> const& verb) {
  try {
    verb();
  } catch (StorageError const& error) {
    return concat("storage: ", error.what());
  } catch (CheckpointError const& error) {
    return concat("checkpoint: ", error.what());
  }
  return "";
}

/// By rank, what it was told one time after another.
using AllTold = std::array<std::vector<std::string>, 2>;

bool refuses(int rank, int refusing) {
  return (refusing >> rank & 1) != 0;
}

/// Saves over an older checkpoint until nothing is refused: of the ranks in `refusing` the disk
/// refuses the first change, then the second alone, and so on.
void save_in_spite_of(Rank& rank, MemoryStorage& files, int refusing, AllTold& all) {
  WatchedStorage storage(files);
  std::vector<std::string>& mine = all[static_cast<std::size_t>(rank.number)];
  for (int number = 0;; ++number) {
    rank.write(1);
    rank.engine->save(files, "c");
    rank.write(2);
    Content const before = rank.number == 0 ? content_of(files) : Content();
    bool replaced = false;
    int changes = 0;
    storage.on_change = [&](std::string const& change) {
      if (refuses(rank.number, refusing) && changes++ == number)
        throw StorageError(concat("no ", change));
      replaced = replaced || change == "rename .c.partial to c";
    };
    mine.push_back(told([&] { rank.engine->save(storage, "c"); }));
    if (mine.back().empty()) return;
    if (rank.number == 0 && !replaced) {
      EXPECT_TRUE(content_of(files) == before) << refusing << ", " << mine.back();
    }
  }
}

/// And of which rank it was, where that is known.
void expect_all_told_the_same(AllTold const& all, std::string const& of_whom,
                              std::size_t at_least) {
  EXPECT_EQ(all[0], all[1]) << of_whom;
  EXPECT_GE(all[0].size(), at_least) << of_whom;
  for (std::string const& one : all[0])
    EXPECT_TRUE(one.empty() || one.starts_with(of_whom)) << of_whom << ", " << one;
}

TEST(Disk, ARefusedSaveLeavesItAsItWasAndAllRanksAreToldTheSame) {
  ADAMANT_NEEDS(2, Devices::shared);
  for (int const refusing : {1, 2, 3}) {
    MemoryStorage files;
    AllTold all;
    in_world(2, small_config(), [&](Rank& rank) {
      all[static_cast<std::size_t>(rank.number)].clear();
      save_in_spite_of(rank, files, refusing, all);
    });
    // Of two that are refused at once the first one's, which has more to do.
    expect_all_told_the_same(
        all, refusing == 2 ? "storage: rank 1: " : "storage: rank 0: ", refusing == 2 ? 4 : 12);
  }
}

TEST(Disk, OfARefusedLoadAllRanksAreToldTheSame) {
  ADAMANT_NEEDS(2, Devices::shared);
  for (int const refusing : {1, 2, 3}) {
    MemoryStorage files;
    AllTold all;
    in_world(2, small_config(), [&](Rank& rank) {
      std::vector<std::string>& mine = all[static_cast<std::size_t>(rank.number)];
      mine.clear();
      rank.engine->save(files, "c");
      WatchedStorage storage(files);
      do {
        std::size_t reads = 0;
        storage.on_read = [&](std::string const& range) {
          if (refuses(rank.number, refusing) && reads++ == mine.size())
            throw StorageError(concat("no ", range));
        };
        mine.push_back(told([&] { rank.engine->load(storage, "c"); }));
      } while (!mine.back().empty());
    });
    expect_all_told_the_same(all, "storage: rank ", 4);
  }
}

// But for the one in which the header ends, which is read when the checkpoint is opened, too, and
// the one with the steps, which are looked at before.
TEST(Disk, ALoadReadsAPieceOnceHoweverManyTensorsItHolds) {
  ADAMANT_NEEDS(1, Devices::shared);
  MemoryStorage files;
  WatchedStorage storage(files);
  in_world_of_one([&](Rank& rank) {
    rank.engine->save(storage, "c");
    std::map<std::string, int> reads;
    storage.on_read = [&](std::string const& range) { ++reads[range]; };
    rank.engine->load(storage, "c");
    storage.on_read = nullptr;
    int again = 0;
    for (auto const& [range, times] : reads) again += times - 1;
    EXPECT_GE(reads.size(), 4U);
    EXPECT_LE(again, 2);
  });
}

}  // namespace
}  // namespace adamant::real
