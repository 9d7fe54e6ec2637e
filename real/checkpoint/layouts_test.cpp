// What ranks of any layout and mesh save: which files, which boxes in them, and that any other
// world loads it. Shards are made by hand, because the rules of layouts are not what is tested
// here.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/load.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/save.h"
#include "real/comm/loopback_communicator.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/cuda/state_numbers.h"
#include "real/testing/edited_files.h"
#include "real/testing/memory_storage.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

using Ranges = std::vector<ElementRange>;
using Shape = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// A rank's part of one tensor of a parameter, in host memory.
struct HostTensor {
  TensorKind kind = TensorKind::parameter;
  NumberFormat format = NumberFormat::fp32;
  ElementRange range = {};
  float scale = 1;
  float unit = scale;  // of its values
  std::vector<std::byte> bytes = {};
};

/// The k-th element of a tensor. Every format has it.
float element(TensorKind kind, std::int64_t k) {
  return static_cast<float>(k % 7 + 1) * std::ldexp(1.0F, static_cast<int>(kind));
}

/// A parameter `w` as a rank has it.
struct HostParameter {
  Shape shape;
  Names parts;
  std::vector<HostTensor> tensors;
  StateScale coverage = StateScale::global;

  void fill() {
    for (HostTensor& tensor : tensors) {
      std::vector<float> values;
      for (std::int64_t k = tensor.range.begin; k < tensor.range.end; ++k)
        values.push_back(element(tensor.kind, k) * tensor.unit);
      tensor.bytes = encoded(values, tensor.format, tensor.scale);
    }
  }

  void clear() {
    for (HostTensor& tensor : tensors) {
      tensor.bytes.assign(static_cast<std::size_t>(tensor.range.numel()) * bytes_of(tensor.format),
                          std::byte{7});
      tensor.scale = 0;
    }
  }

  /// `scales` is on the device, one number a tensor.
  CheckpointState described(float const* scales) {
    CheckpointState state;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      HostTensor& tensor = tensors[t];
      bool const scaled = has_scale(tensor.kind, tensor.format);
      state.tensors.push_back({.kind = tensor.kind,
                               .shard = {.key = key_of("w", tensor.kind),
                                         .format = tensor.format,
                                         .global_shape = shape,
                                         .ranges = {&tensor.range, 1},
                                         .data = tensor.bytes.data(),
                                         .on_host = true},
                               .coverage = coverage,
                               .scale = scaled ? scales + t : nullptr});
    }
    state.progress.groups = {{.name = "default", .config = {}, .step = 2, .parameters = {"w"}}};
    state.progress.parameter_steps["w"] = 2;
    state.steps = {{.parameter = "w", .step = 2, .parts = parts}};
    state.write_scale = [this](int, TensorKind kind, float scale) {
      for (HostTensor& tensor : tensors)
        if (tensor.kind == kind) tensor.scale = scale;
    };
    return state;
  }
};

/// What a rank of a world has: parameter, and states.
using Of = std::function<HostParameter(int rank)>;

/// Calls body(place, state, parameter) on every rank.
template <typename Body>
void with_world(Mesh const& mesh, Storage& storage, Of const& of, Body const& body) {
  int const ranks = mesh.rank_count();
  auto const exchange = make_loopback_exchange(ranks);
  run_ranks(ranks, Devices::shared, [&](RankContext const& context) {
    RankOfWorld const where = {.rank = context.rank, .world_size = ranks};
    LoopbackCommunicator communicator(exchange, context.rendezvous, where);
    Ledger ledger;
    Stream stream;
    Agreement agreement(communicator, ledger, stream, where);
    CheckpointPlace const place{storage, "c", agreement, ledger, stream, where, 64, mesh};
    HostParameter parameter = of(context.rank);
    parameter.fill();
    std::vector<float> scales;
    for (HostTensor const& tensor : parameter.tensors) scales.push_back(tensor.scale);
    std::size_t const bytes = scales.size() * sizeof(float);
    DeviceBuffer const memory(ledger, Purpose::state_scales, bytes, stream);
    ADAMANT_TRY(cudaMemcpyAsync(memory.as<void>(), scales.data(), bytes, cudaMemcpyHostToDevice,
                                stream.get()));
    stream.synchronize();
    body(place, parameter, memory.as<float>());
  });
}

