// The files of a simulated run: one disk that outlives its worlds, every rank's door to it, and
// when the machine crashes in a save. What follows from that is the judges' part.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/engines/checkpoint_files.h"
#include "sim/world/crash_point.h"
#include "sim/world/disk.h"

namespace adamant::scenarios {

class SimFiles final : public CheckpointFiles {
 public:
  /// Errors: MachineLacks, see import_foreign().
  explicit SimFiles(EngineTask const& task);

  /// Its verbs take turns with those of other ranks, and are the moments at which the machine may
  /// crash.
  std::shared_ptr<real::Storage> storage_of(int rank) override;

  /// Arms the crash that the scenario wants of this save, if any.
  void begin_save() override;
  /// An armed crash that did not find its byte strikes now.
  bool end_save(std::string_view checkpoint) override;
  DamagedFiles begin_load(std::string_view checkpoint) override;

  bool crashed() const override { return crashed_; }
  void restart();

 private:
  friend class SimStorage;  // the rank's side of the same thing
  void crash();

  std::vector<std::string> names_in(std::string_view directory) const override;
  std::span<std::byte const> bytes_at(std::string const& path) const override {
    return disk_.peek(path);
  }
  void make_directory(std::string const& path) override;
  void overwrite(std::string const& path, std::vector<std::byte> bytes) override {
    disk_.overwrite(path, std::move(bytes));
  }
  void lose(std::string const& path) override { disk_.lose(path); }

  sim::Disk disk_;
  sim::CrashPoint crash_point_;
  bool crashed_ = false;
  int saves_ = 0;
};

}  // namespace adamant::scenarios
