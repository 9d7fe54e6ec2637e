// Ends what a command has started, wherever it went. A kill of a process group misses who has left
// it, so between us and the command stands a process, `adamant-keeper`, to which every orphan below
// it falls. It knows nothing of what the command does.
#pragma once

#include <sys/types.h>

#include <optional>

namespace adamant::scenarios {

/// The result of a system call that has to succeed. Errors: std::system_error.
int must(int result, char const* what);

/// For /bin/sh, and its standard streams.
struct KeptCommand {
  char const* text = nullptr;
  int input = -1;
  int output = -1;
  int errors = -1;
};

class Keeper {
 public:
  /// Starts the command, in a process group of its own.
  ///
  /// Errors: std::system_error where the system has no process or socket left.
  explicit Keeper(KeptCommand const& command);
  /// Kills the command and all that it started, and returns when they are gone. The same happens
  /// when this process dies.
  ~Keeper();
  Keeper(Keeper const&) = delete;  // it is a process
  Keeper& operator=(Keeper const&) = delete;

  /// Of waitpid(2), once the command has ended. What it started may live on.
  std::optional<int> status();

 private:
  pid_t process_ = -1;
  int line_ = -1;  // closed by our end alone
  std::optional<int> status_;
};

}  // namespace adamant::scenarios
