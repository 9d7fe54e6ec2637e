// The engine's interface to files, served by a simulated disk for one rank. It takes turns with the
// other ranks at every verb that changes something, and counts what the rank writes towards the
// moment at which the machine is to crash (sim_files.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "real/checkpoint/storage.h"
#include "sim/world/disk.h"

namespace adamant::scenarios {

class SimFiles;

/// Errors: StorageError, also of every verb after a crash and after the end of the world.
class SimStorage final : public real::Storage {
 public:
  /// REQUIRES: `files` outlives it and what it opens.
  SimStorage(SimFiles& files, int rank) : files_(files), rank_(rank) {}

  bool exists(std::string const& path) override;
  std::unique_ptr<real::InputFile> open(std::string const& path) override;
  std::unique_ptr<real::OutputFile> create(std::string const& path) override;
  void rename(std::string const& from, std::string const& to) override;
  void remove(std::string const& path) override;
  std::vector<real::DirectoryEntry> list(std::string const& directory) override;
  void make_directory(std::string const& path) override;
  void sync_directory(std::string const& path) override;

 private:
  friend class SimOutput;
  /// Lets others go first, and perhaps the machine crash; then changes the disk.
  template <typename Change>
  auto change(char const* verb, std::string const& path, Change apply);
  /// The byte at which the machine crashes is the last one that is written.
  void append(sim::Disk::File const& file, std::span<std::byte const> bytes);

  SimFiles& files_;
  int rank_;
};

}  // namespace adamant::scenarios
