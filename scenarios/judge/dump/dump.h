// Writes a run's inputs and states for others to redo: initial parameters, the gradient that each
// step consumed and the state it led to, as whole tensors assembled from what the ranks hold, and
// every checkpoint, in a directory of its name. Steps count on over loads. A gradient's file names
// the settings of its step, so that redo_in_torch.py needs nothing else.
//
// A dump appears whole or not at all: files go to a temporary directory beside the target, which is
// renamed when the run is over. A directory that is there already is replaced only if it is empty,
// or a dump, which the file `adamant-dump` in it says. A link stays one: what it points to is
// replaced.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// Removes what a dump to `directory` left that was made for `process` and did not come to its end,
/// because whoever wrote it was killed. A dump that it was about to replace is put back.
void remove_unfinished_dump(std::filesystem::path const& directory, pid_t process);

/// Could a dump be put there, as far as that is known before?
///
/// Errors: OutputError if `directory` has something in it and is not a dump, or nothing can be
/// written beside it.
void expect_dumpable(std::filesystem::path const& directory);

/// Whose run is dumped.
struct Dumped {
  int parameter_count = 0;
  std::function<ParameterSpec const&(int parameter)> spec;  // its types now: loads change them
  std::function<AdamConfig const&(int group)> settings;     // of the step that was last executed
};

class Dump final : public Observer {
 public:
  /// `process` names the temporary, see remove_unfinished_dump().
  ///
  /// Errors: OutputError, as expect_dumpable().
  Dump(std::filesystem::path const& directory, pid_t process, Dumped dumped);
  /// Removes what was not committed.
  ~Dump() override;
  Dump(Dump const&) = delete;
  Dump& operator=(Dump const&) = delete;

  // Errors of all of these: OutputError.
  bool started(WorldView const& world) override;
  bool after(Primitive const& operation, WorldView const& world) override;
  void finished(WorldView const&) override {}
  void ended(Leftovers const&) override {}

  /// Puts the dump in its place.
  void commit();

 private:
  void write_checkpoint(std::string_view name, WorldView const& world) const;
  void write_gradients(WorldView const& world, std::string const& file) const;
  std::string settings_of_step(WorldView const& world) const;
  void write_state(WorldView const& world, std::string const& file) const;

  std::filesystem::path directory_;
  std::filesystem::path temporary_;
  Dumped dumped_;
  int steps_ = 0;
};

}  // namespace adamant::scenarios
