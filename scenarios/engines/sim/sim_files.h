// The files of a simulated run: one disk that outlives its worlds, every rank's door to it, and
// what a scenario wants to go wrong with it. When a save crashes and how a checkpoint is damaged
// before a load is decided here; what follows from it is the judges' part.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "real/checkpoint/storage.h"
#include "scenarios/seam/damage.h"
#include "scenarios/seam/engine.h"
#include "sim/world/crash_point.h"
#include "sim/world/disk.h"

namespace adamant::scenarios {

class SimFiles {
 public:
  /// Copies what the program loads without saving it from the task's directory to the disk.
  ///
  /// Errors: MachineLacks where it is not there.
  explicit SimFiles(EngineTask const& task);

  /// The door of one rank. Its verbs take turns with those of other ranks, and are the moments at
  /// which the machine may crash.
  std::unique_ptr<real::Storage> storage_of(int rank);

  std::vector<StoredFile> files_of(std::string_view checkpoint) const;

  // ---- what goes wrong: to be called once an operation, with all ranks at rest ----
  /// Arms the crash that the scenario wants of this save, if any.
  void begin_save();
  /// All ranks have returned from it. An armed crash that did not find its byte strikes now, and
  /// what it was is said: true.
  bool end_save(std::string_view checkpoint);
  /// Damages the checkpoint as the scenario wants it before this load; says how, or "".
  DamagedFiles begin_load(std::string_view checkpoint);

  /// Did the machine crash in this world?
  bool crashed() const { return crashed_; }
  void restart();

 private:
  friend class SimStorage;  // the rank's side of the same thing
  void crash();
  void import_foreign(std::string const& checkpoint);
  std::optional<FileDamage> damage_file(std::string const& checkpoint, Fault const& fault);

  EngineTask const& task_;
  sim::Disk disk_;
  sim::CrashPoint crash_point_;
  bool crashed_ = false;
  int saves_ = 0;
  int loads_ = 0;
  // By checkpoint: what the last save and the one before it left. Kept where the scenario wants
  // stale files.
  bool keeps_old_ = false;
  std::map<std::string, KeptFiles, std::less<>> newest_;
  std::map<std::string, KeptFiles, std::less<>> older_;
};

}  // namespace adamant::scenarios
