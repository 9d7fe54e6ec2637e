// What a load refuses, and what is left of an engine then, in worlds of simulated ranks or on GPUs.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/manifest.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/engine.h"
#include "real/testing/edited_files.h"
#include "real/testing/small_checkpoint.h"

namespace adamant::real {
namespace {

/// The refusal of a load, the same on every rank, and what is left of the engine then.
struct Refusal {
  std::string message = "not refused";
  CheckpointError::Kind kind = CheckpointError::Kind::damaged;
  bool has_state = false;
};

Refusal refused_load(MemoryStorage& storage, EngineConfig const& config = small_config()) {
  std::vector<Refusal> refusals(2);
  in_world(2, config, [&](Rank& rank) {
    bool const first = rank.engine->shard(0, TensorKind::parameter).ranges[0].begin == 0;
    Refusal& mine = refusals[first ? 0 : 1];
    mine = {};
    try {
      rank.engine->load(storage, "c");
    } catch (CheckpointError const& error) {
      mine = {error.what(), error.kind(), rank.engine->has_state()};
    }
  });
  EXPECT_EQ(refusals[0].message, refusals[1].message);
  EXPECT_EQ(refusals[0].has_state, refusals[1].has_state);
  return refusals[0];
}

std::string const manifest_path = std::string("c/") + manifest_name;

/// Adds a file with one number to the checkpoint, and to its manifest.
void add_number(MemoryStorage& storage, std::string const& key) {
  std::vector<SavedPart> parts = {
      {.key = key, .dtype = "F32", .shape = {1}, .offsets = {0}, .global_shape = {1}}};
  std::vector<std::byte> bytes = encode_header(parts, {{"format", "pt"}});
  bytes.resize(bytes.size() + sizeof(float));
  std::string const name = shard_file_name(9);
  storage.create("c/" + name)->append(bytes);
  edit_manifest(storage, [&](Manifest& manifest) {
    manifest.tensors.push_back({.key = key, .dtype = "F32", .shape = {1}});
    manifest.files.push_back(listed(name, bytes, manifest.piece_bytes));
  });
}

std::string const second_file = "c/" + shard_file_name(1);

TEST(Refusals, MissingAndLeftOverFilesAreRefusedByName) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, 4);
  auto const bytes = storage.bytes_of(second_file);
  storage.remove(second_file);
  Refusal refusal = refused_load(storage);
  EXPECT_EQ(refusal.message, "rank 0: " + second_file + ": is missing; the manifest lists it");
  EXPECT_TRUE(refusal.has_state);
  storage.create(second_file)->append(bytes);
  storage.create("c/" + shard_file_name(7))->append(bytes);
  refusal = refused_load(storage);
  EXPECT_EQ(refusal.message, "rank 0: c/" + shard_file_name(7) +
                                 ": the manifest does not list it: it is left over from another "
                                 "save");
  storage.remove("c/" + shard_file_name(7));
  storage.remove(std::string("c/") + manifest_name);
  refusal = refused_load(storage);
  EXPECT_NE(refusal.message.find("adamant.json: is missing"), std::string::npos);
}

TEST(Refusals, WhatIsNotThereIsRefusedByTheStorage) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  in_world(2, [&](Rank& rank) {
    EXPECT_THROW(rank.engine->load(storage, "c"), StorageError);
    EXPECT_TRUE(rank.engine->has_state());
    rank.train(1);
  });
}

TEST(Refusals, ATruncatedFileIsRefusedBeforeAnythingChanges) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, 2);
  storage.bytes_of(second_file).pop_back();
  Refusal const refusal = refused_load(storage);
  EXPECT_NE(refusal.message.find(second_file + ": has "), std::string::npos);
  EXPECT_TRUE(refusal.has_state);
}

TEST(Refusals, EveryFlippedByteIsNoticed) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, 2);
  std::size_t const size = storage.bytes_of(second_file).size();
  for (std::size_t at = 5; at < size; at += 61) {
    storage.bytes_of(second_file)[at] ^= std::byte{16};
    Refusal const refusal = refused_load(storage);
    EXPECT_NE(refusal.message.find(second_file), std::string::npos) << at << refusal.message;
    EXPECT_EQ(refusal.kind, CheckpointError::Kind::damaged);
    storage.bytes_of(second_file)[at] ^= std::byte{16};
  }
}

