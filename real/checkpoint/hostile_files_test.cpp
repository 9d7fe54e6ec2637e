// Checkpoints of several files a rank whose checksums are right and whose headers are not: whatever
// boxes, parts and keys say is checked against the others, and refused by name before anything of
// an engine changes.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "real/checkpoint/names.h"
#include "real/testing/cut_world.h"
#include "real/testing/edited_files.h"
#include "real/testing/memory_storage.h"

namespace adamant::real {
namespace {

using Extents = std::vector<std::int64_t>;
using Kind = CheckpointError::Kind;
using Edit = std::function<void(MemoryStorage&)>;

// What two ranks save of w, which is [7, 5]: rows 0 to 5, and the beginning of row 6 and its end.
std::string const rows = shard_file_name(0, 0, 2);
std::string const beginning = shard_file_name(0, 1, 2);
std::string const end = shard_file_name(1, 0, 1);

void save_trained(MemoryStorage& storage, EngineConfig const& config) {
  in_cut_world(config, [&](Rank& rank, Meet const&) {
    rank.write(0.1F);
    rank.train(2);
    rank.engine->save(storage, "c");
  });
}

/// The refusal of a load, the same on all ranks, which have all that they had.
LoadOutcome refused_load(MemoryStorage& storage, EngineConfig const& config) {
  std::vector<LoadOutcome> outcomes(static_cast<std::size_t>(config.mesh.rank_count()));
  in_cut_world(config, [&](Rank& rank, Meet const&) {
    rank.train(1);
    State const before = state_of(rank);
    outcomes[static_cast<std::size_t>(rank.number)] = outcome_of_load(rank, storage);
    EXPECT_TRUE(rank.engine->has_state());
    EXPECT_EQ(state_of(rank), before);
  });
  for (LoadOutcome const& outcome : outcomes) EXPECT_EQ(outcome, outcomes.front());
  return outcomes.front();
}

struct Case {
  Edit edit;
  std::string message;  // that is a part of the refusal
};

void expect_refusals(EngineConfig const& config, Kind kind, std::vector<Case> const& cases) {
  for (auto const& [edit, message] : cases) {
    MemoryStorage storage;
    save_trained(storage, config);
    edit(storage);
    LoadOutcome const outcome = refused_load(storage, config);
    EXPECT_NE(outcome.refusal.find(message), std::string::npos) << message << "\n"
                                                                << outcome.refusal;
    EXPECT_EQ(outcome.kind, kind) << message;
  }
}

/// Another box of a tensor in a file.
Edit box(std::string const& file, std::string const& key, Extents const& shape,
         Extents const& offsets) {
  return [=](MemoryStorage& storage) {
    edit_file(storage, file, [&](FileEntries& entries) {
      SavedPart& part = entry_of(entries, key).part;
      if (shape.size() != part.shape.size()) part.global_shape.clear();
      part.shape = shape;
      part.offsets = offsets;
    });
  };
}

Edit in_file(std::string const& file, std::function<void(FileEntries&)> const& edit) {
  return [=](MemoryStorage& storage) { edit_file(storage, file, edit); };
}

SavedPart part_in(MemoryStorage& storage, std::string const& file, std::string const& key) {
  FileEntries entries = entries_of(storage, "c/" + file);
  return entry_of(entries, key).part;
}

// What the cases below start from.
TEST(HostileFiles, WhatIsWrittenAgainAsItWasIsLoaded) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, cut_config(two_ranks));
  EXPECT_EQ(part_in(storage, rows, "model.w").shape, (Extents{6, 5}));
  EXPECT_EQ(part_in(storage, beginning, "model.w").shape, (Extents{1, 2}));
  EXPECT_EQ(part_in(storage, end, "model.w").offsets, (Extents{6, 2}));
  for (std::string const& file : {rows, beginning, end})
    edit_file(storage, file, [](FileEntries&) {});
  in_cut_world(cut_config(two_ranks), [&](Rank& rank, Meet const&) {
    EXPECT_EQ(outcome_of_load(rank, storage).refusal, "not refused");
  });
}

