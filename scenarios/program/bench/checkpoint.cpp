// Save and load of GPT-2 124M with its moments, 1.5 GB, from 8 ranks to 3, against what any program
// has to do: copy in pieces, checksum, write; read, checksum, copy. Both by turns in one process,
// the median of the ratios of processor seconds, which other programs disturb least. Nothing is
// synced: how long a disk takes is no merit of a program. A simulated device's copies cost
// processor time as a GPU's do not, so load is also held against a roof that has them, as save's
// has.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "real/checkpoint/posix_storage.h"
#include "scenarios/engines/door.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/program/bench/checkpoint_roof.h"
#include "scenarios/program/bench/measure.h"
#include "scenarios/program/bench/suite.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

constexpr char suite[] = "checkpoint";
constexpr Purpose state_purposes[] = {Purpose::parameters, Purpose::exp_avg, Purpose::exp_avg_sq};
constexpr TensorKind state_kinds[] = {TensorKind::parameter, TensorKind::exp_avg,
                                      TensorKind::exp_avg_sq};

class UnsyncedFile final : public real::OutputFile {
 public:
  explicit UnsyncedFile(std::unique_ptr<real::OutputFile> file) : file_(std::move(file)) {}
  void append(std::span<std::byte const> bytes) override { file_->append(bytes); }
  void sync() override {}

 private:
  std::unique_ptr<real::OutputFile> file_;
};

/// Files of the system without their syncs.
class Unsynced final : public real::Storage {
 public:
  bool exists(std::string const& path) override { return files_.exists(path); }
  std::unique_ptr<real::InputFile> open(std::string const& path) override {
    return files_.open(path);
  }
  std::unique_ptr<real::OutputFile> create(std::string const& path) override {
    return std::make_unique<UnsyncedFile>(files_.create(path));
  }
  void rename(std::string const& from, std::string const& to) override { files_.rename(from, to); }
  void remove(std::string const& path) override { files_.remove(path); }
  std::vector<real::DirectoryEntry> list(std::string const& directory) override {
    return files_.list(directory);
  }
  void make_directory(std::string const& path) override { files_.make_directory(path); }
  void sync_directory(std::string const&) override {}

 private:
  real::PosixStorage files_;
};

/// In memory where there is room, so that the disk is not what is measured.
class BenchDirectory {
 public:
  BenchDirectory() {
    std::error_code none;
    fs::path const memory = "/dev/shm";
    bool const roomy = fs::space(memory, none).available > (4ULL << 30) && !none;
    path_ = (roomy ? memory : fs::temp_directory_path()) /
            ("adamant-bench-" + std::to_string(::getpid()));
    fs::create_directories(path_);
  }
  ~BenchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  BenchDirectory(BenchDirectory const&) = delete;
  BenchDirectory& operator=(BenchDirectory const&) = delete;
  std::string operator/(char const* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

class NoGradients final : public real::GradientSource {
 public:
  void backward(real::UnitBackward const&) override {}
};

struct BenchWorld {
  EngineDoor const& door;
  std::vector<ParameterSpec> parameters;
  int ranks = 1;
  bool offloads = false;  // moments are in host memory
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

/// Runs `body` on every rank of a world whose engines stand.
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
        if (world.offloads) config.state_offload = StateOffloadConfig{};
        auto& engine = world.engines[static_cast<std::size_t>(rank)];
        engine = world.door.make_engine(config, gradients);
        if (world.offloads) engine->offload();
        engine->synchronize();
        sim::meet();
        body(*engine);
        sim::meet();
        engine.reset();
      },
      options);
}

