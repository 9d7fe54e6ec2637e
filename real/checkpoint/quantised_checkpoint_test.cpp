// Quantised parameters in checkpoints: what files have of them, that every bit comes back in every
// world, and what becomes of them in other types. What is wrong in files is in
// quantised_files_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/index.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/testing/quantised_world.h"

namespace adamant::real {
namespace {

using Bytes = std::vector<std::byte>;
using Shape = std::vector<std::int64_t>;

// A neighbour in bf16 and all recipes; mxfp8 of three dimensions.
std::vector<ParameterSpec> parameters() {
  return {{.name = "delayed", .shape = {4, 5}, .formats = formats_by(Recipe::fp8_delayed)},
          {.name = "plain",
           .shape = {5},
           .formats = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32}},
          {.name = "current", .shape = {3, 2, 4}, .formats = formats_by(Recipe::fp8_current)},
          {.name = "block", .shape = {128, 128}, .formats = formats_by(Recipe::fp8_block)},
          {.name = "mx", .shape = {2, 16, 32}, .unit = 1, .formats = formats_by(Recipe::mxfp8)},
          {.name = "nv", .shape = {32, 48}, .unit = 1, .formats = formats_by(Recipe::nvfp4)}};
}

/// What all ranks of a world have together.
struct Everything {
  State state;
  Quantised quantised;

