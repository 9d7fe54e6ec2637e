// Tensors in every type that an engine may have, saved by one world and loaded by another in the
// same types or in others: shards in host memory, as no engine is needed to tell their bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/load.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/save.h"
#include "real/comm/loopback_communicator.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/cuda/state_numbers.h"
#include "real/testing/memory_storage.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;
using Bytes = std::vector<std::byte>;

constexpr std::int64_t numel = 7;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// In place of a tensor's numbers: those of all ranks, as they are stored, and each rank's scale.
struct Stored {
  Bytes bytes;
  Values scales;

  friend bool operator==(Stored const&, Stored const&) = default;
};

using Whole = std::array<Stored, tensor_kind_count>;

constexpr TensorKind kinds[] = {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq,
                                TensorKind::main};

std::optional<NumberFormat> format_of_kind(Formats const& formats, TensorKind kind) {
  if (kind == TensorKind::parameter) return formats.parameter;
  if (kind == TensorKind::exp_avg) return formats.exp_avg;
  if (kind == TensorKind::exp_avg_sq) return formats.exp_avg_sq;
  return formats.main;
}

/// How a world has a parameter `w` of 7 elements: rank r of W the r-th of W parts.
struct World {
  int ranks = 1;
  Formats formats = {};

  ElementRange range(int rank) const {
    std::int64_t const chunk = (numel + ranks - 1) / ranks;
    return {.begin = std::min(rank * chunk, numel), .end = std::min((rank + 1) * chunk, numel)};
  }
};

/// A rank's part, in host memory but for its scales; the last two elements of states elsewhere.
class HostParameter {
 public:
  HostParameter(CheckpointPlace const& place, World const& world)
      : place_(place),
        formats_(world.formats),
        range_(world.range(place.where.rank)),
        scales_(place.ledger, Purpose::state_scales, tensor_kind_count * sizeof(float),
                place.stream) {
    for (TensorKind const kind : kinds)
      if (auto const format = format_of_kind(formats_, kind)) {
        std::size_t const bytes = static_cast<std::size_t>(range_.numel()) * bytes_of(*format);
        std::size_t const behind =
            kind == TensorKind::parameter ? 0 : std::min(bytes, room_behind(*format));
        heads_[at(kind)].assign(bytes - behind, std::byte{0xee});
        tails_[at(kind)].assign(behind, std::byte{0xee});
      }
    for (TensorKind const kind : kinds) write_scale(kind, -1);
  }

  /// Stores values of the whole tensor.
  void write(TensorKind kind, Bytes const& whole, float scale) {
    std::size_t const size = bytes_of(*format_of_kind(formats_, kind));
    auto const from = std::span(whole).subspan(static_cast<std::size_t>(range_.begin) * size,
                                               static_cast<std::size_t>(range_.numel()) * size);
    Bytes& head = heads_[at(kind)];
    std::copy_n(from.begin(), head.size(), head.begin());
    std::copy(from.begin() + std::ssize(head), from.end(), tails_[at(kind)].begin());
    write_scale(kind, scale);
  }

  Stored read(TensorKind kind) const {
    Stored stored{heads_[at(kind)], {}};
    stored.bytes.insert(stored.bytes.end(), tails_[at(kind)].begin(), tails_[at(kind)].end());
    auto const format = format_of_kind(formats_, kind);
    if (!format || !has_scale(kind, *format)) return stored;
    float scale = 0;
    ADAMANT_TRY(cudaMemcpyAsync(&scale, scale_of(kind), sizeof scale, cudaMemcpyDeviceToHost,
                                place_.stream.get()));
    place_.stream.synchronize();
    stored.scales.push_back(scale);
    return stored;
  }

  CheckpointState described() {
    CheckpointState state;
    for (TensorKind const kind : kinds) {
      auto const format = format_of_kind(formats_, kind);
      if (!format) continue;
      bool const split = formats_.main == NumberFormat::remainder;
      StateTensor tensor{.kind = kind,
                         .shard = described(kind, *format),
                         .is_upper = split && kind == TensorKind::parameter,
                         .coverage = formats_.state_scale};
      if (tensor.scaled()) tensor.scale = scale_of(kind);
      if (split && kind == TensorKind::main) tensor.upper = state.tensors.front().shard;
      state.tensors.push_back(tensor);
    }
    state.write_scale = [this](int, TensorKind kind, float scale) { write_scale(kind, scale); };
    state.progress.groups = {{.name = "default", .config = {}, .step = 2, .parameters = {"w"}}};
    state.progress.parameter_steps["w"] = 2;
    state.steps = {{.parameter = "w", .step = 2}};
    return state;
  }

