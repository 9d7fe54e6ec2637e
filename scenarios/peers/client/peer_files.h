// The directory of a run's checkpoints, real files that the engine writes: which of its saves
// crashes where, and how a checkpoint is damaged before a load.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/damage.h"

namespace adamant::scenarios {

/// Where a rank dies in a save: before that file operation of its own, from 0.
struct PeerCrash {
  std::int64_t rank = 0;
  std::int64_t operation = 0;
};

class PeerFiles {
 public:
  /// REQUIRES: the scenario outlives it.
  PeerFiles(Scenario const& scenario, std::filesystem::path directory);

  std::filesystem::path path_of(std::string_view checkpoint) const;
  /// Copies a checkpoint that is there before the run, as `from`/`checkpoint`: whatever becomes of
  /// it here, that one stays.
  ///
  /// Errors: MachineLacks where it is not there; std::filesystem::filesystem_error.
  void import(std::filesystem::path const& from, std::string const& checkpoint);

  /// To be called before each save: the crash that the scenario wants of it, or none. A fault's
  /// `after_bytes` counts file operations here, because another process's bytes cannot be cut.
  std::optional<PeerCrash> begin_save();
  /// Is a save read as soon as it has ended?
  bool keeps_old() const { return keeps_old_; }
  /// The save has returned.
  void end_save(std::string_view checkpoint);
  /// What lies there now.
  FileDigests digests(std::string_view checkpoint) const;
  KeptFiles read(std::string_view checkpoint) const;
  /// To be called before each load: damages the checkpoint as the scenario wants it; says how, or
  /// "".
  DamagedFiles begin_load(std::string_view checkpoint);

 private:
  std::optional<FileDamage> damage_file(std::string const& checkpoint, Fault const& fault);

  Scenario const& scenario_;
  std::filesystem::path directory_;
  int saves_ = 0;
  int loads_ = 0;
  bool keeps_old_ = false;  // by checkpoint, what the last save and the one before it left
  std::map<std::string, KeptFiles, std::less<>> newest_;
  std::map<std::string, KeptFiles, std::less<>> older_;
};

}  // namespace adamant::scenarios