void save(Mesh const& mesh, Storage& storage, Of const& of) {
  with_world(mesh, storage, of,
             [](CheckpointPlace const& place, HostParameter& parameter, float const* scales) {
               save_checkpoint(place, parameter.described(scales));
             });
}

/// Loads it on other ranks, which then have what they would have saved.
void expect_loads(Mesh const& mesh, Storage& storage, Of const& of) {
  with_world(mesh, storage, of,
             [](CheckpointPlace const& place, HostParameter& parameter, float const* scales) {
               HostParameter const expected = parameter;
               parameter.clear();
               load_checkpoint(place, parameter.described(scales), {}, [] {});
               for (std::size_t t = 0; t < expected.tensors.size(); ++t) {
                 EXPECT_EQ(parameter.tensors[t].bytes, expected.tensors[t].bytes) << t;
                 bool const scaled =
                     has_scale(expected.tensors[t].kind, expected.tensors[t].format);
                 if (scaled) {
                   EXPECT_EQ(parameter.tensors[t].scale, expected.tensors[t].scale) << t;
                 }
               }
             });
}

std::string refusal_of_load(Mesh const& mesh, Storage& storage, Of const& of) {
  std::string refusal;
  with_world(mesh, storage, of,
             [&](CheckpointPlace const& place, HostParameter& parameter, float const* scales) {
               try {
                 load_checkpoint(place, parameter.described(scales), {}, [] {});
                 if (place.where.rank == 0) refusal = "not refused";
               } catch (CheckpointError const& error) {
                 if (place.where.rank == 0) refusal = error.what();
               }
             });
  return refusal;
}

/// Equal shares, as whoever counts elements alone makes them.
ElementRange share_of(std::int64_t numel, int index, int count) {
  return {.begin = numel * index / count, .end = numel * (index + 1) / count};
}

/// A parameter and both moments, cut anywhere.
Of cut_into(Shape const& shape, int count, Names const& parts = {}) {
  return [=](int rank) {
    ElementRange const range = share_of(numel_of(shape), rank, count);
    return HostParameter{shape,
                         parts,
                         {{TensorKind::parameter, NumberFormat::bf16, range},
                          {TensorKind::exp_avg, NumberFormat::fp32, range},
                          {TensorKind::exp_avg_sq, NumberFormat::fp16, range, 0x1p-8F}}};
  };
}

/// The same in types without scales, which other programs have not.
Of cut_unscaled(Shape const& shape, int count) {
  return [=](int rank) {
    ElementRange const range = share_of(numel_of(shape), rank, count);
    return HostParameter{shape,
                         {},
                         {{TensorKind::parameter, NumberFormat::bf16, range},
                          {TensorKind::exp_avg, NumberFormat::fp32, range},
                          {TensorKind::exp_avg_sq, NumberFormat::fp32, range}}};
  };
}

/// Keys of a file and where their parts begin.
std::map<std::string, Shape> parts_in(MemoryStorage& storage, std::string const& name) {
  Checkpoint const checkpoint = open_checkpoint(storage, "c");
  std::map<std::string, Shape> parts;
  for (auto const& [key, tensor] : checkpoint.tensors)
    for (SavedBox const box : tensor.boxes)
      if (checkpoint.files[static_cast<std::size_t>(box.file)].name == name)
        parts[key] = {box.offsets.begin(), box.offsets.end()};
  return parts;
}

std::vector<std::string> files_in(MemoryStorage& storage) {
  std::vector<std::string> names;
  for (DirectoryEntry const& entry : storage.list("c"))
    if (is_shard_file(entry.name)) names.push_back(entry.name);
  return names;
}

TEST(Layouts, RowsThatAreCutAreSavedInAsFewFilesAsBoxes) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  save({.shards = 3}, storage, cut_into({4, 6}, 3));
  EXPECT_EQ(files_in(storage),
            (Names{shard_file_name(0, 0, 2), shard_file_name(0, 1, 2), shard_file_name(1, 0, 2),
                   shard_file_name(1, 1, 2), shard_file_name(2, 0, 2), shard_file_name(2, 1, 2)}));
  auto const second = parts_in(storage, shard_file_name(0, 1, 2));
  EXPECT_EQ(second.at("model.w"), (Shape{1, 0}));
  EXPECT_EQ(second.at("model.w/raw"), (Shape{1, 0}));
  EXPECT_FALSE(second.contains("optim.state.w.exp_avg_sq/scale"));
  EXPECT_FALSE(second.contains("optim.state.w.step"));
}