TEST(HostileFiles, BoxesThatOverlapAreRefusedInOneFileOfARankOrAnother) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::string const key = "optim.state.w.exp_avg";
  std::string const first = "c/" + rows + " ([6, 5] at [0, 0])";
  expect_refusals(
      cut_config(two_ranks), Kind::damaged,
      {{box(beginning, key, {1, 2}, {5, 3}), "tensor " + key + ": the parts in " + first +
                                                 " and c/" + beginning +
                                                 " ([1, 2] at [5, 3]) overlap"},
       {box(beginning, key, {6, 5}, {0, 0}), "tensor " + key + ": the parts in " + first +
                                                 " and c/" + beginning +
                                                 " ([6, 5] at [0, 0]) overlap"},
       {box(end, key, {1, 3}, {6, 1}), "tensor " + key + ": the parts in c/" + beginning +
                                           " ([1, 2] at [6, 0]) and c/" + end +
                                           " ([1, 3] at [6, 1]) overlap"},
       {box(end, key, {7, 5}, {0, 0}), "tensor " + key + ": the parts in " + first + " and c/" +
                                           end + " ([7, 5] at [0, 0]) overlap"}});
}

TEST(HostileFiles, HolesBetweenFilesOfARankAreRefused) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::string const key = "model.w";
  std::string const hole =
      " of 35 elements of [7, 5] are saved; the first that is missing is in row ";
  expect_refusals(cut_config(two_ranks), Kind::damaged,
                  {{box(beginning, key, {1, 1}, {6, 0}), "tensor " + key + ": 34" + hole + "7"},
                   {box(beginning, key, {0, 5}, {7, 0}), "tensor " + key + ": 33" + hole + "7"},
                   {box(rows, key, {5, 5}, {1, 0}), "tensor " + key + ": 30" + hole + "0"},
                   {in_file(beginning,
                            [](FileEntries& entries) {
                              std::erase_if(entries, [](FileEntry const& entry) {
                                return entry.part.key == "model.w";
                              });
                            }),
                    "tensor " + key + ": 33" + hole + "7"}});
}

TEST(HostileFiles, BoxesThatReachOutOfTheWholeAreRefused) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::string const key = "model.w";
  std::string const part = "tensor model.w: the part in c/" + beginning + " (";
  std::int64_t const most = std::int64_t{1} << 53;
  expect_refusals(
      cut_config(two_ranks), Kind::damaged,
      {{box(beginning, key, {1, 2}, {7, 0}),
        part + "[1, 2] at [7, 0]) lies outside the whole [7, 5]"},
       {box(beginning, key, {1, 2}, {6, 4}), part + "[1, 2] at [6, 4]) lies outside the whole"},
       {box(beginning, key, {1, 2}, {most, most}), part + "[1, 2] at ["},
       {box(beginning, key, {2}, {30}), part + "[2] at [30]) lies outside the whole [7, 5]"},
       {box(beginning, key, {1, 2, 1}, {6, 0, 0}), part + "[1, 2, 1] at [6, 0, 0]) lies outside"},
       {box(end, key, {4, 3}, {6, 2}), "tensor model.w: the part in c/" + end}});
}

TEST(HostileFiles, TypesAndKeysOfASecondFileAreThoseOfTheFirst) {
  ADAMANT_NEEDS(2, Devices::shared);
  expect_refusals(
      cut_config(two_ranks), Kind::damaged,
      {{in_file(beginning,
                [](FileEntries& entries) { entry_of(entries, "model.w").part.dtype = "BF16"; }),
        "c/" + beginning + ": tensor model.w: is stored as BF16, elsewhere as F32"},
       {in_file(beginning,
                [](FileEntries& entries) { entry_of(entries, "model.w").part.key = "model.v"; }),
        "c/" + beginning + ": tensor model.v: the manifest does not list it"}});
}

