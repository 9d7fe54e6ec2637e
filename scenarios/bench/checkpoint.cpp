// Save and load of GPT-2 124M with its moments, 1.5 GB, from 8 ranks to 3, against what any program
// has to do. All by turns in one process, the median of the ratios of processor seconds, which
// other programs disturb least. Nothing is synced: how long a disk takes is no merit of a program.
//
//   load, save             state that is in host memory and stays there, so no device takes part:
//                          over the better of pread and mapping with copy, and CRC-32C; over copy,
//                          CRC-32C and write
//   checksum               CRC-32C alone, of the same bytes
//   load_to_devices,       the whole engine, on simulated devices. Their copies cost processor time
//   save_of_devices        as a GPU's do not; so both roofs copy through a host's buffer
#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "scenarios/bench/checkpoint_files.h"
#include "scenarios/bench/checkpoint_kept.h"
#include "scenarios/bench/checkpoint_roof.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/suite.h"
#include "scenarios/bench/tensors_of_gpt2.h"
#include "scenarios/engines/door.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

constexpr char suite[] = "checkpoint";
constexpr Purpose state_purposes[] = {Purpose::parameters, Purpose::exp_avg, Purpose::exp_avg_sq};
constexpr TensorKind state_kinds[] = {TensorKind::parameter, TensorKind::exp_avg,
                                      TensorKind::exp_avg_sq};

class NoGradients final : public real::GradientSource {
 public:
  void backward(real::UnitBackward const&) override {}
};

struct BenchWorld {
  EngineDoor const& door;
  std::vector<ParameterSpec> parameters;
  int ranks = 1;
  std::vector<std::unique_ptr<real::Engine>> engines = {};
  ncclUniqueId id = {};

  /// What holds state, rank after rank.
  Memory memory() const {
    Memory memory;
    for (auto const& engine : engines)
      for (real::Buffer const& buffer : engine->buffers())
        if (std::find(std::begin(state_purposes), std::end(state_purposes), buffer.purpose) !=
            std::end(state_purposes))
          memory.push_back(
              {static_cast<std::byte*>(const_cast<void*>(buffer.address)), buffer.bytes});
    return memory;
  }
};

/// Calls body(engine, first) on every rank of a world whose engines stand.
template <typename Body>
void in_world(BenchWorld& world, Body const& body) {
  NoGradients gradients;
  world.engines.resize(static_cast<std::size_t>(world.ranks));
  sim::Options options;
  options.checked = false;
  sim::run(
      world.ranks,
      [&](int rank) {
        sim::meet([&] { world.id = world.door.make_nccl_id(); });
        real::EngineConfig config;
        config.rank = rank;
        config.mesh = {.shards = world.ranks};
        config.device = rank;
        config.parameters = world.parameters;
        config.groups = {AdamConfig()};
        config.nccl_id = world.id;
        auto& engine = world.engines[static_cast<std::size_t>(rank)];
        engine = world.door.make_engine(config, gradients);
        engine->synchronize();
        sim::meet();
        body(*engine, rank == 0);
        sim::meet();
        engine.reset();
      },
      options);
}

/// Calls visit(word, expected) for every element of a rank's state.
template <typename Visit>
void for_each_word(real::Engine const& engine, std::vector<ParameterSpec> const& parameters,
                   Visit const& visit) {
  std::size_t tensor = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    for (TensorKind const kind : state_kinds) {
      real::ShardView const view = engine.shard(static_cast<int>(p), kind);
      auto* const words = static_cast<std::uint32_t*>(view.data);
      std::int64_t at = 0;
      for (ElementRange const range : view.ranges)
        for (std::int64_t i = range.begin; i < range.end; ++i)
          visit(words[at++], pattern(tensor, i));
      ++tensor;
    }
  }
}

CheckpointTurns measure_save(BenchWorld& world, BenchDirectory const& directory, int rounds) {
  CheckpointTurns turns;
  Unsynced storage;
  std::string const target = directory / "c";
  double roof = 0;  // of a round, whichever rank measures it
  in_world(world, [&](real::Engine& engine, bool first) {
    for_each_word(engine, world.parameters,
                  [](std::uint32_t& word, std::uint32_t expected) { word = expected; });
    for (int round = 0; round <= rounds; ++round) {
      sim::meet([&] {
        fs::remove_all(target);
        roof = processor_seconds_of([&] { write_roof(world.memory(), directory / "roof"); });
        fs::remove(directory / "roof");
      });
      double const seconds = seconds_of_all([&] { engine.save(storage, target); });
      if (first && round > 0) turns.note(seconds, {roof});
      turns.note_peak(engine.peak_bytes(Purpose::checkpoint));
    }
  });
  return turns;
}

CheckpointTurns measure_load(BenchWorld& world, BenchDirectory const& directory, int rounds) {
  CheckpointTurns turns;
  Unsynced storage;
  std::vector<std::string> const paths = directory.files_in("c");
  double roof = 0;  // of a round, whichever rank measures it
  in_world(world, [&](real::Engine& engine, bool first) {
    for (int round = 0; round <= rounds; ++round) {
      sim::meet([&] { roof = processor_seconds_of([&] { staged_roof(world.memory(), paths); }); });
      double const seconds = seconds_of_all([&] { engine.load(storage, directory / "c"); });
      if (first && round > 0) turns.note(seconds, {roof});
      turns.note_peak(engine.peak_bytes(Purpose::checkpoint));
    }
    for_each_word(engine, world.parameters, [](std::uint32_t word, std::uint32_t expected) {
      if (word != expected) throw std::runtime_error("what was loaded is not what was saved");
    });
  });
  return turns;
}

}  // namespace

std::vector<Row> measure_checkpoint(BenchOptions const& options) {
  BenchDirectory const directory;
  int const rounds = options.full ? 25 : 7;
  EngineDoor const& door = *adamant_engine_unchecked();
  std::vector<ParameterSpec> const parameters = parameters_of_gpt2();
  double gigabytes = 0;
  for (ParameterSpec const& spec : parameters)
    gigabytes += static_cast<double>(spec.numel()) * 12e-9;
  std::vector<Row> rows;
  KeptWorld const keeps{.parameters = parameters, .ranks = 8};
  measure_kept_save(keeps, directory, rounds)
      .append_rows(rows, "save", "save_over_roof", gigabytes);
  KeptWorld const fills{.parameters = parameters, .ranks = 3};
  measure_kept_load(fills, directory, rounds).append_rows(rows, "load", suite, gigabytes);
  rows.push_back({suite, "checksum_rate", measure_checksums(fills, rounds), "GB/s"});
  BenchWorld saving{.door = door, .parameters = parameters, .ranks = 8};
  measure_save(saving, directory, rounds)
      .append_rows(rows, "save_of_devices", "save_of_devices_over_roof", gigabytes);
  BenchWorld loading{.door = door, .parameters = parameters, .ranks = 3};
  measure_load(loading, directory, rounds)
      .append_rows(rows, "load_to_devices", "load_to_devices_over_roof", gigabytes);
  return rows;
}

}  // namespace adamant::scenarios
