#include "scenarios/bench/checkpoint_kept.h"

#include <memory>
#include <stdexcept>

#include "real/checkpoint/crc32c.h"
#include "scenarios/bench/checkpoint_roof.h"
#include "scenarios/bench/kept_state.h"
#include "scenarios/engines/door.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

constexpr std::size_t kinds = 3;  // parameter, exp_avg, exp_avg_sq

/// Memory of all ranks, touched, and one of them after the other in it.
class KeptMemory {
 public:
  explicit KeptMemory(KeptWorld const& world) : world_(world) {
    for (int rank = 0; rank < world.ranks; ++rank) {
      std::size_t elements = 0;
      for (ParameterSpec const& parameter : world.parameters)
        elements += kinds * static_cast<std::size_t>(range(rank, parameter).numel());
      of_ranks_.emplace_back(elements);
    }
  }

  std::byte* of(int rank) {
    return reinterpret_cast<std::byte*>(of_ranks_[static_cast<std::size_t>(rank)].data());
  }
  Memory all() {
    Memory memory;
    for (auto& words : of_ranks_) memory.push_back(std::as_writable_bytes(std::span(words)));
    return memory;
  }

  /// Calls visit(word, expected) for every element.
  template <typename Visit>
  void for_each_word(Visit const& visit) {
    for (int rank = 0; rank < world_.ranks; ++rank) {
      std::uint32_t* word = of_ranks_[static_cast<std::size_t>(rank)].data();
      std::size_t tensor = 0;
      for (ParameterSpec const& parameter : world_.parameters) {
        ElementRange const own = range(rank, parameter);
        for (std::size_t kind = 0; kind < kinds; ++kind, ++tensor)
          for (std::int64_t i = own.begin; i < own.end; ++i) visit(*word++, pattern(tensor, i));
      }
    }
  }

 private:
  ElementRange range(int rank, ParameterSpec const& parameter) const {
    return kept_range({.rank = rank, .world_size = world_.ranks}, parameter);
  }

  KeptWorld const& world_;
  std::vector<std::vector<std::uint32_t>> of_ranks_;
};

/// Calls body(state, first) on every rank of the world.
template <typename Body>
void in_kept_world(KeptWorld const& world, KeptMemory& memory, Body const& body) {
  sim::Options options;
  options.checked = false;
  ncclUniqueId id = {};
  sim::run(
      world.ranks,
      [&](int rank) {
        sim::meet([&] { id = adamant_engine_unchecked()->make_nccl_id(); });
        KeptRank const kept{.where = {.rank = rank, .world_size = world.ranks},
                            .parameters = world.parameters,
                            .id = id,
                            .memory = memory.of(rank)};
        std::unique_ptr<KeptState> const state(adamant_bench_keep(&kept));
        body(*state, rank == 0);
        sim::meet();
      },
      options);
}

}  // namespace

CheckpointTurns measure_kept_save(KeptWorld const& world, BenchDirectory const& directory,
                                  int rounds) {
  CheckpointTurns turns;
  Unsynced storage;
  KeptMemory memory(world);
  memory.for_each_word([](std::uint32_t& word, std::uint32_t expected) { word = expected; });
  std::string const target = directory / "c";
  double roof = 0;  // of a round, whichever rank measures it
  in_kept_world(world, memory, [&](KeptState& state, bool first) {
    for (int round = 0; round <= rounds; ++round) {
      sim::meet([&] {
        std::filesystem::remove_all(target);
        roof = processor_seconds_of([&] { write_roof(memory.all(), directory / "roof"); });
        std::filesystem::remove(directory / "roof");
      });
      double const seconds = seconds_of_all([&] { state.save(storage, target); });
      if (first && round > 0) turns.note(seconds, {roof});
      turns.note_peak(state.peak_bytes());
    }
  });
  return turns;
}

CheckpointTurns measure_kept_load(KeptWorld const& world, BenchDirectory const& directory,
                                  int rounds) {
  CheckpointTurns turns;
  Unsynced storage;
  KeptMemory memory(world);
  std::vector<std::string> const paths = directory.files_in("c");
  std::vector<double> roofs;  // of a round, whichever rank measures them
  in_kept_world(world, memory, [&](KeptState& state, bool first) {
    for (int round = 0; round <= rounds; ++round) {
      sim::meet([&] {
        roofs = {processor_seconds_of([&] { read_roof(memory.all(), paths); }),
                 processor_seconds_of([&] { map_roof(memory.all(), paths); })};
      });
      double const seconds = seconds_of_all([&] { state.load(storage, directory / "c"); });
      if (first && round > 0) turns.note(seconds, roofs);
      turns.note_peak(state.peak_bytes());
    }
  });
  memory.for_each_word([](std::uint32_t word, std::uint32_t expected) {
    if (word != expected) throw std::runtime_error("what was loaded is not what was saved");
  });
  return turns;
}

double measure_checksums(KeptWorld const& world, int rounds) {
  KeptMemory memory(world);
  std::vector<double> rates;
  for (int round = 0; round <= rounds; ++round) {
    double gigabytes = 0;
    double const seconds = processor_seconds_of([&] {
      for (std::span<std::byte> const rank : memory.all()) {
        static_cast<void>(real::crc32c(rank));
        gigabytes += static_cast<double>(rank.size()) * 1e-9;
      }
    });
    if (round > 0) rates.push_back(gigabytes / seconds);
  }
  return quantile(rates, 0.5);
}

}  // namespace adamant::scenarios