  friend bool operator==(Everything const&, Everything const&) = default;
};

Everything in_world_of(int ranks, EngineConfig const& config,
                       std::function<void(Rank&)> const& body) {
  std::vector<Quantised> of_rank(static_cast<std::size_t>(ranks));
  Everything all;
  all.state = in_world(ranks, config, [&](Rank& rank) {
    body(rank);
    read_quantised(rank, of_rank[static_cast<std::size_t>(rank.number)]);
  });
  all.quantised = of_rank.front();
  for (std::size_t rank = 1; rank < of_rank.size(); ++rank)
    for (auto const& [p, part] : of_rank[rank]) {
      EXPECT_TRUE(part.has_scales_of(all.quantised.at(p))) << "rank " << rank;
      all.quantised.at(p).append(part);
    }
  return all;
}

// ---- the same types ----

TEST(QuantisedCheckpoint, EveryBitComesBackInEveryWorld) {
  ADAMANT_NEEDS(5, Devices::shared);
  EngineConfig const config = config_of_weights(parameters());
  auto const trained = [](int steps) {
    return [steps](Rank& rank) {
      rank.write_varied();
      rank.train(steps);
    };
  };
  Everything const later = in_world_of(1, config, trained(5));
  for (auto const& [saving, loading] : {std::pair(1, 3), {3, 1}, {3, 2}, {3, 5}}) {
    SCOPED_TRACE(std::to_string(saving) + " to " + std::to_string(loading));
    MemoryStorage storage;
    Everything const saved = in_world_of(saving, config, [&](Rank& rank) {
      trained(3)(rank);
      rank.engine->save(storage, "c");
    });
    EXPECT_EQ(in_world_of(loading, config, [&](Rank& rank) { rank.engine->load(storage, "c"); }),
              saved);
    EXPECT_EQ(in_world_of(loading, config,
                          [&](Rank& rank) {
                            rank.engine->load(storage, "c");
                            rank.train(2);
                          }),
              later);
  }
}

TEST(QuantisedCheckpoint, EveryBitComesBackWhereverStatesAre) {
  ADAMANT_NEEDS(2, Devices::shared);
  EngineConfig const config = config_of_weights(parameters());
  EngineConfig leaving = config;
  leaving.state_offload = StateOffloadConfig{};
  EngineConfig hybrid = config;
  hybrid.hybrid = HybridConfig{.fraction = 0.6};
  MemoryStorage storage;
  auto const save = [&](Rank& rank) {
    rank.write_varied();
    rank.train(3);
    rank.engine->save(storage, "c");
  };
  Everything const saved = in_world_of(2, config, save);
  for (EngineConfig const& other : {leaving, hybrid}) {
    EXPECT_EQ(in_world_of(2, other, save), saved);
    EXPECT_EQ(in_world_of(2, other, [&](Rank& rank) { rank.engine->load(storage, "c"); }), saved);
  }
}

// ---- what files have ----

Bytes bytes_of(MemoryStorage& storage, Checkpoint const& checkpoint, std::string const& key) {
  SavedTensor const& tensor = checkpoint.tensors.at(key);
  std::vector<SavedBox> boxes;
  for (SavedBox const box : tensor.boxes) boxes.push_back(box);
  std::ranges::sort(boxes, [](SavedBox const& a, SavedBox const& b) {
    return std::ranges::lexicographical_compare(a.offsets, b.offsets);
  });
  Bytes bytes;
  for (SavedBox const& box : boxes) {
    Bytes const& file =
        storage.bytes_of("c/" + checkpoint.files[static_cast<std::size_t>(box.file)].name);
    auto const first = file.begin() + static_cast<std::ptrdiff_t>(box.begin);
    auto const size = box.numel() * static_cast<std::int64_t>(*bytes_of_dtype(tensor.dtype));
    bytes.insert(bytes.end(), first, first + size);
  }
  return bytes;
}

using Kind = std::pair<std::string, Shape>;  // type and shape

TEST(QuantisedCheckpoint, FilesHaveValuesAndAllThatTheyAreMadeOf) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  std::vector<ParameterSpec> const specs = parameters();
  Everything const saved = in_world_of(3, config_of_weights(specs), [&](Rank& rank) {
    rank.write_varied();
    rank.train(2);
    rank.engine->save(storage, "c");
  });
  Checkpoint const checkpoint = open_checkpoint(storage, "c");
  std::map<std::string, Kind> found;
  for (auto const& [key, tensor] : checkpoint.tensors)
    if (key.starts_with("model.")) found[key] = {tensor.dtype, tensor.shape};
  std::map<std::string, Kind> const expected = {{"model.delayed", {"F32", {4, 5}}},
                                                {"model.delayed/raw", {"U8", {4, 5}}},
                                                {"model.delayed/scale", {"F32", {1}}},
                                                {"model.delayed/history", {"F32", {16}}},
                                                {"model.delayed/next_scale", {"F32", {1}}},
                                                {"model.plain", {"F32", {5}}},
                                                {"model.plain/raw", {"BF16", {5}}},
                                                {"model.current", {"F32", {3, 2, 4}}},
                                                {"model.current/raw", {"U8", {3, 2, 4}}},
                                                {"model.current/scale", {"F32", {1}}},
                                                {"model.block", {"F32", {128, 128}}},
                                                {"model.block/raw", {"U8", {128, 128}}},
                                                {"model.block/scale", {"F32", {1, 1}}},
                                                {"model.mx", {"F32", {2, 16, 32}}},
                                                {"model.mx/raw", {"U8", {2, 16, 32}}},
                                                {"model.mx/scale", {"U8", {32, 1}}},
                                                {"model.nv", {"F32", {32, 48}}},
                                                {"model.nv/raw", {"U8", {32, 24}}},
                                                {"model.nv/scale", {"U8", {2, 3}}},
                                                {"model.nv/amax", {"F32", {1}}}};
  EXPECT_EQ(found, expected);
  for (auto const& [p, whole] : saved.quantised) {
    std::string const key = model_key(specs[static_cast<std::size_t>(p)].name);
    SCOPED_TRACE(key);
    std::vector<float> values;
    for (std::int64_t i = 0; i < specs[static_cast<std::size_t>(p)].numel(); ++i)
      values.push_back(value_at(whole.view(), i));
    EXPECT_EQ(bytes_of(storage, checkpoint, key), bytes_of_values(values));
    EXPECT_EQ(bytes_of(storage, checkpoint, key + "/raw"), bytes_of_values(whole.codes));
    EXPECT_EQ(bytes_of(storage, checkpoint, key + "/scale"),
              whole.scale_codes.empty() ? bytes_of_values(whole.scales)
                                        : bytes_of_values(whole.scale_codes));
    if (expected.contains(key + "/amax")) {
      EXPECT_EQ(bytes_of(storage, checkpoint, key + "/amax"), bytes_of_values(whole.scales));
    }
    if (whole.delayed.empty()) continue;
    DelayedScale const& delayed = whole.delayed.front();
    EXPECT_EQ(bytes_of(storage, checkpoint, key + "/history"),
              bytes_of_values(std::vector(std::begin(delayed.history), std::end(delayed.history))));
    EXPECT_EQ(bytes_of(storage, checkpoint, key + "/next_scale"),
              bytes_of_values(std::vector{delayed.next}));
  }
}

