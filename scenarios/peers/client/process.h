// A program that answers lines with lines on its standard input and output: started, waited for
// with a bound, and ended with all that it started. It knows nothing of what the lines say.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "scenarios/peers/client/keeper.h"

namespace adamant::scenarios {

/// The other side did not do what the protocol asks of it: it ended, was silent for too long, or
/// said what nobody can read. What it was busy with is lost; another process may be started.
class PeerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What failed is not the engine but what stands between: it does not fit what is installed.
class AdapterFailed : public PeerError {
 public:
  using PeerError::PeerError;
};

/// It was silent for too long.
class PeerLate : public PeerError {
 public:
  using PeerError::PeerError;
};

class PeerProcess {
 public:
  /// The end of a wait that begins now. Messages say how long it is, and by which option.
  class Deadline {
   public:
    explicit Deadline(std::chrono::milliseconds wait)
        : wait_(wait), end_(std::chrono::steady_clock::now() + wait) {}
    std::chrono::milliseconds wait() const { return wait_; }
    std::chrono::steady_clock::time_point end() const { return end_; }

   private:
    std::chrono::milliseconds wait_;
    std::chrono::steady_clock::time_point end_;
  };
  static constexpr std::size_t line_bytes_max = 64U << 20;

  /// Starts `command` with /bin/sh. It and all that it starts get SIGKILL when this process dies.
  ///
  /// Errors: std::system_error where the system has no process or pipe left.
  explicit PeerProcess(std::string const& command);
  /// Closes its input, which asks it to end, and soon kills what is left of it: at once where
  /// must_stop() (pool/interrupt.h) says so.
  ~PeerProcess();
  PeerProcess(PeerProcess const&) = delete;  // it is a process
  PeerProcess& operator=(PeerProcess const&) = delete;

  /// Errors: PeerError where it no longer reads.
  void write_line(std::string_view line, Deadline deadline);
  /// The next line, without its end.
  ///
  /// Errors: PeerError where it ends, or sends no whole line before `deadline` or before
  ///         must_stop() (pool/interrupt.h), or one of more than line_bytes_max.
  std::string read_line(Deadline deadline);

  /// The last lines of what it wrote to standard error; "" if nothing.
  std::string last_words() const;
  /// Closes its input, as a user does who has no more requests, and waits: has it ended by then?
  bool ends_after_input(std::chrono::milliseconds wait);

 private:
  void wait_for(int descriptor, short events, Deadline deadline, char const* what);
  /// "exit status 3", "killed by signal 9 (Killed)", or "it closed its output".
  std::string how_it_ended();

  std::optional<Keeper> keeper_;
  int to_child_ = -1;
  int from_child_ = -1;
  int errors_ = -1;  // a file in memory
  std::string received_;
  std::size_t searched_ = 0;  // so much of it has no end of a line
};

}  // namespace adamant::scenarios
