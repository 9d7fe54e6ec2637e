// A program that answers lines with lines on its standard input and output: started, waited for
// with a bound, and ended with all that it started. It knows nothing of what the lines say.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

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

  /// Starts `command` with /bin/sh, in a process group of its own. All of the group get SIGKILL
  /// when this process dies.
  ///
  /// Errors: std::system_error where the system has no process or pipe left.
  explicit PeerProcess(std::string const& command);
  /// Closes its input, which asks it to end, and soon kills what is left of its group: at once
  /// after an interrupt.
  ~PeerProcess();
  PeerProcess(PeerProcess const&) = delete;  // it is a process
  PeerProcess& operator=(PeerProcess const&) = delete;

  /// Errors: PeerError where it no longer reads.
  void write_line(std::string_view line, Deadline deadline);
  /// The next line, without its end.
  ///
  /// Errors: PeerError where it ends, or sends no whole line before `deadline` or before an
  ///         interrupt (pool/interrupt.h), or one of more than line_bytes_max.
  std::string read_line(Deadline deadline);

  /// The end of what it wrote to standard error, in one line of text; "" if nothing.
  std::string last_words() const;
  /// Closes its input, as a user does who has no more requests, and waits: has it ended by then?
  bool ends_after_input(std::chrono::milliseconds wait);

 private:
  [[noreturn]] void run_child(std::string const& command, int input, int output);
  /// Starts the process that ends the group when this one is gone, however that happens.
  void start_guard();
  void wait_for(int descriptor, short events, Deadline deadline, char const* what);
  /// "exit status 3", "killed by signal 9 (Killed)", or "it closed its output".
  std::string how_it_ended();
  bool has_ended();

  pid_t process_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  int errors_ = -1;  // a file in memory
  pid_t guard_ = -1;
  int alive_ = -1;  // closed by our end alone
  int status_ = 0;  // of waitpid, once it has ended
  bool reaped_ = false;
  std::string received_;
  std::size_t searched_ = 0;  // so much of it has no end of a line
};

}  // namespace adamant::scenarios
