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
#include <functional>
#include <vector>

#include "real/checkpoint/crc32c.h"
#include "scenarios/bench/checkpoint_files.h"
#include "scenarios/bench/checkpoint_roof.h"
#include "scenarios/bench/checkpoint_worlds.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/rounds.h"
#include "scenarios/bench/suite.h"
#include "scenarios/bench/tensors_of_gpt2.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

using Parameters = std::vector<ParameterSpec>;
using ReadRoof = std::uint32_t (*)(Memory const&, std::vector<std::string> const&);

constexpr int saving_ranks = 8;
constexpr int loading_ranks = 3;

/// Processor seconds of one call, of all threads; nothing here waits for anything else.
template <typename Function>
double processor_seconds_of(Function const& function) {
  double const begin = processor_seconds();
  function();
  return processor_seconds() - begin;
}

/// The same until every rank has done `verb`. To be called by all.
template <typename Verb>
double seconds_of_all(Verb const& verb) {
  sim::meet();
  return processor_seconds_of([&] {
    verb();
    sim::meet();
  });
}

/// Rounds in which the engine and its roofs took turns. The roof is the one of the least median.
class CheckpointTurns {
 public:
  void note(double own, std::vector<double> const& roofs) {
    own_.push_back(own);
    roofs_.resize(roofs.size());
    for (std::size_t r = 0; r < roofs.size(); ++r) roofs_[r].push_back(roofs[r]);
  }
  void note_peak(std::size_t bytes) { peak_bytes_ = std::max(peak_bytes_, bytes); }

  /// Rows whose names begin with `verb`, or the first of which is the main one.
  void add_to(SuiteRows& rows, std::string const& verb, double gigabytes,
              bool is_main = false) const {
    rows.add_spread(verb + "_over_roof", ratios_of(own_, fastest_of(roofs_)), "x", is_main);
    rows.add(verb + "_rate", gigabytes / median(own_), "GB/s");
    rows.add(verb + "_extra_memory_of_a_rank", static_cast<double>(peak_bytes_) / (1024.0 * 1024.0),
             "MiB");
  }

 private:
  std::vector<double> own_;
  std::vector<std::vector<double>> roofs_;  // each of as many rounds
  std::size_t peak_bytes_ = 0;
};

class CheckpointBench {
 public:
  CheckpointBench(int rounds, SuiteRows& rows) : rounds_(rounds), rows_(rows) {
    for (ParameterSpec const& spec : parameters_)
      gigabytes_ += static_cast<double>(spec.numel()) * 12e-9;
  }

  void measure() {
    auto const keeps = make_kept_world(parameters_, saving_ranks);
    saved_by(*keeps).add_to(rows_, "save", gigabytes_);
    auto const fills = make_kept_world(parameters_, loading_ranks);
    loaded_by(*fills, {read_roof, map_roof}).add_to(rows_, "load", gigabytes_, true);
    rows_.add("checksum_rate", checksum_rate(fills->memory()), "GB/s");
    auto const saving = make_world_of_devices(parameters_, saving_ranks);
    saved_by(*saving).add_to(rows_, "save_of_devices", gigabytes_);
    auto const loading = make_world_of_devices(parameters_, loading_ranks);
    loaded_by(*loading, {staged_roof}).add_to(rows_, "load_to_devices", gigabytes_);
  }

 private:
  /// What is saved stays, until the next world saves.
  CheckpointTurns saved_by(CheckpointWorld& world) const {
    CheckpointTurns turns;
    Unsynced storage;
    std::string const target = directory_ / "c";
    double roof = 0;  // of a round, whichever rank measures it
    world.run([&](KeptState& state, bool first) {
      sim::meet([&] {
        for (StatePart const& part : world.parts()) part.fill();
      });
      for (int round = 0; round <= rounds_; ++round) {
        sim::meet([&] {
          fs::remove_all(target);
          roof = processor_seconds_of([&] { write_roof(world.memory(), directory_ / "roof"); });
          fs::remove(directory_ / "roof");
        });
        double const seconds = seconds_of_all([&] { state.save(storage, target); });
        if (first && round > 0) turns.note(seconds, {roof});
        turns.note_peak(state.peak_bytes());
      }
    });
    return turns;
  }

  CheckpointTurns loaded_by(CheckpointWorld& world, std::vector<ReadRoof> const& roofs) const {
    CheckpointTurns turns;
    Unsynced storage;
    std::vector<std::string> const paths = directory_.files_in("c");
    std::vector<double> of_roofs(roofs.size());  // of a round, whichever rank measures them
    world.run([&](KeptState& state, bool first) {
      for (int round = 0; round <= rounds_; ++round) {
        sim::meet([&] {
          std::ranges::transform(roofs, of_roofs.begin(), [&](ReadRoof roof) {
            return processor_seconds_of([&] { roof(world.memory(), paths); });
          });
        });
        double const seconds = seconds_of_all([&] { state.load(storage, directory_ / "c"); });
        if (first && round > 0) turns.note(seconds, of_roofs);
        turns.note_peak(state.peak_bytes());
      }
      sim::meet([&] {
        for (StatePart const& part : world.parts()) part.check();
      });
    });
    return turns;
  }

  /// Gigabytes a processor second.
  double checksum_rate(Memory const& memory) const {
    auto const seconds = by_turns(rounds_, {[&] {
                                    return processor_seconds_of([&] {
                                      for (std::span<std::byte> const rank : memory)
                                        static_cast<void>(real::crc32c(rank));
                                    });
                                  }});
    return gigabytes_ / median(seconds.front());
  }

  int rounds_;
  SuiteRows& rows_;
  BenchDirectory directory_;
  Parameters parameters_ = parameters_of_gpt2();
  double gigabytes_ = 0;
};

}  // namespace

void measure_checkpoint(BenchOptions const& options, SuiteRows& rows) {
  CheckpointBench(options.full ? 25 : 7, rows).measure();
}

}  // namespace adamant::scenarios