TEST(Refusals, AfterALoadThatFailedMidwayOnlyAnotherLoadIsAllowed) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  State const saved = save_trained(storage, 2);
  std::vector<std::byte> const good = storage.bytes_of(second_file);
  State const loaded = in_world(2, [&](Rank& rank) {
    storage.bytes_of(second_file) = good;
    storage.bytes_of(second_file).back() ^= std::byte{1};
    EXPECT_THROW(rank.engine->load(storage, "c"), CheckpointError);
    EXPECT_FALSE(rank.engine->has_state());
    EXPECT_EQ(rank.engine->shard(0, TensorKind::parameter).data, nullptr);
    EXPECT_THROW(rank.engine->step(), NoStateError);
    EXPECT_THROW(rank.engine->backward({}), NoStateError);
    EXPECT_THROW(rank.engine->zero_grad(true), NoStateError);
    EXPECT_THROW(rank.engine->save(storage, "d"), NoStateError);
    EXPECT_THROW(rank.engine->load(storage, "nothing"), std::runtime_error);
    EXPECT_FALSE(rank.engine->has_state());
    storage.bytes_of(second_file) = good;
    rank.engine->load(storage, "c");
    EXPECT_TRUE(rank.engine->has_state());
  });
  EXPECT_EQ(loaded, saved);
}

TEST(Refusals, OtherShapesFormatsAndGroupsAreRefusedByName) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, 2);
  EngineConfig config = small_config();
  config.parameters[0].shape = {8, 3};
  EXPECT_NE(refused_load(storage, config)
                .message.find("tensor model.embed: size mismatch: saved [7, 3], current [8, 3]"),
            std::string::npos);
  config = small_config();
  config.parameters[0].formats.exp_avg_sq = NumberFormat::bf16;
  EXPECT_NE(refused_load(storage, config)
                .message.find("tensor optim.state.embed.exp_avg_sq: saved as F32, current BF16"),
            std::string::npos);
  config = small_config();
  config.parameters[0].name = "renamed";
  EXPECT_NE(refused_load(storage, config).message.find("tensor model.renamed is not saved"),
            std::string::npos);
  config = small_config();
  config.parameters.pop_back();
  EXPECT_NE(refused_load(storage, config).message.find("split is saved, but"), std::string::npos);
  config = small_config();
  config.group_names[1] = "unheard";
  EXPECT_NE(refused_load(storage, config).message.find("group unheard is not saved"),
            std::string::npos);
  config = small_config();
  config.parameters[3].group = 1;
  Refusal const refusal = refused_load(storage, config);
  EXPECT_NE(refusal.message.find("group default: parameter head is in it as saved, not here"),
            std::string::npos);
  EXPECT_EQ(refusal.kind, CheckpointError::Kind::incompatible);
  EXPECT_TRUE(refusal.has_state);
}

TEST(Refusals, WhatStandsBesideAStepIsSavedAndNotWanted) {
  ADAMANT_NEEDS(2, Devices::shared);
  for (std::string const what : {"scale", "raw"}) {
    MemoryStorage storage;
    save_trained(storage, 2);
    std::string const key = state_key("embed", "step") + "/" + what;
    add_number(storage, key);
    Refusal const refusal = refused_load(storage);
    EXPECT_NE(refusal.message.find("tensor " + key + " is saved, but"), std::string::npos)
        << refusal.message;
    EXPECT_EQ(refusal.kind, CheckpointError::Kind::incompatible);
    EXPECT_TRUE(refusal.has_state);
  }
}

TEST(Refusals, AManifestThatCannotBeIsRefusedBeforeAnythingChanges) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::vector<std::pair<std::function<void(Manifest&)>, std::string>> const cases = {
      {[](Manifest& manifest) { manifest.progress.groups[0].step = -1; },
       "group default: step is -1, expected a whole number from 0 to 2^53"},
      {[](Manifest& manifest) { manifest.progress.parameter_steps.erase("head"); },
       "parameter_steps: has none of parameter head"},
      {[](Manifest& manifest) {
         manifest.progress.numbers = {{"clip", -1}};
       },
       "numbers: clip is -1, expected a binary32 number above 0"}};
  for (auto const& [edit, message] : cases) {
    MemoryStorage storage;
    save_trained(storage, 2);
    edit_manifest(storage, edit);
    Refusal const refusal = refused_load(storage);
    EXPECT_NE(refusal.message.find(manifest_path + ": " + message), std::string::npos)
        << refusal.message;
    EXPECT_EQ(refusal.kind, CheckpointError::Kind::damaged);
    EXPECT_TRUE(refusal.has_state);
  }
}

}  // namespace
}  // namespace adamant::real
