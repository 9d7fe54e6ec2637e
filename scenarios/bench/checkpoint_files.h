// Where the suite `checkpoint` saves and loads, what is in its tensors, and what it notes of them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/posix_storage.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/placed_memory.h"
#include "scenarios/bench/suite.h"
#include "sim/sim.h"

namespace adamant::scenarios {

/// Processor seconds until every rank has done `verb`. To be called by all.
template <typename Verb>
double seconds_of_all(Verb const& verb) {
  sim::meet();
  return processor_seconds_of([&] {
    verb();
    sim::meet();
  });
}

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
    std::filesystem::path const memory = "/dev/shm";
    bool const roomy = std::filesystem::space(memory, none).available > (4ULL << 30) && !none;
    path_ = (roomy ? memory : std::filesystem::temp_directory_path()) /
            ("adamant-bench-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
  }
  ~BenchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  BenchDirectory(BenchDirectory const&) = delete;
  BenchDirectory& operator=(BenchDirectory const&) = delete;
  std::string operator/(char const* name) const { return (path_ / name).string(); }
  /// The files in one of its directories.
  std::vector<std::string> files_in(char const* name) const {
    std::vector<std::string> paths;
    for (auto const& entry : std::filesystem::directory_iterator(path_ / name))
      paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    return paths;
  }

 private:
  std::filesystem::path path_;
};

/// What element `index` of a whole tensor holds, as bits.
inline std::uint32_t pattern(std::size_t tensor, std::int64_t index) {
  return static_cast<std::uint32_t>(index) * 2654435761U + static_cast<std::uint32_t>(tensor) * 97U;
}

/// Processor seconds of one call, of all threads; nothing here waits for anything else.
template <typename Function>
double processor_seconds_of(Function const& function) {
  double const begin = processor_seconds();
  function();
  return processor_seconds() - begin;
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

  /// Four or five rows whose names begin with `verb`, the first of which may have another one.
  void append_rows(std::vector<Row>& rows, std::string const& verb, std::string const& main_row,
                   double gigabytes) const {
    std::vector<double> const ratios = over_roof();
    rows.push_back({"checkpoint", main_row, quantile(ratios, 0.5), "x"});
    rows.push_back({"checkpoint", verb + "_over_roof_least", quantile(ratios, 0), "x"});
    rows.push_back({"checkpoint", verb + "_over_roof_most", quantile(ratios, 0.999), "x"});
    rows.push_back({"checkpoint", verb + "_rate", gigabytes / quantile(own_, 0.5), "GB/s"});
    rows.push_back({"checkpoint", verb + "_extra_memory_of_a_rank",
                    static_cast<double>(peak_bytes_) / (1024.0 * 1024.0), "MiB"});
  }

 private:
  std::vector<double> over_roof() const {
    auto const roof = std::min_element(
        roofs_.begin(), roofs_.end(),
        [](auto const& a, auto const& b) { return quantile(a, 0.5) < quantile(b, 0.5); });
    std::vector<double> ratios;
    for (std::size_t i = 0; i < own_.size(); ++i) ratios.push_back(own_[i] / (*roof)[i]);
    return ratios;
  }

  std::vector<double> own_;
  std::vector<std::vector<double>> roofs_;  // each of as many rounds
  std::size_t peak_bytes_ = 0;
};

}  // namespace adamant::scenarios