TEST(Layouts, AnyCutIsLoadedByAnyOther) {
  ADAMANT_NEEDS(5, Devices::shared);
  for (Shape const& shape : {Shape{4, 6}, {3, 4, 5}, {23}, {2, 1, 3, 5}, {1, 2}})
    for (int const saved : {1, 3, 5}) {
      MemoryStorage storage;
      save({.shards = saved}, storage, cut_into(shape, saved));
      for (int const loaded : {1, 2, 4})
        expect_loads({.shards = loaded}, storage, cut_into(shape, loaded));
    }
}

/// As another program would have saved it: without a manifest and a word of one.
void forget_manifest(MemoryStorage& storage, std::string const& name) {
  std::string const path = "c/" + name;
  FileEntries const entries = entries_of(storage, path);
  std::vector<SavedPart> parts;
  for (FileEntry const& entry : entries) parts.push_back(entry.part);
  std::vector<std::byte> bytes = encode_header(parts, {{"format", "pt"}});
  for (FileEntry const& entry : entries)
    bytes.insert(bytes.end(), entry.data.begin(), entry.data.end());
  storage.bytes_of(path) = bytes;
  storage.remove(concat("c/", manifest_name));
}

TEST(Layouts, FilesWithoutChecksumsAreLoadedAcrossTheBordersOfPieces) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  Shape const shape = {97};
  save({}, storage, cut_unscaled(shape, 1));
  forget_manifest(storage, shard_file_name(0));
  for (int const loaded : {1, 2, 3})
    expect_loads({.shards = loaded}, storage, cut_unscaled(shape, loaded));
}

TEST(Layouts, ASecondFileThatIsMissingIsDamageByItsName) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  save({.shards = 2}, storage, cut_into({3, 5}, 2));
  std::string const second = "c/" + shard_file_name(1, 1, 2);
  storage.remove(second);
  EXPECT_EQ(refusal_of_load({.shards = 1}, storage, cut_into({3, 5}, 1)),
            "rank 0: " + second + ": is missing; the manifest lists it");
}

// ---- replicas ----

TEST(Layouts, WhatReplicasHaveTooTheyDoNotWrite) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  Mesh const mesh = {.shards = 2, .replicas = 2};
  Of const halves = cut_into({4, 3}, 2);
  Of const of = [&](int rank) { return halves(rank % 2); };
  save(mesh, storage, of);
  EXPECT_EQ(files_in(storage).size(), 4U);
  EXPECT_EQ(parts_in(storage, shard_file_name(1)).size(), 5U);
  for (int const rank : {2, 3}) EXPECT_TRUE(parts_in(storage, shard_file_name(rank)).empty());
  expect_loads(mesh, storage, of);
  expect_loads({.shards = 3}, storage, cut_into({4, 3}, 3));
}

/// Parameters over shards, states over all ranks; replicas split what a shard has.
Of cut_across(Shape const& shape, Mesh const& mesh, StateScale coverage = StateScale::global) {
  return [=](int rank) {
    std::int64_t const numel = numel_of(shape);
    int const state = mesh.shard_of(rank) * mesh.replicas + mesh.replica_of(rank);
    ElementRange const held = share_of(numel, mesh.shard_of(rank), mesh.shards);
    ElementRange const stepped = share_of(numel, state, mesh.rank_count());
    bool const local = coverage == StateScale::local;
    return HostParameter{shape,
                         {},
                         {{TensorKind::parameter, NumberFormat::bf16, held},
                          {TensorKind::exp_avg, NumberFormat::fp16, stepped,
                           local ? std::ldexp(1.0F, rank - 10) : 0x1p-10F},
                          {TensorKind::exp_avg_sq, NumberFormat::bf16, stepped}},
                         coverage};
  };
}

TEST(Layouts, StatesThatAreCutOverReplicasAreWrittenByEach) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  Mesh const mesh = {.shards = 2, .replicas = 2, .outer = Outer::optim};
  save(mesh, storage, cut_across({4, 6}, mesh));
  auto const last = parts_in(storage, shard_file_name(3));
  EXPECT_EQ(last.at("optim.state.w.exp_avg"), (Shape{3, 0}));
  EXPECT_FALSE(last.contains("model.w"));
  expect_loads(mesh, storage, cut_across({4, 6}, mesh));
  Mesh const other = {.shards = 1, .replicas = 3, .outer = Outer::optim};
  expect_loads(other, storage, cut_across({4, 6}, other));
}

