// Finds the processes that an engine has started, wherever they went, by a mark in the environment
// that they inherit. It knows nothing of what they do.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace adamant::scenarios {

class RunTrace {
 public:
  /// From here on whatever this process starts bears a mark, until the object goes.
  RunTrace();
  ~RunTrace();
  RunTrace(RunTrace const&) = delete;  // one mark at a time
  RunTrace& operator=(RunTrace const&) = delete;

  /// Those that are alive and bear the mark, in the order of their ids.
  std::vector<pid_t> processes() const;

  /// Kills by SIGKILL the one that started the others: the first that is no shell around it.
  /// REQUIRES: there is one.
  void kill_launcher() const;

 private:
  std::string mark_;
};

}  // namespace adamant::scenarios
