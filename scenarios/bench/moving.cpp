#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "scenarios/bench/engine_parts.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/reshard_parts.h"
#include "scenarios/bench/state_parts.h"
#include "scenarios/bench/tensors_of_gpt2.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

constexpr int from_ranks = 8;
constexpr int to_ranks = 2;
constexpr std::int64_t memcpy_numel = 32 * 1024;  // as many as the engine moves at once

class FileInMemory final : public real::InputFile {
 public:
  explicit FileInMemory(std::span<std::byte const> bytes) : bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
  }

 private:
  std::span<std::byte const> bytes_;
};

class Model {
 public:
  explicit Model(std::vector<ParameterSpec> const& parameters) {
    for (ParameterSpec const& parameter : parameters)
      for (std::size_t kind = 0; kind < std::size(state_kinds); ++kind)
        saved_.push_back({"", "F32", parameter.shape});
    for (int rank = 0; rank < from_ranks; ++rank)
      files_.emplace_back(parameters, real::RankOfWorld{.rank = rank, .world_size = from_ranks});
    for (int rank = 0; rank < to_ranks; ++rank)
      own_.emplace_back(parameters, real::RankOfWorld{.rank = rank, .world_size = to_ranks});
    fill();
  }

  /// What a rank wants. Holds as long as the model does.
  PiecesToMove pieces_of(int rank) const {
    PiecesToMove pieces;
    pieces.saved = saved_;
    for (RankMemory const& file : files_)
      pieces.files.push_back({"", std::make_unique<FileInMemory>(file.bytes()), {}});
    for (StatePart const& part : own(rank).parts())
      pieces.own.push_back({.key = "",
                            .global_shape = saved_[part.tensor].shape,
                            .ranges = {&part.elements, 1},
                            .data = reinterpret_cast<std::byte*>(part.words),
                            .on_host = true});
    return pieces;
  }

  /// The same by memcpy, of pieces that are known before.
  struct Copy {
    std::byte* to;
    std::byte const* from;
    std::size_t bytes;
  };
  std::vector<Copy> copies_of(int rank) const {
    std::vector<Copy> copies;
    for (RankMemory const& file : files_)
      for (StatePart const& part : file.parts())
        append_copies(copies, part, own(rank).parts()[part.tensor]);
    return copies;
  }

  void forget(int rank) {
    std::ranges::fill(own_[static_cast<std::size_t>(rank)].bytes(), std::byte{0xFF});
  }

  void expect_moved(int rank) const {
    for (StatePart const& part : own(rank).parts()) part.check();
  }

 private:
  RankMemory const& own(int rank) const { return own_[static_cast<std::size_t>(rank)]; }

  /// Files have what each element of a tensor is known by; boxes say where.
  void fill() {
    for (std::size_t f = 0; f < files_.size(); ++f) {
      for (StatePart const& part : files_[f].parts()) {
        part.fill();
        real::SavedTensor& saved = saved_[part.tensor];
        real::Box const box = real::box_of(part.elements, saved.shape).value();
        saved.boxes.add({.file = static_cast<int>(f),
                         .offsets = box.offsets,
                         .shape = box.shape,
                         .begin = files_[f].begin_of(part)});
      }
    }
    for (real::SavedTensor& saved : saved_) real::find_runs(saved);
  }

  static void append_copies(std::vector<Copy>& copies, StatePart const& saved,
                            StatePart const& wanted) {
    std::int64_t const begin = std::max(wanted.elements.begin, saved.elements.begin);
    std::int64_t const end = std::min(wanted.elements.end, saved.elements.end);
    for (std::int64_t at = begin; at < end; at += memcpy_numel)
      copies.push_back(
          {reinterpret_cast<std::byte*>(wanted.words + (at - wanted.elements.begin)),
           reinterpret_cast<std::byte const*>(saved.words + (at - saved.elements.begin)),
           static_cast<std::size_t>(std::min(memcpy_numel, end - at)) * sizeof *saved.words});
  }

  std::vector<real::SavedTensor> saved_;  // parameter after parameter, its kinds together
  std::vector<RankMemory> files_;
  std::vector<RankMemory> own_;
};

/// What the processes of a measurement share.
struct Rounds {
  static constexpr int count_max = 64;
  struct Seconds {
    double roof = 0;
    double own = 0;
  };

  pthread_barrier_t together;
  Seconds seconds[count_max][to_ranks];
};

class SharedRounds {
 public:
  explicit SharedRounds(int processes)
      : memory_(::mmap(nullptr, sizeof(Rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory to share");
    pthread_barrierattr_t shared;
    ::pthread_barrierattr_init(&shared);
    ::pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    ::pthread_barrier_init(&get().together, &shared, static_cast<unsigned>(processes));
  }
  ~SharedRounds() { ::munmap(memory_, sizeof(Rounds)); }
  SharedRounds(SharedRounds const&) = delete;
  SharedRounds& operator=(SharedRounds const&) = delete;

  Rounds& get() const { return *static_cast<Rounds*>(memory_); }

 private:
  void* memory_;
};

template <typename Function>
double seconds_together(Rounds& rounds, Function const& function) {
  ::pthread_barrier_wait(&rounds.together);
  return seconds_of(function);
}

/// A process: both by turns, the first of which touch memory for the first time.
void move_part_of(Model& model, int rank, int rounds, Rounds& measured) {
  sim::Options options;
  options.checked = false;
  PiecesToMove const pieces = model.pieces_of(rank);
  std::vector<Model::Copy> const copies = model.copies_of(rank);
  sim::run(
      1,
      [&](int) {
        std::unique_ptr<MovedPieces> const planned(adamant_bench_move(&pieces));
        for (int round = -1; round < rounds; ++round) {
          double const roof = seconds_together(measured, [&] {
            for (Model::Copy const& copy : copies) std::memcpy(copy.to, copy.from, copy.bytes);
          });
          double const own = seconds_together(measured, [&] { planned->move(); });
          if (round >= 0) measured.seconds[round][rank] = {.roof = roof, .own = own};
        }
        model.forget(rank);  // memcpy had brought the same
        planned->move();
      },
      options);
  model.expect_moved(rank);
}

/// Starts a process for each of the first ranks. Returns what memcpy takes over what the engine
/// does, round by round: of both whoever is last.
std::vector<double> rates_over_memcpy(Model& model, int processes, int rounds) {
  SharedRounds const shared(processes);
  std::vector<pid_t> children;
  for (int rank = 0; rank < processes; ++rank) {
    pid_t const child = ::fork();
    if (child < 0) throw std::runtime_error("no process can be started");
    if (child == 0) {
      move_part_of(model, rank, rounds, shared.get());
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (pid_t const child : children) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0)
      throw std::runtime_error("a process that moved pieces has died");
  }
  std::vector<double> rates;
  for (int round = 0; round < rounds; ++round) {
    Rounds::Seconds last;
    for (int rank = 0; rank < processes; ++rank) {
      Rounds::Seconds const& of_rank = shared.get().seconds[round][rank];
      last = {std::max(last.roof, of_rank.roof), std::max(last.own, of_rank.own)};
    }
    rates.push_back(last.roof / last.own);
  }
  return rates;
}

}  // namespace

void measure_moving(SuiteRows& rows, int rounds) {
  Model model(parameters_of_gpt2());
  for (int const processes : {1, to_ranks})
    rows.add("moving_over_memcpy_" + std::to_string(processes) + "_processes",
             median(rates_over_memcpy(model, processes, rounds)), "x");
}

}  // namespace adamant::scenarios
