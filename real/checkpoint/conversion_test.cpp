// Tensors in every type that an engine may have, saved by one world and loaded by another in the
// same types or in others: shards in host memory, as no engine is needed to tell their bytes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/safetensors.h"
#include "real/testing/parameter_on_host.h"

namespace adamant::real {
namespace {

using namespace parameter_on_host;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

std::vector<Formats> all_formats() {
  std::vector<Formats> all;
  for (NumberFormat const state :
       {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp8})
    for (StateScale const scale : {StateScale::global, StateScale::local}) {
      Formats formats{.parameter = NumberFormat::bf16, .exp_avg = state, .state_scale = scale};
      formats.exp_avg_sq = state == NumberFormat::bf16 ? NumberFormat::fp8 : state;
      for (auto const main :
           {std::optional<NumberFormat>(), std::optional(NumberFormat::fp32),
            std::optional(NumberFormat::fp16), std::optional(NumberFormat::remainder)}) {
        formats.main = main;
        all.push_back(formats);
      }
      formats.main = NumberFormat::bf16;
      formats.parameter = NumberFormat::fp16;
      all.push_back(formats);
    }
  return all;
}

TEST(Conversion, TheSameTypesKeepEveryBit) {
  ADAMANT_NEEDS(4, Devices::shared);
  constexpr std::size_t piece_bytes[] = {1, 7, 64};
  std::vector<Formats> const all = all_formats();
  for (std::size_t i = 0; i < all.size(); ++i) {
    World const saving = {.ranks = 3, .formats = all[i]};
    MemoryStorage storage;
    Whole const saved = save(saving, storage, {}, piece_bytes[i % 3]);
    EXPECT_EQ(load(saving, storage), saved);
    if (all[i].state_scale == StateScale::local) continue;
    int const ranks = i % 2 == 0 ? 2 : 4;
    Whole const loaded = load({.ranks = ranks, .formats = all[i]}, storage);
    for (std::size_t k = 0; k < loaded.size(); ++k) {
      EXPECT_EQ(loaded[k].bytes, saved[k].bytes);
      for (float const scale : loaded[k].scales) EXPECT_EQ(scale, saved[k].scales[0]);
    }
  }
}

/// Does each load take the numbers of this kind as they were stored?
bool stays(World const& saving, World const& loading, TensorKind kind) {
  bool const both_local = saving.formats.state_scale == StateScale::local &&
                          loading.formats.state_scale == StateScale::local;
  auto const format = format_of_kind(saving.formats, kind);
  if (format != format_of_kind(loading.formats, kind)) return false;
  bool const global = saving.formats.state_scale == StateScale::global &&
                      loading.formats.state_scale == StateScale::global;
  return !has_scale(kind, *format) || global || (both_local && saving.ranks == loading.ranks);
}

TEST(Conversion, OtherTypesAreStoredAnewFromWhatTheirsAreWorth) {
  ADAMANT_NEEDS(3, Devices::shared);
  std::vector<Formats> const all = all_formats();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i % 11; j < all.size(); j += 11) {
      World const saving = {.ranks = 3, .formats = all[i]};
      World const loading = {.ranks = j % 2 == 0 ? 2 : 3, .formats = all[j]};
      MemoryStorage storage;
      Given const given;
      save(saving, storage, given, 13);
      Whole const expected = filled(loading, converted(saving, loading, given));
      Whole const loaded = load(loading, storage, anything);
      for (TensorKind const kind : kinds) {
        auto const k = static_cast<std::size_t>(kind);
        if (!format_of_kind(loading.formats, kind) || stays(saving, loading, kind)) continue;
        EXPECT_EQ(loaded[k], expected[k]) << i << " to " << j << ": " << name_of(kind);
      }
    }
}

Formats with_moments(NumberFormat format, StateScale scale = StateScale::global) {
  return {.exp_avg = format, .exp_avg_sq = format, .state_scale = scale};
}

TEST(Conversion, ScalesOfShardsStayWhereEveryShardIsWhatItWas) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  Formats const local = with_moments(NumberFormat::fp16, StateScale::local);
  Whole const saved = save({.ranks = 4, .formats = local}, storage);
  auto const k = static_cast<std::size_t>(TensorKind::exp_avg);
  EXPECT_NE(saved[k].scales[0], saved[k].scales[2]);
  EXPECT_EQ(load({.ranks = 4, .formats = local}, storage)[k], saved[k]);
  EXPECT_NE(load({.ranks = 2, .formats = local}, storage)[k].bytes, saved[k].bytes);
  Formats const global = with_moments(NumberFormat::fp16);
  EXPECT_NE(load({.ranks = 4, .formats = global}, storage)[k].bytes, saved[k].bytes);
}