 private:
  static std::size_t at(TensorKind kind) { return static_cast<std::size_t>(kind); }
  static std::size_t room_behind(NumberFormat format) { return 2 * bytes_of(format); }
  float* scale_of(TensorKind kind) const { return scales_.as<float>() + at(kind); }

  void write_scale(TensorKind kind, float scale) {
    ADAMANT_TRY(cudaMemcpyAsync(scale_of(kind), &scale, sizeof scale, cudaMemcpyHostToDevice,
                                place_.stream.get()));
    place_.stream.synchronize();
  }

  ShardDescription described(TensorKind kind, NumberFormat format) {
    std::string const key =
        kind == TensorKind::parameter ? model_key("w") : state_key("w", std::string(name_of(kind)));
    return {.key = key,
            .format = format,
            .global_shape = {numel},
            .ranges = {&range_, 1},
            .data = heads_[at(kind)].data(),
            .on_host = true,
            .tail = tails_[at(kind)].data(),
            .tail_numel = std::ssize(tails_[at(kind)]) / std::ssize(Bytes(bytes_of(format)))};
  }

  CheckpointPlace const& place_;
  Formats formats_;
  ElementRange range_;
  std::array<Bytes, tensor_kind_count> heads_;
  std::array<Bytes, tensor_kind_count> tails_;
  DeviceBuffer scales_;
};

/// Runs `body(place, parameter)` on every rank of a world; what the ranks have together at the end.
Whole in_world(World const& world, Storage& storage, std::size_t piece_bytes,
               std::function<void(CheckpointPlace const&, HostParameter&)> const& body) {
  auto const exchange = make_loopback_exchange(world.ranks);
  std::vector<Whole> of_rank(static_cast<std::size_t>(world.ranks));
  run_ranks(world.ranks, Devices::shared, [&](RankContext const& context) {
    RankOfWorld const where = {.rank = context.rank, .world_size = world.ranks};
    LoopbackCommunicator communicator(exchange, context.rendezvous, where);
    Ledger ledger;
    Stream stream;
    Agreement agreement(communicator, ledger, stream, where);
    CheckpointPlace const place{storage, "c", agreement, ledger, stream, where, piece_bytes};
    HostParameter parameter(place, world);
    body(place, parameter);
    Whole& mine = of_rank[static_cast<std::size_t>(context.rank)];
    for (TensorKind const kind : kinds) mine[static_cast<std::size_t>(kind)] = parameter.read(kind);
  });
  Whole whole;
  for (Whole const& mine : of_rank)
    for (std::size_t k = 0; k < whole.size(); ++k) {
      whole[k].bytes.insert(whole[k].bytes.end(), mine[k].bytes.begin(), mine[k].bytes.end());
      whole[k].scales.insert(whole[k].scales.end(), mine[k].scales.begin(), mine[k].scales.end());
    }
  return whole;
}

/// What a world has: the values of weight and moments, and of a parameter that is not cast from the
/// weight.
struct Given {
  Values weight = {1.0F, -2.5F, 0x1.018p-3F, 0.0F, -0.0F, 3e-39F, 100.25F};
  Values exp_avg = {0.5F, -0x1.4p-7F, 0.0F, -0.0F, 7.0F, 0x1.23456p-2F, 1e-30F};
  Values exp_avg_sq = {0.25F, 0x1p-20F, 0.0F, 1.0F, 49.0F, 0x1.8p-4F, 1e-38F};
  std::optional<Values> parameter = {};
};

Bytes halves(Values const& values, std::uint16_t SplitWeight::*which) {
  Bytes bytes;
  for (float const value : values) {
    std::uint16_t const half = split(value).*which;
    auto const* const raw = reinterpret_cast<std::byte const*>(&half);
    bytes.insert(bytes.end(), raw, raw + sizeof half);
  }
  return bytes;
}

/// `values` as a tensor of that kind stores them, with the scale of the shard or of all.
Bytes stored_of(Formats const& formats, TensorKind kind, Values const& values, float scale) {
  bool const split = formats.main == NumberFormat::remainder;
  if (split && kind == TensorKind::main) return halves(values, &SplitWeight::remainder);
  if (split && kind == TensorKind::parameter) return halves(values, &SplitWeight::parameter);
  return encoded(values, *format_of_kind(formats, kind), scale);
}

Values given_of(Given const& given, TensorKind kind) {
  if (kind == TensorKind::parameter && given.parameter) return *given.parameter;
  if (kind == TensorKind::exp_avg) return given.exp_avg;
  return kind == TensorKind::exp_avg_sq ? given.exp_avg_sq : given.weight;
}

