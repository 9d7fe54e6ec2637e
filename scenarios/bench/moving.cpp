#include "scenarios/bench/moving.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "scenarios/bench/checkpoint_files.h"
#include "scenarios/bench/kept_state.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/moved_pieces.h"
#include "scenarios/bench/tensors_of_gpt2.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

constexpr int from_ranks = 8;
constexpr int to_ranks = 2;
constexpr int kinds = 3;  // parameter, exp_avg, exp_avg_sq
constexpr std::size_t element_bytes = 4;
constexpr std::size_t memcpy_bytes = 128 * 1024;  // as many as the engine moves at once

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

/// All bytes of one rank's tensors, one tensor after another, as a file or as its own memory.
struct RankMemory {
  std::vector<std::byte> bytes;
  std::vector<std::size_t> begins;  // of tensors
};

class Model {
 public:
  explicit Model(std::vector<ParameterSpec> parameters) : parameters_(std::move(parameters)) {
    for (ParameterSpec const& parameter : parameters_) {
      for (int rank = 0; rank < to_ranks; ++rank)
        own_ranges_.push_back(kept_range({.rank = rank, .world_size = to_ranks}, parameter));
      for (int kind = 0; kind < kinds; ++kind) saved_.push_back({"", "F32", parameter.shape});
    }
    for (int rank = 0; rank < from_ranks; ++rank) files_.push_back(memory_of(rank, from_ranks));
    for (int rank = 0; rank < to_ranks; ++rank) own_.push_back(memory_of(rank, to_ranks));
    fill();
  }

  /// What a rank wants. Holds as long as the model does.
  PiecesToMove pieces_of(int rank) {
    PiecesToMove pieces;
    pieces.saved = saved_;
    for (RankMemory const& file : files_)
      pieces.files.push_back({"", std::make_unique<FileInMemory>(file.bytes), {}});
    RankMemory& own = own_[static_cast<std::size_t>(rank)];
    for (std::size_t t = 0; t < saved_.size(); ++t)
      pieces.own.push_back({.key = "",
                            .global_shape = saved_[t].shape,
                            .ranges = {&own_range(t, rank), 1},
                            .data = own.bytes.data() + own.begins[t],
                            .on_host = true});
    return pieces;
  }

  /// The same by memcpy, of pieces that are known before.
  struct Copy {
    std::byte* to;
    std::byte const* from;
    std::size_t bytes;
  };
  std::vector<Copy> copies_of(int rank) {
    std::vector<Copy> copies;
    for (std::size_t f = 0; f < files_.size(); ++f)
      for (std::size_t t = 0; t < saved_.size(); ++t) append_copies(copies, rank, f, t);
    return copies;
  }

  void forget(int rank) {
    std::vector<std::byte>& bytes = own_[static_cast<std::size_t>(rank)].bytes;
    std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
  }

  void expect_moved(int rank) const {
    RankMemory const& own = own_[static_cast<std::size_t>(rank)];
    for (std::size_t t = 0; t < saved_.size(); ++t) {
      ElementRange const range = own_range(t, rank);
      std::byte const* at = own.bytes.data() + own.begins[t];
      for (std::int64_t i = range.begin; i < range.end; ++i, at += element_bytes) {
        std::uint32_t word = 0;
        std::memcpy(&word, at, sizeof word);
        if (word != pattern(t, i)) throw std::runtime_error("pieces were moved elsewhere");
      }
    }
  }

 private:
  static std::size_t byte(std::int64_t element) {
    return static_cast<std::size_t>(element) * element_bytes;
  }
  ParameterSpec const& parameter_of(std::size_t tensor) const {
    return parameters_[tensor / kinds];
  }
  ElementRange const& own_range(std::size_t tensor, int rank) const {
    return own_ranges_[tensor / kinds * to_ranks + static_cast<std::size_t>(rank)];
  }
  ElementRange saved_range(std::size_t tensor, std::size_t file) const {
    return kept_range({.rank = static_cast<int>(file), .world_size = from_ranks},
                      parameter_of(tensor));
  }

  RankMemory memory_of(int rank, int ranks) const {
    RankMemory memory;
    std::size_t bytes = 0;
    for (std::size_t t = 0; t < saved_.size(); ++t) {
      memory.begins.push_back(bytes);
      bytes += byte(kept_range({.rank = rank, .world_size = ranks}, parameter_of(t)).numel());
    }
    memory.bytes.resize(bytes);
    return memory;
  }

  /// Files have what each element of a tensor is known by; boxes say where.
  void fill() {
    for (std::size_t t = 0; t < saved_.size(); ++t) {
      for (std::size_t f = 0; f < files_.size(); ++f) {
        ElementRange const range = saved_range(t, f);
        std::byte* at = files_[f].bytes.data() + files_[f].begins[t];
        for (std::int64_t i = range.begin; i < range.end; ++i, at += element_bytes) {
          std::uint32_t const word = pattern(t, i);
          std::memcpy(at, &word, sizeof word);
        }
        real::Box const box = real::box_of(range, saved_[t].shape).value();
        saved_[t].boxes.add({.file = static_cast<int>(f),
                             .offsets = box.offsets,
                             .shape = box.shape,
                             .begin = files_[f].begins[t]});
      }
      real::find_runs(saved_[t]);
    }
  }

  void append_copies(std::vector<Copy>& copies, int rank, std::size_t f, std::size_t t) {
    RankMemory& own = own_[static_cast<std::size_t>(rank)];
    ElementRange const wanted = own_range(t, rank);
    ElementRange const saved = saved_range(t, f);
    std::int64_t const begin = std::max(wanted.begin, saved.begin);
    std::int64_t const end = std::min(wanted.end, saved.end);
    if (begin >= end) return;
    std::byte* const to = own.bytes.data() + own.begins[t] + byte(begin - wanted.begin);
    std::byte const* const from =
        files_[f].bytes.data() + files_[f].begins[t] + byte(begin - saved.begin);
    for (std::size_t at = 0; at < byte(end - begin); at += memcpy_bytes)
      copies.push_back({to + at, from + at, std::min(memcpy_bytes, byte(end - begin) - at)});
  }

  std::vector<ParameterSpec> parameters_;
  std::vector<real::SavedTensor> saved_;  // parameter after parameter, its kinds together
  std::vector<ElementRange> own_ranges_;  // by parameter and rank
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

std::vector<Row> measure_moving(int rounds) {
  Model model(parameters_of_gpt2());
  std::vector<Row> rows;
  for (int const processes : {1, to_ranks})
    rows.push_back({"reshard", "moving_over_memcpy_" + std::to_string(processes) + "_processes",
                    quantile(rates_over_memcpy(model, processes, rounds), 0.5), "x"});
  return rows;
}

}  // namespace adamant::scenarios