TEST(Conversion, OneShardHasTheScaleOfTheWhole) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  Formats const local = with_moments(NumberFormat::fp8, StateScale::local);
  Formats const global = with_moments(NumberFormat::fp8);
  Whole const saved = save({.ranks = 1, .formats = local}, storage);
  auto const k = static_cast<std::size_t>(TensorKind::exp_avg_sq);
  EXPECT_EQ(load({.ranks = 3, .formats = global}, storage)[k].bytes, saved[k].bytes);
  Whole const whole = save({.ranks = 3, .formats = global}, storage);
  EXPECT_EQ(load({.ranks = 1, .formats = local}, storage)[k].bytes, whole[k].bytes);
}

TEST(Conversion, ScalesThatStayAreNotThoseOfTheNumbers) {
  ADAMANT_NEEDS(2, Devices::shared);
  World const world = {.ranks = 2, .formats = with_moments(NumberFormat::fp8)};
  MemoryStorage storage;
  in_world(world, storage, 64, [&](CheckpointPlace const& place, HostParameter& parameter) {
    fill(parameter, world, place.where.rank, {});
    parameter.write(TensorKind::exp_avg, Bytes(numel, std::byte{0x38}), 0.75F);  // 1 times
    save_checkpoint(place, parameter.described());
  });
  Stored const loaded = load(world, storage)[static_cast<std::size_t>(TensorKind::exp_avg)];
  EXPECT_EQ(loaded.bytes, Bytes(numel, std::byte{0x38}));
  EXPECT_EQ(loaded.scales, (Values{0.75F, 0.75F}));
}

TEST(Conversion, NumbersThatAreNotFiniteConvertAsAStepStoresThem) {
  ADAMANT_NEEDS(3, Devices::shared);
  Given given;
  given.exp_avg = {nan, infinity, -infinity, 3.5F, -0.0F, 448.0F, nan};
  given.exp_avg_sq = {nan, infinity, nan, infinity, nan, infinity, nan};
  given.weight = {nan, infinity, -infinity, 0.0F, 1.0F, 2.0F, 3.0F};
  World const saving = {.ranks = 3, .formats = {.main = {}}};
  World loading = {.ranks = 2, .formats = with_moments(NumberFormat::fp8)};
  loading.formats.parameter = NumberFormat::bf16;
  loading.formats.main = NumberFormat::remainder;
  MemoryStorage storage;
  save(saving, storage, given);
  EXPECT_EQ(load(loading, storage, anything), filled(loading, given));
}

// ---- what may not be rounded ----

TEST(Conversion, WhatNobodyNamesHasToBeKept) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  save({.ranks = 3, .formats = {.main = {}}}, storage);
  struct Case {
    Formats formats;
    bool MayRound::*named;
    std::string key;
  };
  Case const cases[] = {
      {{.parameter = NumberFormat::bf16}, &MayRound::parameter, "model.w"},
      {{.exp_avg = NumberFormat::fp8}, &MayRound::exp_avg, "optim.state.w.exp_avg"},
      {{.exp_avg_sq = NumberFormat::bf16}, &MayRound::exp_avg_sq, "optim.state.w.exp_avg_sq"},
      {{.main = NumberFormat::fp16}, &MayRound::main, "optim.state.w.main: made of model.w,"}};
  for (Case const& each : cases) {
    World const world = {.ranks = 2, .formats = each.formats};
    EXPECT_TRUE(contains(refusal_of(world, storage), "tensor " + each.key));
    EXPECT_TRUE(contains(refusal_of(world, storage), " saved as F32, current "));
    MayRound others = {.parameter = true, .main = true, .exp_avg = true, .exp_avg_sq = true};
    others.*each.named = false;
    EXPECT_TRUE(contains(refusal_of(world, storage, {.may_round = {others}}), each.key));
    MayRound only;
    only.*each.named = true;
    EXPECT_EQ(refusal_of(world, storage, {.may_round = {only}}), "not refused");
  }
}