/// What element `index` of a whole tensor holds, as bits.
std::uint32_t pattern(std::size_t tensor, std::int64_t index) {
  return static_cast<std::uint32_t>(index) * 2654435761U + static_cast<std::uint32_t>(tensor) * 97U;
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

struct Timed {
  std::vector<double> ratios;
  std::vector<double> staged_ratios;  // load alone
  std::vector<double> seconds;
  std::size_t peak_bytes = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Processor seconds of one call; nothing here waits for anything but the processor.
template <typename Function>
double processor_seconds_of(Function const& function) {
  double const begin = processor_seconds();
  function();
  return processor_seconds() - begin;
}

/// Processor seconds until every rank has done `verb`.
template <typename Verb>
double seconds_of_all(Verb const& verb) {
  sim::meet();
  return processor_seconds_of([&] {
    verb();
    sim::meet();
  });
}

void note(Timed& timed, int round, double seconds, double roof) {
  if (round == 0) return;  // warm-up
  timed.ratios.push_back(seconds / roof);
  timed.seconds.push_back(seconds);
}

Timed measure_save(BenchWorld& world, BenchDirectory const& directory, int rounds) {
  Timed timed;
  Unsynced storage;
  std::string const target = directory / "c";
  in_world(world, [&](real::Engine& engine) {
    for_each_word(engine, world.parameters,
                  [](std::uint32_t& word, std::uint32_t expected) { word = expected; });
    for (int round = 0; round <= rounds; ++round) {
      double roof = 0;
      sim::meet([&] {
        fs::remove_all(target);
        roof = processor_seconds_of([&] { write_roof(world.memory(), directory / "roof"); });
        fs::remove(directory / "roof");
      });
      double const seconds = seconds_of_all([&] { engine.save(storage, target); });
      if (roof > 0) note(timed, round, seconds, roof);
      timed.peak_bytes = std::max(timed.peak_bytes, engine.peak_bytes(Purpose::checkpoint));
    }
  });
  return timed;
}

Timed measure_load(BenchWorld& world, BenchDirectory const& directory, int rounds) {
  Timed timed;
  Unsynced storage;
  std::string const source = directory / "c";
  std::vector<std::string> paths;
  for (auto const& entry : fs::directory_iterator(source)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  in_world(world, [&](real::Engine& engine) {
    for (int round = 0; round <= rounds; ++round) {
      double roof = 0;
      double staged = 0;
      sim::meet([&] {
        double const read = processor_seconds_of([&] { read_roof(world.memory(), paths); });
        double const map = processor_seconds_of([&] { map_roof(world.memory(), paths); });
        roof = std::min(read, map);
        staged = processor_seconds_of([&] { staged_roof(world.memory(), paths); });
      });
      double const seconds = seconds_of_all([&] { engine.load(storage, source); });
      if (roof > 0) note(timed, round, seconds, roof);
      if (staged > 0 && round > 0) timed.staged_ratios.push_back(seconds / staged);
      timed.peak_bytes = std::max(timed.peak_bytes, engine.peak_bytes(Purpose::checkpoint));
    }
    for_each_word(engine, world.parameters, [](std::uint32_t word, std::uint32_t expected) {
      if (word != expected) throw std::runtime_error("what was loaded is not what was saved");
    });
  });
  return timed;
}

void append_rows(std::vector<Row>& rows, std::string const& verb, std::string const& main_row,
                 Timed const& timed, double gigabytes) {
  auto const [least, most] = std::minmax_element(timed.ratios.begin(), timed.ratios.end());
  rows.push_back({suite, main_row, median(timed.ratios), "x"});
  rows.push_back({suite, verb + "_over_roof_least", *least, "x"});
  rows.push_back({suite, verb + "_over_roof_most", *most, "x"});
  rows.push_back({suite, verb + "_rate", gigabytes / median(timed.seconds), "GB/s"});
  rows.push_back({suite, verb + "_extra_memory_of_a_rank",
                  static_cast<double>(timed.peak_bytes) / (1024.0 * 1024.0), "MiB"});
}

}  // namespace

std::vector<Row> measure_checkpoint(BenchOptions const& options) {
  Scenario const scenario = load_scenario_text(
      "adamant: 1\nname: c\nworld: {shard: 1}\nparams: {model: gpt2-124m}\nprogram: [step]\n",
      "bench");
  BenchDirectory const directory;
  int const rounds = options.full ? 15 : 5;
  EngineDoor const& door = *adamant_engine_unchecked();
  std::vector<ParameterSpec> const parameters = parameter_specs(scenario);
  double gigabytes = 0;
  for (ParameterSpec const& spec : parameters)
    gigabytes += static_cast<double>(spec.numel()) * 12e-9;
  BenchWorld saving{.door = door, .parameters = parameters, .ranks = 8};
  Timed const save = measure_save(saving, directory, rounds);
  BenchWorld loading{.door = door, .parameters = parameters, .ranks = 3};
  Timed const load = measure_load(loading, directory, rounds);
  BenchWorld keeping{.door = door, .parameters = parameters, .ranks = 3, .offloads = true};
  Timed const keep = measure_load(keeping, directory, rounds);
  std::vector<Row> rows;
  append_rows(rows, "load", suite, load, gigabytes);
  append_rows(rows, "load_of_offloaded", "load_of_offloaded_over_roof", keep, gigabytes);
  rows.push_back(
      {suite, "load_over_roof_with_copies_to_the_device", median(load.staged_ratios), "x"});
  append_rows(rows, "save", "save_over_roof", save, gigabytes);
  return rows;
}

}  // namespace adamant::scenarios