TEST(Layouts, ScalesOfShardsAreTheirRanksWhateverTheFile) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  Mesh const mesh = {.shards = 2, .replicas = 2, .outer = Outer::optim};
  Of const of = cut_across({3, 6}, mesh, StateScale::local);  // 4 or 5 elements: rows are cut
  save(mesh, storage, of);
  Checkpoint const checkpoint = open_checkpoint(storage, "c");
  EXPECT_GT(checkpoint.files.size(), 4U);
  EXPECT_EQ(checkpoint.tensors.at("optim.state.w.exp_avg/scale").shape, Shape{4});
  expect_loads(mesh, storage, of);
}

TEST(Layouts, ListsOfScalesHaveOneForEachShardOfStates) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  Mesh const mesh = {.shards = 2, .replicas = 2};
  Of const of = [&](int rank) {
    HostParameter parameter = cut_into({5, 2}, 2)(rank % 2);
    parameter.coverage = StateScale::local;
    parameter.tensors[2].scale = rank % 2 == 0 ? 0x1p-5F : 0x1p-9F;
    return parameter;
  };
  save(mesh, storage, of);
  EXPECT_EQ(open_checkpoint(storage, "c").tensors.at("optim.state.w.exp_avg_sq/scale").shape,
            Shape{2});
  expect_loads(mesh, storage, of);
}

// ---- parts ----

Names const gate_and_up = {"up", "gate"};  // in their order, not that of keys

TEST(Layouts, PartsAreSavedUnderAKeyEach) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  save({.shards = 3}, storage, cut_into({8, 3}, 3, gate_and_up));
  Checkpoint const checkpoint = open_checkpoint(storage, "c");
  for (std::string const part : {"gate", "up"}) {
    EXPECT_EQ(checkpoint.tensors.at("model.w." + part).shape, (Shape{4, 3}));
    EXPECT_EQ(checkpoint.tensors.at("model.w." + part + "/raw").shape, (Shape{4, 3}));
    EXPECT_EQ(checkpoint.tensors.at("optim.state.w." + part + ".exp_avg_sq/scale").shape, Shape{1});
    EXPECT_TRUE(checkpoint.tensors.contains("optim.state.w." + part + ".step"));
  }
  EXPECT_EQ(checkpoint.tensors.size(), 14U);  // seven each
  // Rank 1 has elements 8 to 16 of which 12 are in `up`, cut inside rows 2 and 5.
  EXPECT_EQ(parts_in(storage, shard_file_name(1, 0, 2)).at("model.w.up"), (Shape{2, 2}));
  EXPECT_EQ(parts_in(storage, shard_file_name(1, 0, 2)).at("model.w.gate"), (Shape{0, 0}));
  EXPECT_EQ(parts_in(storage, shard_file_name(1, 1, 2)).at("model.w.gate"), (Shape{1, 0}));
}

/// The same values by the scale that they get when they are stored anew.
Of stored_anew(Of const& of) {
  return [=](int rank) {
    HostParameter parameter = of(rank);
    HostTensor& scaled = parameter.tensors.back();
    scaled.scale = scale_for(element(scaled.kind, 6) * scaled.unit, scaled.format);
    return parameter;
  };
}

TEST(Layouts, PartsAndWholesAreLoadedEachByTheOther) {
  ADAMANT_NEEDS(3, Devices::shared);
  for (Names const& saved : {gate_and_up, Names{}})
    for (Names const& loaded : {gate_and_up, Names{}}) {
      MemoryStorage storage;
      save({.shards = 3}, storage, cut_into({8, 3}, 3, saved));
      Of const of = cut_into({8, 3}, 2, loaded);
      expect_loads({.shards = 2}, storage, saved == loaded ? of : stored_anew(of));
    }
}

TEST(Layouts, OtherPartsAreRefused) {
  ADAMANT_NEEDS(1, Devices::shared);
  MemoryStorage storage;
  save({}, storage, cut_into({8, 3}, 1, gate_and_up));
  EXPECT_EQ(refusal_of_load({}, storage, cut_into({8, 3}, 1, {"up", "down"})),
            "rank 0: tensor model.w is not saved, nor under another prefix");
  EXPECT_EQ(refusal_of_load({}, storage, cut_into({12, 3}, 1, gate_and_up)),
            "rank 0: tensor model.w: size mismatch: saved [8, 3], current [12, 3]");
}

}  // namespace
}  // namespace adamant::real