TEST(Conversion, WhatNobodyNamesIsConvertedWhereEveryNumberIsKept) {
  ADAMANT_NEEDS(3, Devices::shared);
  Given given;
  given.weight = {1.0F, -2.0F, 0.5F, 0.0F, -0.0F, nan, infinity};
  given.exp_avg = {448.0F, -448.0F, 28.0F, 0.0F, -0.0F, nan, 1.75F};
  given.exp_avg_sq = Values(numel, 0.0F);
  World const narrow = {.ranks = 2,
                        .formats = {.parameter = NumberFormat::bf16,
                                    .exp_avg = NumberFormat::fp8,
                                    .exp_avg_sq = NumberFormat::fp16,
                                    .main = NumberFormat::remainder}};
  World const wide = {.ranks = 3, .formats = {.main = {}}};
  MemoryStorage storage;
  save(wide, storage, given);
  EXPECT_EQ(load(narrow, storage), filled(narrow, given));
  given.weight[5] = 2.0F;  // NaN has many bits
  save(narrow, storage, given);
  EXPECT_EQ(load(wide, storage)[0], filled(wide, given)[0]);
  given.exp_avg[6] = 1.7F;
  save(wide, storage, given);
  EXPECT_TRUE(contains(refusal_of(narrow, storage), "optim.state.w.exp_avg"));
}

TEST(Conversion, AMainWeightThatGoesIsRoundedIntoItsParameter) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  Formats formats = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  save({.ranks = 2, .formats = formats}, storage);
  formats.main.reset();
  World const without = {.ranks = 2, .formats = formats};
  EXPECT_TRUE(contains(refusal_of(without, storage), "tensor model.w: "));
  Whole const loaded = load(without, storage, {.may_round = {{.main = true}}});
  EXPECT_EQ(loaded[0], filled(without, {})[0]);
  formats.parameter = NumberFormat::fp32;
  World const all_bits = {.ranks = 2, .formats = formats};
  EXPECT_EQ(load(all_bits, storage)[0], filled(all_bits, {})[0]);
}

// ---- files of others, and what is wrong in files ----

struct Entry {
  std::string key;
  std::string dtype;
  std::vector<std::int64_t> shape;
  Bytes bytes;
};

Bytes bytes_of_values(Values const& values) {
  auto const bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Files without a manifest that have the whole parameter `w`, as fp32 but for what is given.
std::vector<Entry> plain_entries() {
  Values const values(numel, 1.0F);
  return {{"model.w", "F32", {numel}, bytes_of_values(values)},
          {"optim.state.w.exp_avg", "F32", {numel}, bytes_of_values(values)},
          {"optim.state.w.exp_avg_sq", "F32", {numel}, bytes_of_values(values)},
          {"optim.state.w.step", "F32", {}, bytes_of_values({2.0F})}};
}

void write_file(MemoryStorage& storage, std::vector<Entry> const& entries) {
  std::vector<SavedPart> parts;
  for (Entry const& entry : entries)
    parts.push_back({.key = entry.key,
                     .dtype = entry.dtype,
                     .shape = entry.shape,
                     .offsets = std::vector<std::int64_t>(entry.shape.size(), 0),
                     .global_shape = entry.shape});
  std::vector<std::byte> const header = encode_header(parts, {{"format", "pt"}});
  if (!storage.exists("c")) storage.make_directory("c");
  auto const file = storage.create("c/" + shard_file_name(0));
  file->append(header);
  for (Entry const& entry : entries) file->append(entry.bytes);
}

TEST(Conversion, OthersKeepNumbersUnderTheKeyAloneAsTheyAreStored) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  auto entries = plain_entries();
  Given const given;
  entries[0] = {"model.w", "BF16", {numel}, encoded(given.weight, NumberFormat::bf16)};
  write_file(storage, entries);
  World const same = {.ranks = 2, .formats = {.parameter = NumberFormat::bf16}};
  EXPECT_EQ(load(same, storage)[0].bytes, entries[0].bytes);
  World const wide = {.ranks = 2, .formats = {.main = {}}};
  EXPECT_EQ(load(wide, storage)[0].bytes,
            bytes_of_values(decoded(entries[0].bytes, NumberFormat::bf16)));
}