// ---- other types ----

constexpr int parameter_index = 0;  // of the tensors of a state
constexpr int main_index = 3;

void expect_quantised_anew(Formats const& saving, EngineConfig const& loading) {
  MemoryStorage storage;
  Everything const saved = in_world_of(3, config_of_weights(one_weight(saving)), [&](Rank& rank) {
    rank.write_varied();
    rank.train(2);
    rank.engine->save(storage, "c");
  });
  Bytes const weights = saved.state[saving.main ? main_index : parameter_index];
  std::vector<float> const values = decoded(weights, NumberFormat::fp32);
  Everything written = in_world_of(
      2, loading, [&](Rank& rank) { rank.engine->write_parameter(parameter_index, values); });
  Everything const loaded = in_world_of(2, loading, [&](Rank& rank) {
    Quantised before;
    Quantised after;
    rank.train(1);
    read_quantised(rank, before);
    EXPECT_TRUE(contains(try_load(rank, storage), "incompatible: rank 0: tensor model.w: "));
    read_quantised(rank, after);
    EXPECT_EQ(after, before);
    EXPECT_EQ(try_load(rank, storage, {.may_round = {{.parameter = true}}}), "not refused");
  });
  EXPECT_EQ(loaded.quantised, written.quantised);
  EXPECT_EQ(loaded.state[main_index], weights);
}

TEST(QuantisedCheckpoint, FromOtherTypesAParameterIsQuantisedAnew) {
  ADAMANT_NEEDS(3, Devices::shared);
  Formats const wide = {};
  Formats const narrow = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  std::pair<Formats, Recipe> const cases[] = {
      {wide, Recipe::fp8_block},
      {narrow, Recipe::nvfp4},
      {formats_by(Recipe::fp8_block), Recipe::fp8_delayed},
      {formats_by(Recipe::fp8_delayed), Recipe::fp8_current},
      {formats_by(Recipe::fp8_current), Recipe::fp8_delayed},
      {formats_by(Recipe::nvfp4), Recipe::mxfp8}};
  for (auto const& [saving, recipe] : cases) {
    SCOPED_TRACE(name_of(recipe));
    expect_quantised_anew(saving, config_of_weights(one_weight(formats_by(recipe))));
  }
}

/// Weights that a recipe takes as they are. Shards cut blocks off from what their scales come from;
/// later rows are larger, so that no block has the scale of another one's.
std::vector<float> exact_weights(Recipe recipe) {
  bool const fp4 = recipe == Recipe::nvfp4;
  float const unit = fp4 ? 896 : 64;
  float const pattern[] = {0.5F, -1, 1.5F, 0, -2, 3, 4};
  std::vector<float> weights(128 * 128);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    bool const largest = i / 128 % 16 == 0 && i % 16 == 0;
    float const of_rows = i < 128 * 48 ? unit / 4 : i < 128 * 96 ? unit / 2 : unit;
    weights[i] = of_rows * (largest ? (fp4 ? 6.0F : 7.0F) : pattern[i % std::size(pattern)]);
  }
  return weights;
}

TEST(QuantisedCheckpoint, WhatIsTakenExactlyNeedsNoLeave) {
  ADAMANT_NEEDS(3, Devices::shared);
  for (Recipe const recipe : {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block,
                              Recipe::mxfp8, Recipe::nvfp4}) {
    SCOPED_TRACE(name_of(recipe));
    EngineConfig const loading = config_of_weights(one_weight(formats_by(recipe)));
    std::vector<float> weights = exact_weights(recipe);
    MemoryStorage storage;
    auto const save = [&](Rank& rank) {
      rank.engine->write_parameter(parameter_index, weights);
      rank.engine->save(storage, "c");
    };
    in_world_of(2, config_of_weights(one_weight({})), save);
    Everything const written = in_world_of(
        3, loading, [&](Rank& rank) { rank.engine->write_parameter(parameter_index, weights); });
    Everything const loaded = in_world_of(
        3, loading, [&](Rank& rank) { EXPECT_EQ(try_load(rank, storage), "not refused"); });
    EXPECT_EQ(loaded.quantised, written.quantised);
    weights.back() = 70;
    in_world_of(2, config_of_weights(one_weight({})), save);
    in_world_of(3, loading, [&](Rank& rank) {
      EXPECT_TRUE(contains(try_load(rank, storage), "0x1.18p+6 would be rounded"));
    });
  }
}

