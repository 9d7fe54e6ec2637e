// Saves by several ranks, each into several files, that are cut off at every change to the disk,
// whichever rank it is: afterwards there is the older checkpoint or the newer one, whole, and the
// next save leaves nothing of it. What is left of files after a crash is in
// scenarios/runner/checkpoint_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "real/checkpoint/storage.h"
#include "real/testing/cut_world.h"
#include "real/testing/memory_storage.h"
#include "real/testing/watched_storage.h"

namespace adamant::real {
namespace {

/// What happens at one change to the disk: it alone is refused, or from then on all changes of all
/// ranks are.
enum class Trouble { refuses_once, is_gone };

/// One disk of all ranks that save, which is to make trouble to one of them.
struct Disk {
  MemoryStorage files;
  Trouble trouble = Trouble::refuses_once;
  int rank = 0;    // whose change it is
  int number = 0;  // of that rank's changes, from 0
  std::atomic<bool> gone = false;

  /// Is that rank's change refused?
  bool refuses(int of_rank, int change) {
    if (gone) return true;
    bool const now = of_rank == rank && change == number;
    if (now && trouble == Trouble::is_gone) gone = true;
    return now;
  }
};

/// What a rank knows after a save.
struct Seen {
  bool refused = false;
  bool is_older = false;  // what a load gives
  bool is_newer = false;
};

/// Saves while the disk makes trouble; was it refused?
bool save_in_trouble(Rank& rank, Disk& disk) {
  WatchedStorage storage(disk.files);
  int changes = 0;
  storage.on_change = [&](std::string const& change) {
    if (disk.refuses(rank.number, changes++)) throw StorageError("no " + change);
  };
  try {
    rank.engine->save(storage, "c");
    return false;
  } catch (StorageError const&) {
    return true;
  }
}

/// Saves over an older checkpoint and looks at what there is afterwards.
Seen save_and_load(Rank& rank, Disk& disk, Meet const& meet) {
  rank.write(1);
  rank.train(1);
  rank.engine->save(disk.files, "c");
  State const older = state_of(rank);
  rank.train(1);
  State const newer = state_of(rank);
  meet();
  Seen seen;
  seen.refused = save_in_trouble(rank, disk);
  meet();
  EXPECT_EQ(state_of(rank), newer);
  rank.train(1);
  rank.engine->load(disk.files, "c");
  State const loaded = state_of(rank);
  seen.is_older = loaded == older;
  seen.is_newer = loaded == newer;
  rank.engine->save(disk.files, "c");
  return seen;
}

/// All ranks hear of a refusal, and load the same checkpoint.
void judge(std::vector<Seen> const& seen, Disk& disk) {
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    std::string const what = "change " + std::to_string(disk.number) + " of rank " +
                             std::to_string(disk.rank) + ", rank " + std::to_string(rank);
    EXPECT_EQ(seen[rank].refused, seen[0].refused) << what;
    EXPECT_EQ(seen[rank].is_older, seen[0].is_older) << what;
    EXPECT_NE(seen[rank].is_newer, seen[rank].is_older) << what;
    EXPECT_TRUE(seen[rank].is_newer || seen[rank].refused) << what;
  }
  EXPECT_EQ(disk.files.list("."), (std::vector<DirectoryEntry>{{"c", true}}));
}

/// Trouble at each change of one rank, until a save makes fewer; how many it makes.
int changes_in_trouble(EngineConfig const& config, Trouble trouble, int of_rank) {
  Disk disk;
  disk.trouble = trouble;
  disk.rank = of_rank;
  std::vector<Seen> seen(static_cast<std::size_t>(config.mesh.rank_count()));
  in_cut_world(config, [&](Rank& rank, Meet const& meet) {
    for (bool refused = true; refused;) {
      seen[static_cast<std::size_t>(rank.number)] = save_and_load(rank, disk, meet);
      meet();
      refused = seen[static_cast<std::size_t>(rank.number)].refused;
      if (rank.number == 0) {
        judge(seen, disk);
        disk.number += refused ? 1 : 0;
        disk.gone = false;
      }
      meet();
    }
  });
  return disk.number;
}

void expect_a_checkpoint_after_any_trouble(EngineConfig const& config) {
  for (Trouble const trouble : {Trouble::refuses_once, Trouble::is_gone})
    for (int rank = 0; rank < config.mesh.rank_count(); ++rank)
      EXPECT_GE(changes_in_trouble(config, trouble, rank), 3) << "changes of rank " << rank;
}

/// With few pieces a file: one change for each.
EngineConfig few_pieces(EngineConfig config) {
  config.checkpoint_piece_bytes = 2048;
  return config;
}

TEST(CutOff, ASaveOfSeveralFilesARankLeavesTheOlderOneOrTheNewerOne) {
  ADAMANT_NEEDS(2, Devices::shared);
  expect_a_checkpoint_after_any_trouble(cut_config(two_ranks));
}

TEST(CutOff, ASaveByReplicasLeavesTheOlderOneOrTheNewerOne) {
  ADAMANT_NEEDS(4, Devices::shared);
  expect_a_checkpoint_after_any_trouble(few_pieces(cut_config(with_replicas)));
}

TEST(CutOff, ASaveOfStatesThatAreCutOverReplicasLeavesTheOlderOneOrTheNewerOne) {
  ADAMANT_NEEDS(4, Devices::shared);
  expect_a_checkpoint_after_any_trouble(
      few_pieces(cut_config(cut_over_replicas, scaled_formats())));
}

}  // namespace
}  // namespace adamant::real
