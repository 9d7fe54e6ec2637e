// Checkpoints of several files a rank, damaged in every way that a disk can: each is refused as
// damaged, on all ranks alike, and an engine has what it had or no state at all.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/manifest.h"
#include "real/checkpoint/names.h"
#include "real/testing/cut_world.h"
#include "real/testing/memory_storage.h"

namespace adamant::real {
namespace {

using Bytes = std::vector<std::byte>;
using Names = std::vector<std::string>;

std::string const manifest_path = std::string("c/") + manifest_name;

void save_trained(MemoryStorage& storage, EngineConfig const& config) {
  in_cut_world(config, [&](Rank& rank, Meet const&) {
    rank.write(0.1F);
    rank.train(2);
    rank.engine->save(storage, "c");
  });
}

Names paths_in(MemoryStorage& storage) {
  Names paths;
  for (DirectoryEntry const& entry : storage.list("c")) paths.push_back("c/" + entry.name);
  return paths;
}

/// A damaged checkpoint, as rank 0 has just made it.
struct Damaged {
  std::string path;           // that a refusal has to name
  bool known_at_once = true;  // before a load has changed anything
  std::string or_path = {};   // two files are wrong, and either may be told
};

/// Engines that are handed one damaged checkpoint after the other.
class Loaders {
 public:
  /// REQUIRES: `storage` has a checkpoint that is whole.
  Loaders(MemoryStorage& storage, EngineConfig const& config)
      : storage_(storage),
        config_(config),
        outcomes_(static_cast<std::size_t>(config.mesh.rank_count())),
        kept_(outcomes_.size()) {}

  /// How many loads were refused when they had begun to replace what an engine had.
  int midway() const { return midway_; }

  /// Is handed `count` checkpoints: damage(k) makes the k-th of the whole one, undo(k) makes it
  /// whole again.
  void expect_refusals(std::size_t count, std::function<Damaged(std::size_t)> const& damage,
                       std::function<void(std::size_t)> const& undo) {
    in_cut_world(config_, [&](Rank& rank, Meet const& meet) {
      State before = unlike_the_saved(rank);
      for (std::size_t k = 0; k < count; ++k) {
        if (rank.number == 0) damaged_ = damage(k);
        meet();
        bool const has_state = try_load(rank, before);
        meet();
        if (rank.number == 0) {
          judge(k);
          undo(k);
        }
        meet();
        if (has_state) continue;
        rank.engine->load(storage_, "c");
        before = unlike_the_saved(rank);
      }
    });
  }

 private:
  /// So that whatever a load has replaced is seen.
  static State unlike_the_saved(Rank& rank) {
    rank.train(1);
    return state_of(rank);
  }

  bool try_load(Rank& rank, State const& before) {
    LoadOutcome const outcome = outcome_of_load(rank, storage_);
    outcomes_[static_cast<std::size_t>(rank.number)] = outcome;
    kept_[static_cast<std::size_t>(rank.number)] = outcome.has_state && state_of(rank) == before;
    return outcome.has_state;
  }

  static bool names(std::string const& refusal, std::string const& path) {
    return !path.empty() && refusal.find(path + ":") != std::string::npos;
  }
  void judge(std::size_t k) {
    LoadOutcome const& first = outcomes_.front();
    std::string const what = damaged_.path + ", " + std::to_string(k) + ": " + first.refusal;
    EXPECT_TRUE(names(first.refusal, damaged_.path) || names(first.refusal, damaged_.or_path))
        << what;
    EXPECT_EQ(first.kind, CheckpointError::Kind::damaged) << what;
    EXPECT_TRUE(first.has_state || !damaged_.known_at_once) << what;
    for (std::size_t rank = 0; rank < outcomes_.size(); ++rank) {
      EXPECT_EQ(outcomes_[rank], first) << what;
      EXPECT_EQ(kept_[rank] != 0, first.has_state) << what << ", rank " << rank;
    }
    if (!first.has_state) ++midway_;
  }

  MemoryStorage& storage_;
  EngineConfig config_;
  std::vector<LoadOutcome> outcomes_;  // by rank
  std::vector<char> kept_;             // has a rank all that it had?
  Damaged damaged_;
  int midway_ = 0;
};

/// Where the data of a shard file begin; the end of any other file.
std::size_t data_begin(MemoryStorage& storage, std::string const& path) {
  Bytes const& bytes = storage.bytes_of(path);
  if (!is_shard_file(path)) return bytes.size();
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return sizeof length + static_cast<std::size_t>(length);
}

/// Flips a bit of each of these bytes, one at a time.
void expect_noticed(Loaders& loaders, MemoryStorage& storage, std::string const& path,
                    std::vector<std::size_t> const& places) {
  std::size_t const data = data_begin(storage, path);
  auto const flip = [&](std::size_t k) {
    storage.bytes_of(path)[places[k]] ^= static_cast<std::byte>(1U << places[k] % 8);
  };
  loaders.expect_refusals(
      places.size(),
      [&](std::size_t k) {
        flip(k);
        return Damaged{.path = path, .known_at_once = places[k] < data};
      },
      flip);
}

/// Every so many bytes of data, and of what stands before.
struct Strides {
  std::size_t before = 1;
  std::size_t data = 1;
};

std::vector<std::size_t> places_in(MemoryStorage& storage, std::string const& path,
                                   Strides const& strides) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < storage.bytes_of(path).size();
       at += at < data_begin(storage, path) ? strides.before : strides.data)
    places.push_back(at);
  return places;
}