TEST(Conversion, WhatIsWrongInFilesIsRefusedByName) {
  ADAMANT_NEEDS(2, Devices::shared);
  World const world = {.ranks = 2, .formats = with_moments(NumberFormat::fp8)};
  std::string const key = "optim.state.w.exp_avg";
  Bytes const raw(numel, std::byte{0x38});
  struct Case {
    std::vector<Entry> entries;
    std::string message;
  };
  auto const scale_of = [&](float scale) {
    return std::vector<Entry>{{key + "/raw", "U8", {numel}, raw},
                              {key + "/scale", "F32", {1}, bytes_of_values({scale})}};
  };
  std::vector<Case> const cases = {
      {{{key + "/raw", "U8", {numel}, raw}}, key + "/raw: is saved without " + key + "/scale"},
      {{{key + "/scale", "F32", {1}, bytes_of_values({1.0F})}}, key + "/scale: is saved, but"},
      {scale_of(0.0F), key + "/scale: is 0x0p+0, expected a finite number above 0"},
      {scale_of(-1.0F), key + "/scale: is -0x1p+0"},
      {scale_of(infinity), key + "/scale: is inf"},
      {scale_of(nan), key + "/scale: is nan"},
      {{{key + "/raw", "U8", {numel}, raw}, {key + "/scale", "F32", {2}, bytes_of_values({1, 1})}},
       key + "/scale: is [2], expected [1]"},
      {{{key + "/raw", "U8", {numel}, raw}, {key + "/scale", "F32", {}, bytes_of_values({1})}},
       key + "/scale: is [], expected [1]"},
      {{{key + "/raw", "U8", {numel}, raw}, {key + "/scale", "BF16", {1}, Bytes(2)}},
       key + "/scale: is saved as BF16, expected F32"},
      {{{key + "/raw", "I8", {numel}, raw}, {key + "/scale", "F32", {1}, bytes_of_values({1})}},
       key + "/raw: is saved as I8"},
      {{{key + "/raw", "U8", {1, numel}, raw}, {key + "/scale", "F32", {1}, bytes_of_values({1})}},
       key + "/raw: is [1, 7], expected [7]"},
      {{{"model.w/raw", "U8", {numel}, raw}}, "model.w/raw: is saved without model.w/scale"}};
  for (Case const& each : cases) {
    auto entries = plain_entries();
    entries.insert(entries.end(), each.entries.begin(), each.entries.end());
    MemoryStorage storage;
    write_file(storage, entries);
    std::string const message = refusal_of(world, storage, anything);
    EXPECT_TRUE(contains(message, each.message)) << message << "\nexpected " << each.message;
  }
  auto entries = plain_entries();
  entries.push_back({"model.w/raw", "BF16", {numel}, Bytes(2 * numel)});
  entries[0] = {"model.w", "BF16", {numel}, Bytes(2 * numel)};
  MemoryStorage storage;
  write_file(storage, entries);
  EXPECT_TRUE(contains(refusal_of(world, storage, anything), "model.w: is saved as BF16"));
}

}  // namespace
}  // namespace adamant::real