TEST(QuantisedCheckpoint, WhereverItsMainWeightIs) {
  ADAMANT_NEEDS(3, Devices::shared);
  EngineConfig leaving = config_of_weights(one_weight(formats_by(Recipe::fp8_current)));
  leaving.state_offload = StateOffloadConfig{};
  expect_quantised_anew(formats_by(Recipe::fp8_block), leaving);
  for (double const fraction : {0.3, 1.0}) {
    EngineConfig hybrid = config_of_weights(one_weight(formats_by(Recipe::fp8_current)));
    hybrid.hybrid = HybridConfig{.fraction = fraction};
    expect_quantised_anew(formats_by(Recipe::fp8_block), hybrid);
  }
}

TEST(QuantisedCheckpoint, IntoOtherTypesTheMainWeightIsTaken) {
  ADAMANT_NEEDS(3, Devices::shared);
  for (Recipe const recipe : {Recipe::fp8_delayed, Recipe::mxfp8, Recipe::nvfp4}) {
    MemoryStorage storage;
    Everything const saved =
        in_world_of(3, config_of_weights(one_weight(formats_by(recipe))), [&](Rank& rank) {
          rank.write_varied();
          rank.train(2);
          rank.engine->save(storage, "c");
        });
    Bytes const& weights = saved.state[main_index];
    LoadOptions const may = {.may_round = {{.parameter = true, .main = true}}};
    EngineConfig const wide = config_of_weights(one_weight({}));
    EXPECT_EQ(
        in_world_of(2, wide, [&](Rank& rank) { rank.engine->load(storage, "c", may); }).state[0],
        weights);
    EngineConfig const narrow = config_of_weights(
        one_weight({.parameter = NumberFormat::bf16, .main = NumberFormat::fp32}));
    Everything const loaded = in_world_of(2, narrow, [&](Rank& rank) {
      EXPECT_TRUE(contains(try_load(rank, storage), "would be rounded"));
      rank.engine->load(storage, "c", may);
    });
    EXPECT_EQ(loaded.state[main_index], weights);
    EXPECT_EQ(loaded.state[parameter_index],
              encoded(decoded(weights, NumberFormat::fp32), NumberFormat::bf16));
  }
}

TEST(QuantisedCheckpoint, DamageIsNoticedAlsoInWhatIsNotTaken) {
  ADAMANT_NEEDS(2, Devices::shared);
  EngineConfig const narrow =
      config_of_weights(one_weight({.parameter = NumberFormat::bf16, .main = NumberFormat::fp32}));
  for (std::string const key : {"model.w", "model.w/raw", "model.w/scale"}) {
    MemoryStorage storage;
    EngineConfig const config = config_of_weights(one_weight(formats_by(Recipe::mxfp8)));
    in_world_of(2, config, [&](Rank& rank) { rank.engine->save(storage, "c"); });
    {
      Checkpoint const checkpoint = open_checkpoint(storage, "c");
      SavedBox const box = checkpoint.tensors.at(key).boxes.back();
      std::string const& file = checkpoint.files[static_cast<std::size_t>(box.file)].name;
      storage.bytes_of("c/" + file)[box.begin] ^= std::byte{1};
    }
    EngineConfig const other = config_of_weights(one_weight(formats_by(Recipe::nvfp4)));
    for (EngineConfig const& loading : {config, narrow, other})
      in_world_of(2, loading, [&](Rank& rank) {
        EXPECT_TRUE(
            contains(try_load(rank, storage, {.may_round = {{.parameter = true, .main = true}}}),
                     "damaged: "))
            << key;
      });
  }
}

}  // namespace
}  // namespace adamant::real