/// Flips bits all over the checkpoint; so many of the refusals, at least, come midway.
void expect_all_noticed(MemoryStorage& storage, EngineConfig const& config, Strides const& strides,
                        int midway_min) {
  Loaders loaders(storage, config);
  for (std::string const& path : paths_in(storage))
    expect_noticed(loaders, storage, path, places_in(storage, path, strides));
  EXPECT_GE(loaders.midway(), midway_min);
}

/// So small that most have data of one tensor alone.
EngineConfig small_pieces(EngineConfig config) {
  config.checkpoint_piece_bytes = 16;
  return config;
}

TEST(Damage, EveryByteOfEveryFileIsNoticed) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  EngineConfig const config = small_pieces(cut_config(two_ranks));
  save_trained(storage, config);
  EXPECT_EQ(paths_in(storage).size(), 4U);
  expect_all_noticed(storage, config, {}, 201);
}

TEST(Damage, BytesOfNumbersAndScalesAreNoticedWhereStatesAreCutOverReplicas) {
  ADAMANT_NEEDS(4, Devices::shared);
  EngineConfig const config = small_pieces(cut_config(cut_over_replicas, scaled_formats()));
  MemoryStorage storage;
  save_trained(storage, config);
  expect_all_noticed(storage, config, {211, 4}, 1);
}

TEST(Damage, BytesAreNoticedByTheRanksOfAnyOtherWorld) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, cut_config(cut_over_replicas));
  for (Mesh const& other : {Mesh{.shards = 3}, with_replicas})
    expect_all_noticed(storage, cut_config(other), {53, 3}, 31);
}

TEST(Damage, EveryLengthOtherThanItsOwnIsRefusedOfEveryFile) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, cut_config(two_ranks));
  Loaders loaders(storage, cut_config(two_ranks));
  for (std::string const& path : paths_in(storage)) {
    Bytes const whole = storage.bytes_of(path);
    loaders.expect_refusals(
        whole.size() + 9,
        [&](std::size_t length) {
          storage.bytes_of(path).resize(length < whole.size() ? length : length + 1);
          return Damaged{.path = path};
        },
        [&](std::size_t) { storage.bytes_of(path) = whole; });
  }
}

TEST(Damage, EveryFileIsMissedThatIsGone) {
  ADAMANT_NEEDS(4, Devices::shared);
  for (Mesh const& mesh : {two_ranks, with_replicas, cut_over_replicas}) {
    MemoryStorage storage;
    save_trained(storage, cut_config(mesh));
    Names const paths = paths_in(storage);
    Bytes removed;
    Loaders(storage, cut_config(mesh))
        .expect_refusals(
            paths.size(),
            [&](std::size_t k) {
              removed = storage.bytes_of(paths[k]);
              storage.remove(paths[k]);
              return Damaged{.path = paths[k]};
            },
            [&](std::size_t k) { storage.create(paths[k])->append(removed); });
  }
}

/// Names of files that a save by more ranks, or into more files a rank, could have left.
Names names_of_left_over_files(MemoryStorage& storage) {
  Names names;
  for (int rank = 0; rank < 5; ++rank)
    for (std::size_t count = 1; count <= 4; ++count)
      for (std::size_t index = 0; index < count; ++index)
        if (std::string const name = shard_file_name(rank, index, count);
            !storage.exists("c/" + name))
          names.push_back(name);
  return names;
}

TEST(Damage, EveryFileIsRefusedThatIsLeftOverFromASaveIntoOtherFiles) {
  ADAMANT_NEEDS(4, Devices::shared);
  for (Mesh const& mesh : {two_ranks, with_replicas, cut_over_replicas}) {
    MemoryStorage storage;
    save_trained(storage, cut_config(mesh));
    Names const names = names_of_left_over_files(storage);
    Bytes const content = storage.bytes_of(paths_in(storage).back());
    Loaders(storage, cut_config(mesh))
        .expect_refusals(
            names.size(),
            [&](std::size_t k) {
              storage.create("c/" + names[k])->append(content);
              return Damaged{.path = "c/" + names[k]};
            },
            [&](std::size_t k) { storage.remove("c/" + names[k]); });
  }
}

TEST(Damage, EveryFileIsMissedThatIsCalledAsOneOfMoreOrFewer) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, cut_config(cut_over_replicas));
  Names const paths = paths_in(storage);
  auto const renamed = [&](std::size_t k) { return paths[k + 1] + "-of-00009.safetensors"; };
  Loaders(storage, cut_config(cut_over_replicas))
      .expect_refusals(
          paths.size() - 1,
          [&](std::size_t k) {
            storage.rename(paths[k + 1], renamed(k));
            return Damaged{.path = paths[k + 1]};
          },
          [&](std::size_t k) { storage.rename(renamed(k), paths[k + 1]); });
}

TEST(Damage, FilesThatHaveChangedPlacesAreRefused) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, cut_config(cut_over_replicas));
  Names const paths = paths_in(storage);
  auto const swap = [&](std::size_t k) {
    std::swap(storage.bytes_of(paths[k]), storage.bytes_of(paths[k + 1]));
  };
  Loaders(storage, cut_config(cut_over_replicas))
      .expect_refusals(
          paths.size() - 1,
          [&](std::size_t k) {
            swap(k);
            return Damaged{.path = paths[k], .or_path = paths[k + 1]};
          },
          swap);
}

}  // namespace
}  // namespace adamant::real
