// What a save asks of the disk, in which order, and what is left of checkpoints where the disk
// refuses or the machine dies. On files in memory, and on those of the system.
#include <gtest/gtest.h>

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
