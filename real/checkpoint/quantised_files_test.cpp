// Files of quantised parameters as another program may have written them: what is wrong in them is
// refused by name, and nothing changes.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/testing/quantised_world.h"

namespace adamant::real {
namespace {

using Bytes = std::vector<std::byte>;
using Shape = std::vector<std::int64_t>;

struct Entry {
  std::string key;
  std::string dtype;
  Shape shape;
  Bytes bytes;
};

Entry floats(std::string const& key, Shape const& shape, float value) {
  auto const numel = static_cast<std::size_t>(numel_of(shape));
  return {key, "F32", shape, bytes_of_values(std::vector<float>(numel, value))};
}

Entry codes(std::string const& key, Shape const& shape, int value) {
  return {key, "U8", shape,
          Bytes(static_cast<std::size_t>(shape[0] * shape[1]), static_cast<std::byte>(value))};
}

void write_file(MemoryStorage& storage, std::vector<Entry> const& beside) {
  std::vector<Entry> entries = {
      floats("model.w", {128, 128}, 1), floats("optim.state.w.exp_avg", {128, 128}, 0),
      floats("optim.state.w.exp_avg_sq", {128, 128}, 0),
      floats("optim.state.w.main", {128, 128}, 1.1F), floats("optim.state.w.step", {}, 1)};
  entries.insert(entries.end(), beside.begin(), beside.end());
  std::vector<SavedPart> parts;
  for (Entry const& entry : entries)
    parts.push_back({.key = entry.key,
                     .dtype = entry.dtype,
                     .shape = entry.shape,
                     .offsets = Shape(entry.shape.size(), 0),
                     .global_shape = entry.shape});
  Bytes const header = encode_header(parts, {{"format", "pt"}});
  storage.make_directory("c");
  auto const file = storage.create("c/" + shard_file_name(0));
  file->append(header);
  for (Entry const& entry : entries) file->append(entry.bytes);
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(QuantisedFiles, WhatIsWrongInFilesIsRefusedByName) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::string const key = "model.w";
  Entry const raw = codes(key + "/raw", {128, 128}, 0x38);
  Entry const half = codes(key + "/raw", {128, 64}, 0x22);
  auto const scale = [&](float value) { return floats(key + "/scale", {1}, value); };
  auto const history = [&](float value) { return floats(key + "/history", {16}, value); };
  auto const next = [&](float value) { return floats(key + "/next_scale", {1}, value); };
  auto const amax = [&](float value) { return floats(key + "/amax", {1}, value); };
  auto const mx = [&](int value) { return codes(key + "/scale", {128, 4}, value); };
  auto const nv = [&](int value) { return codes(key + "/scale", {8, 8}, value); };
  struct Case {
    Recipe recipe;
    std::vector<Entry> entries;
    std::string message;
  };
  std::string const file = shard_file_name(0) + ": tensor ";
  std::vector<Case> const cases = {
      {Recipe::fp8_current, {raw, scale(0.5F)}, "not refused"},
      {Recipe::fp8_delayed, {raw, scale(0.5F), history(0), next(1)}, "not refused"},
      {Recipe::fp8_delayed, {raw, scale(0.5F), history(infinity), next(1)}, "not refused"},
      {Recipe::fp8_block, {raw, floats(key + "/scale", {1, 1}, 2)}, "not refused"},
      {Recipe::mxfp8, {raw, mx(0xfe)}, "not refused"},
      {Recipe::nvfp4, {half, nv(0x7e), amax(0)}, "not refused"},
      {Recipe::fp8_current, {raw}, "model.w/raw: is saved without model.w/scale"},
      {Recipe::fp8_current, {scale(1)}, "model.w/scale: is saved, but"},
      {Recipe::fp8_current, {raw, scale(-1)}, file + "model.w/scale: is -1.000000, expected"},
      {Recipe::fp8_current, {raw, scale(0)}, file + "model.w/scale: is 0.000000, expected"},
      {Recipe::fp8_current, {raw, scale(nan)}, file + "model.w/scale: is nan, expected"},
      {Recipe::fp8_current, {raw, scale(infinity)}, file + "model.w/scale: is inf, expected"},
      {Recipe::fp8_block, {raw, floats(key + "/scale", {2, 1}, 1)}, "model.w/scale: is F32 [2, 1]"},
      {Recipe::fp8_current, {raw, floats(key + "/scale", {2}, 1)}, "model.w/scale: is F32 [2]"},
      {Recipe::mxfp8, {raw, codes(key + "/scale", {128, 3}, 1)}, "model.w/scale: is U8 [128, 3]"},
      {Recipe::mxfp8, {raw, mx(0xff)}, file + "model.w/scale: is 255, expected the code"},
      {Recipe::nvfp4, {half, nv(0x80), amax(1)}, file + "model.w/scale: is 128, expected the code"},
      {Recipe::nvfp4, {half, nv(0x7f), amax(1)}, file + "model.w/scale: is 127, expected the code"},
      {Recipe::nvfp4, {half, nv(1), amax(-1)}, file + "model.w/amax: is -1.000000, expected"},
      {Recipe::nvfp4, {half, nv(1), amax(nan)}, file + "model.w/amax: is nan, expected"},
      {Recipe::nvfp4, {half, nv(1)}, "model.w/raw: is saved as nvfp4 without model.w/amax"},
      {Recipe::nvfp4,
       {raw, nv(1), amax(1)},
       "model.w/raw: is U8 [128, 128], expected U8 [128, 64]"},
      {Recipe::nvfp4, {half, scale(1), amax(1)}, "model.w/scale: is F32 [1], expected U8 [8, 8]"},
      {Recipe::nvfp4, {amax(1)}, "model.w/raw: is missing, expected U8 beside model.w/amax"},
      {Recipe::nvfp4,
       {floats(key + "/raw", {128, 64}, 1), nv(1), amax(1)},
       "model.w/raw: is saved as F32, expected U8 beside model.w/amax"},
      {Recipe::fp8_delayed,
       {scale(1), history(0), next(1)},
       "model.w/raw: is missing, expected U8 beside model.w/history"},
      {Recipe::fp8_delayed, {raw, scale(1), history(0)}, "without model.w/next_scale"},
      {Recipe::fp8_delayed, {raw, scale(1), next(1)}, "without model.w/history"},
      {Recipe::fp8_delayed, {raw, scale(1), history(-1), next(1)}, file + "model.w/history: is -1"},
      {Recipe::fp8_delayed, {raw, scale(1), history(nan), next(1)}, file + "model.w/history: is n"},
      {Recipe::fp8_delayed,
       {raw, scale(1), history(0), next(0)},
       file + "model.w/next_scale: is 0"},
      {Recipe::fp8_delayed,
       {raw, scale(1), history(0), next(1), amax(1)},
       "model.w/amax: is saved, but fp8_delayed"},
      {Recipe::fp8_delayed,
       {raw, scale(1)},
       "saved as F32, current fp8_delayed: 0x1.19999ap+0 would be rounded"},
      {Recipe::mxfp8,
       {raw, scale(1)},
       "model.w: made of optim.state.w.main, saved as F32, current mxfp8: 0x1.19999ap+0 would be "
       "rounded"}};
  for (Case const& each : cases) {
    MemoryStorage storage;
    write_file(storage, each.entries);
    in_world(2, config_of_weights(one_weight(formats_by(each.recipe))), [&](Rank& rank) {
      Quantised before;
      Quantised after;
      read_quantised(rank, before);
      std::string const message = try_load(rank, storage);
      EXPECT_TRUE(contains(message, each.message)) << message << "\nexpected " << each.message;
      read_quantised(rank, after);
      EXPECT_EQ(after == before, each.message != "not refused");
    });
  }
}

}  // namespace
}  // namespace adamant::real
