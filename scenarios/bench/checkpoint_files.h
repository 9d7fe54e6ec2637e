// Where the suite `checkpoint` saves and loads.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/posix_storage.h"

namespace adamant::scenarios {

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

}  // namespace adamant::scenarios
