// A parameter of 7 elements in host memory, in any types, that ranks save and load without an
// engine; and what its files and its ranks have to hold.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/load.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/save.h"
#include "real/comm/loopback_communicator.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/cuda/state_numbers.h"
#include "real/testing/memory_storage.h"
#include "real/testing/ranks.h"

namespace adamant::real::parameter_on_host {

using Values = std::vector<float>;
using Bytes = std::vector<std::byte>;

inline constexpr std::int64_t numel = 7;
/// In place of a tensor's numbers: those of all ranks, as they are stored, and each rank's scale.
struct Stored {
  Bytes bytes;
  Values scales;

  friend bool operator==(Stored const&, Stored const&) = default;
};

using Whole = std::array<Stored, tensor_kind_count>;

inline constexpr TensorKind kinds[] = {TensorKind::parameter, TensorKind::exp_avg,
                                       TensorKind::exp_avg_sq, TensorKind::main};

inline std::optional<NumberFormat> format_of_kind(Formats const& formats, TensorKind kind) {
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
inline Whole in_world(World const& world, Storage& storage, std::size_t piece_bytes,
                      std::function<void(CheckpointPlace const&, HostParameter&)> const& body) {
  auto const exchange = make_loopback_exchange(world.ranks);
  std::vector<Whole> of_rank(static_cast<std::size_t>(world.ranks));
  run_ranks(world.ranks, Devices::shared, [&](RankContext const& context) {
    RankOfWorld const where = {.rank = context.rank, .world_size = world.ranks};
    LoopbackCommunicator communicator(exchange, context.rendezvous, where);
    Ledger ledger;
    Stream stream;
    Agreement agreement(communicator, ledger, stream, where);
    CheckpointPlace const place{storage, "c",   agreement,   ledger,
                                stream,  where, piece_bytes, {.shards = where.world_size}};
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

inline Bytes halves(Values const& values, std::uint16_t SplitWeight::*which) {
  Bytes bytes;
  for (float const value : values) {
    std::uint16_t const half = split(value).*which;
    auto const* const raw = reinterpret_cast<std::byte const*>(&half);
    bytes.insert(bytes.end(), raw, raw + sizeof half);
  }
  return bytes;
}

/// `values` as a tensor of that kind stores them, with the scale of the shard or of all.
inline Bytes stored_of(Formats const& formats, TensorKind kind, Values const& values, float scale) {
  bool const split = formats.main == NumberFormat::remainder;
  if (split && kind == TensorKind::main) return halves(values, &SplitWeight::remainder);
  if (split && kind == TensorKind::parameter) return halves(values, &SplitWeight::parameter);
  return encoded(values, *format_of_kind(formats, kind), scale);
}

inline Values given_of(Given const& given, TensorKind kind) {
  if (kind == TensorKind::parameter && given.parameter) return *given.parameter;
  if (kind == TensorKind::exp_avg) return given.exp_avg;
  return kind == TensorKind::exp_avg_sq ? given.exp_avg_sq : given.weight;
}

inline Values part_of_values(Values const& values, ElementRange range) {
  return {values.begin() + range.begin, values.begin() + range.end};
}

/// The scale that a rank's shard of these values gets.
inline float scale_of_shard(World const& world, int rank, TensorKind kind, Values const& values) {
  NumberFormat const format = *format_of_kind(world.formats, kind);
  bool const local = world.formats.state_scale == StateScale::local;
  if (!has_scale(kind, format)) return 1;
  return scale_for(amax_of(local ? part_of_values(values, world.range(rank)) : values), format);
}

/// Stores what is given as a world that trained would have it.
inline void fill(HostParameter& parameter, World const& world, int rank, Given const& given) {
  for (TensorKind const kind : kinds) {
    if (!format_of_kind(world.formats, kind)) continue;
    Values const values = given_of(given, kind);
    float const scale = scale_of_shard(world, rank, kind, values);
    parameter.write(kind, stored_of(world.formats, kind, values, scale), scale);
  }
}

/// What reading gives of what a world has stored.
inline Values read_of(World const& world, TensorKind kind, Values const& values) {
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
inline Given converted(World const& saving, World const& loading, Given const& given) {
  Values const parameter = read_of(saving, TensorKind::parameter, given.weight);
  Given after{
      .weight = saving.formats.main ? read_of(saving, TensorKind::main, given.weight) : parameter,
      .exp_avg = read_of(saving, TensorKind::exp_avg, given.exp_avg),
      .exp_avg_sq = read_of(saving, TensorKind::exp_avg_sq, given.exp_avg_sq)};
  bool const beside = loading.formats.main && loading.formats.main != NumberFormat::remainder;
  if (beside && saving.formats.parameter == loading.formats.parameter) after.parameter = parameter;
  return after;
}

inline Whole save(World const& world, Storage& storage, Given const& given = {},
                  std::size_t piece_bytes = 64) {
  return in_world(world, storage, piece_bytes,
                  [&](CheckpointPlace const& place, HostParameter& parameter) {
                    fill(parameter, world, place.where.rank, given);
                    save_checkpoint(place, parameter.described());
                  });
}

inline LoadOptions const anything = {
    .may_round = {{.parameter = true, .main = true, .exp_avg = true, .exp_avg_sq = true}}};

inline Whole load(World const& world, Storage& storage, LoadOptions const& options = {}) {
  return in_world(world, storage, 64, [&](CheckpointPlace const& place, HostParameter& parameter) {
    load_checkpoint(place, parameter.described(), options, [] {});
  });
}

/// What ranks hold that were filled, without any file.
inline Whole filled(World const& world, Given const& given) {
  MemoryStorage none;
  return in_world(world, none, 64, [&](CheckpointPlace const& place, HostParameter& parameter) {
    fill(parameter, world, place.where.rank, given);
  });
}

inline std::string refusal_of(World const& world, Storage& storage,
                              LoadOptions const& options = {}) {
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

}  // namespace adamant::real::parameter_on_host