TEST(HostileFiles, WhatAReplicaHasTooIsWrittenByOneAlone) {
  ADAMANT_NEEDS(4, Devices::shared);
  auto const twice = [](MemoryStorage& storage) {
    FileEntries from = entries_of(storage, "c/" + beginning);
    edit_file(storage, shard_file_name(2), [&](FileEntries& entries) {
      entries.push_back(entry_of(from, "optim.state.w.exp_avg_sq"));
    });
  };
  expect_refusals(cut_config(with_replicas), Kind::damaged,
                  {{twice, "tensor optim.state.w.exp_avg_sq: the parts in c/" + beginning +
                               " ([1, 2] at [6, 0]) and c/" + shard_file_name(2) +
                               " ([1, 2] at [6, 0]) overlap"}});
}

/// Every file's entries, and the manifest's lists of tensors.
void edit_everywhere(MemoryStorage& storage, std::string const& key,
                     std::function<void(FileEntries&)> const& edit,
                     std::function<void(std::vector<ManifestTensor>&)> const& edit_list) {
  for (DirectoryEntry const& entry : storage.list("c"))
    if (is_shard_file(entry.name))
      edit_file(storage, entry.name, [&](FileEntries& entries) {
        bool const has =
            std::ranges::any_of(entries, [&](FileEntry const& is) { return is.part.key == key; });
        if (has) edit(entries);
      });
  edit_manifest(storage, [&](Manifest& manifest) { edit_list(manifest.tensors); });
}

Edit without(std::string const& key) {
  return [=](MemoryStorage& storage) {
    edit_everywhere(
        storage, key,
        [&](FileEntries& entries) {
          std::erase_if(entries, [&](FileEntry const& entry) { return entry.part.key == key; });
        },
        [&](std::vector<ManifestTensor>& tensors) {
          std::erase_if(tensors, [&](ManifestTensor const& tensor) { return tensor.key == key; });
        });
  };
}

/// The same key with another type and other rows, in all files.
Edit another(std::string const& key, std::string const& dtype, std::int64_t shape_rows) {
  return [=](MemoryStorage& storage) {
    edit_everywhere(
        storage, key,
        [&](FileEntries& entries) {
          SavedPart& part = entry_of(entries, key).part;
          part.dtype = dtype;
          if (part.numel() == 0) part.offsets.front() = shape_rows;
          if (part.numel() != 0) part.shape.front() = shape_rows;
        },
        [&](std::vector<ManifestTensor>& tensors) {
          for (ManifestTensor& tensor : tensors) {
            if (tensor.key != key) continue;
            tensor.dtype = dtype;
            tensor.shape.front() = shape_rows;
          }
        });
  };
}

TEST(HostileFiles, PartsOfAParameterAreAlikeAndAllThere) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::string const gate = "model.fused.gate";
  std::string const state = "optim.state.fused.";
  expect_refusals(
      cut_config(two_ranks), Kind::incompatible,
      {{another(gate, "BF16", 3), "tensor " + gate + ": is BF16 [3, 3], expected F32 [3, 3] as "},
       {another(gate, "F32", 2), "tensor " + gate + ": is F32 [2, 3], expected F32 [3, 3] as "},
       {another(state + "gate.exp_avg", "F16", 3), "tensor " + state + "gate.exp_avg: is F16"},
       {without(gate), "tensor model.fused is not saved"},
       {without("model.fused.up"), "tensor model.fused is not saved"},
       {without(state + "up.exp_avg_sq"), "tensor " + state + "exp_avg_sq is not saved"},
       {without(state + "gate.step"), "tensor " + state + "step is not saved"}});
}

TEST(HostileFiles, WhatStandsBesidePartsStandsBesideAll) {
  ADAMANT_NEEDS(2, Devices::shared);
  EngineConfig const config = cut_config(two_ranks, scaled_formats());
  std::string const state = "optim.state.fused.";
  expect_refusals(config, Kind::damaged,
                  {{without("model.fused.gate/raw"),
                    "tensor model.fused.gate/raw: is missing, other parts of model.fused have it"},
                   {without(state + "up.exp_avg/scale"),
                    "tensor " + state + "up.exp_avg/scale: is missing, other parts of " + state}});
  Edit const other_scale = in_file(end, [&](FileEntries& entries) {
    entry_of(entries, state + "gate.exp_avg/scale").data.back() ^= std::byte{1};
  });
  expect_refusals(
      config, Kind::incompatible,
      {{without(state + "gate.main"), "tensor " + state + "gate.main is not saved, other parts"},
       {other_scale, "tensor " + state + "gate.exp_avg/scale: is not the same as " + state +
                         "up.exp_avg/scale"}});
}