Values part_of_values(Values const& values, ElementRange range) {
  return {values.begin() + range.begin, values.begin() + range.end};
}

/// The scale that a rank's shard of these values gets.
float scale_of_shard(World const& world, int rank, TensorKind kind, Values const& values) {
  NumberFormat const format = *format_of_kind(world.formats, kind);
  bool const local = world.formats.state_scale == StateScale::local;
  if (!has_scale(kind, format)) return 1;
  return scale_for(amax_of(local ? part_of_values(values, world.range(rank)) : values), format);
}

/// Stores what is given as a world that trained would have it.
void fill(HostParameter& parameter, World const& world, int rank, Given const& given) {
  for (TensorKind const kind : kinds) {
    if (!format_of_kind(world.formats, kind)) continue;
    Values const values = given_of(given, kind);
    float const scale = scale_of_shard(world, rank, kind, values);
    parameter.write(kind, stored_of(world.formats, kind, values, scale), scale);
  }
}

/// What reading gives of what a world has stored.
Values read_of(World const& world, TensorKind kind, Values const& values) {
  if (world.formats.main == NumberFormat::remainder && kind == TensorKind::main) return values;
  Values read;
  for (int rank = 0; rank < world.ranks; ++rank) {
    float const scale = scale_of_shard(world, rank, kind, values);
    Values const own = part_of_values(values, world.range(rank));
    Values const worth = decoded(stored_of(world.formats, kind, own, scale),
                                 *format_of_kind(world.formats, kind), scale);
    read.insert(read.end(), worth.begin(), worth.end());
  }
  return read;
}

/// What a load in other types has to store.
Given converted(World const& saving, World const& loading, Given const& given) {
  Values const parameter = read_of(saving, TensorKind::parameter, given.weight);
  Given after{
      .weight = saving.formats.main ? read_of(saving, TensorKind::main, given.weight) : parameter,
      .exp_avg = read_of(saving, TensorKind::exp_avg, given.exp_avg),
      .exp_avg_sq = read_of(saving, TensorKind::exp_avg_sq, given.exp_avg_sq)};
  bool const beside = loading.formats.main && loading.formats.main != NumberFormat::remainder;
  if (beside && saving.formats.parameter == loading.formats.parameter) after.parameter = parameter;
  return after;
}

Whole save(World const& world, Storage& storage, Given const& given = {},
           std::size_t piece_bytes = 64) {
  return in_world(world, storage, piece_bytes,
                  [&](CheckpointPlace const& place, HostParameter& parameter) {
                    fill(parameter, world, place.where.rank, given);
                    save_checkpoint(place, parameter.described());
                  });
}

LoadOptions const anything = {
    .may_round = {{.parameter = true, .main = true, .exp_avg = true, .exp_avg_sq = true}}};

Whole load(World const& world, Storage& storage, LoadOptions const& options = {}) {
  return in_world(world, storage, 64, [&](CheckpointPlace const& place, HostParameter& parameter) {
    load_checkpoint(place, parameter.described(), options, [] {});
  });
}

/// What ranks hold that were filled, without any file.
Whole filled(World const& world, Given const& given) {
  MemoryStorage none;
  return in_world(world, none, 64, [&](CheckpointPlace const& place, HostParameter& parameter) {
    fill(parameter, world, place.where.rank, given);
  });
}

std::string refusal_of(World const& world, Storage& storage, LoadOptions const& options = {}) {
  std::vector<std::string> messages(static_cast<std::size_t>(world.ranks));
  in_world(world, storage, 64, [&](CheckpointPlace const& place, HostParameter& parameter) {
    Whole before;
    std::string& mine = messages[static_cast<std::size_t>(place.where.rank)];
    bool replaced = false;
    try {
      load_checkpoint(place, parameter.described(), options, [&] { replaced = true; });
      mine = "not refused";
    } catch (CheckpointError const& error) {
      mine = error.what();
    }
    EXPECT_EQ(replaced, mine == "not refused");
  });
  for (std::string const& message : messages) EXPECT_EQ(message, messages.front());
  return messages.front();
}

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
      {{.main = NumberFormat::fp16}, &MayRound::main, "optim.state.w.main"}};
  for (Case const& each : cases) {
    World const world = {.ranks = 2, .formats = each.formats};
    EXPECT_TRUE(contains(refusal_of(world, storage), "tensor " + each.key + ": saved as F32"));
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
      {{{"model.w/raw", "U8", {numel}, raw}}, "model.w/raw: is saved as U8, expected BF16 or F16"}};
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
