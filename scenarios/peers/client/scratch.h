// A directory for what engines in other processes write, which goes when this process goes, also
// when it is killed: a small process of its own waits for that and removes it.
#pragma once

#include <filesystem>
#include <string>

namespace adamant::scenarios {

/// The directory of this process, made when it is first asked for: in $TMPDIR where that is set,
/// else in memory where the machine has /dev/shm, else in /tmp. A fork that asks gets its own.
///
/// Errors: OutputError (scenarios/judge/dump/output_error.h) where it cannot be made.
std::filesystem::path const& scratch_of_this_process();

/// Could it be made, and take files? Leaves nothing.
///
/// Errors: OutputError where there is no such place, or its disk is full.
void expect_room_for_scratch();

/// A fresh directory in it, removed with everything in it when the object goes.
class ScratchRoom {
 public:
  explicit ScratchRoom(std::string const& name);
  ~ScratchRoom();
  ScratchRoom(ScratchRoom const&) = delete;  // two would remove the same files
  ScratchRoom& operator=(ScratchRoom const&) = delete;

  std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace adamant::scenarios