/// A tensor in the first file of the first rank, whole, that is not there.
Edit added(std::string const& key, Extents const& shape) {
  return [=](MemoryStorage& storage) {
    edit_file(storage, rows, [&](FileEntries& entries) {
      entries.push_back({.part = {.key = key,
                                  .dtype = "F32",
                                  .shape = shape,
                                  .offsets = Extents(shape.size(), 0),
                                  .global_shape = shape}});
    });
    edit_manifest(storage, [&](Manifest& manifest) {
      manifest.tensors.push_back({.key = key, .dtype = "F32", .shape = shape});
    });
  };
}

TEST(HostileFiles, AWholeBesideItsPartsIsRefused) {
  ADAMANT_NEEDS(2, Devices::shared);
  expect_refusals(
      cut_config(two_ranks), Kind::incompatible,
      {{added("model.fused", {6, 3}),
        "tensor model.fused: is saved as a whole and as the part model.fused.up"},
       {added("optim.state.fused.step", {}), "tensor optim.state.fused.step: is saved as a whole"},
       {added("model.fused.down", {3, 3}), "tensor model.fused.down is saved, but there is none"}});
}

/// Moves the scale of the second shard's states into a second file of the first.
void move_scale(MemoryStorage& storage) {
  std::string const key = "optim.state.w.exp_avg/scale";
  FileEntry const scale = [&] {
    FileEntries entries = entries_of(storage, "c/" + end);
    return entry_of(entries, key);
  }();
  edit_file(storage, end, [&](FileEntries& entries) {
    std::erase_if(entries, [&](FileEntry const& entry) { return entry.part.key == key; });
  });
  edit_file(storage, beginning, [&](FileEntries& entries) { entries.push_back(scale); });
}

TEST(HostileFiles, ScalesOfShardsAreOneForEachThatHasElements) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::string const key = "optim.state.w.exp_avg/scale";
  expect_refusals(cut_config(two_ranks, scaled_formats()), Kind::damaged,
                  {{move_scale, "tensor " + key + ": has "},
                   {box(end, key, {1}, {0}), "tensor " + key + ": the parts in c/"},
                   {box(end, key, {1}, {2}), "tensor " + key + ": the part in c/" + end},
                   {another(key, "F32", 3), "tensor " + key + ": "}});
}

TEST(HostileFiles, StepsAreOneNumberEach) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::string const key = "optim.state.fused.gate.step";
  auto const shaped = [&](Extents const& shape) {
    return [=](MemoryStorage& storage) {
      without(key)(storage);
      added(key, shape)(storage);
    };
  };
  expect_refusals(cut_config(two_ranks), Kind::damaged,
                  {{shaped({0}), "tensor " + key + ": is F32 [0], expected one F32"},
                   {shaped({2}), "tensor " + key + ": is F32 [2], expected one F32"}});
}

TEST(HostileFiles, PartsOfAParameterShareTheirSteps) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::string const key = "optim.state.fused.gate.step";
  Edit const other = [&](MemoryStorage& storage) {
    for (std::string const& file : {rows, beginning, end})
      edit_file(storage, file, [&](FileEntries& entries) {
        for (FileEntry& entry : entries)
          if (entry.part.key == key) entry.data.back() ^= std::byte{1};
      });
  };
  expect_refusals(
      cut_config(two_ranks), Kind::incompatible,
      {{other, "parameter fused: its part fused.up was stepped 2 times, fused.gate 8"}});
}

}  // namespace
}  // namespace adamant::real
