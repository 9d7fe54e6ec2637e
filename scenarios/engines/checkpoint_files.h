// The files of a run in this process: they outlive its worlds. Here is what scenarios want of any
// of them: checkpoints from beside the file, and damage before a load. Where bytes are kept, and
// whether a machine may crash that keeps them, is for whoever derives.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "real/checkpoint/storage.h"
#include "scenarios/seam/damage.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class CheckpointFiles {
 public:
  virtual ~CheckpointFiles() = default;

  /// The door of one rank.
  virtual std::shared_ptr<real::Storage> storage_of(int rank) = 0;
  std::vector<StoredFile> files_of(std::string_view checkpoint) const;

  // ---- what goes wrong: to be called once an operation, with all ranks at rest ----
  virtual void begin_save() {}
  /// All ranks have returned from it. True where the machine crashes now.
  virtual bool end_save(std::string_view checkpoint);
  /// Damages the checkpoint as the scenario wants it before this load; says how, or nothing.
  virtual DamagedFiles begin_load(std::string_view checkpoint);

  /// Did the machine crash in this world?
  virtual bool crashed() const { return false; }

 protected:
  /// REQUIRES: the task outlives it.
  explicit CheckpointFiles(EngineTask const& task);
  /// Copies what the program loads without saving it from the task's directory.
  ///
  /// Errors: MachineLacks where it is not there.
  void import_foreign();
  EngineTask const& task() const { return task_; }

 private:
  /// Sorted; none where there is no such directory.
  virtual std::vector<std::string> names_in(std::string_view directory) const = 0;
  virtual std::span<std::byte const> bytes_at(std::string const& path) const = 0;
  virtual void make_directory(std::string const& path) = 0;
  /// Replaces a file's content, or makes the file.
  virtual void overwrite(std::string const& path, std::vector<std::byte> bytes) = 0;
  virtual void lose(std::string const& path) = 0;

  void import_foreign(std::string const& checkpoint);
  std::optional<FileDamage> damage_file(std::string const& checkpoint, Fault const& fault);

  EngineTask const& task_;
  int loads_ = 0;
  // By checkpoint: what the last save and the one before it left. Kept where the scenario wants
  // stale files.
  bool keeps_old_ = false;
  std::map<std::string, KeptFiles, std::less<>> newest_;
  std::map<std::string, KeptFiles, std::less<>> older_;
};

}  // namespace adamant::scenarios
