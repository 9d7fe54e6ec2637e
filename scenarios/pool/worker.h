// One worker process: a fork of this one that answers jobs by number, one line an answer. It knows
// nothing of what a job is.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace adamant::scenarios {

/// What a job came to. The text may contain anything but a newline.
struct Answer {
  Answer(std::string said, bool is_last = false) : text(std::move(said)), last(is_last) {}

  std::string text;
  bool last;  // the process is spoilt for others, which would fail or be measured with it
};

/// What a job computes, in the worker.
using Work = std::function<Answer(std::uint64_t job)>;

/// REQUIRES: no other thread runs in this process while one is made.
class Worker {
 public:
  /// Forks. Other workers' pipes are closed in the child by Pool, through `in_child`.
  ///
  /// Errors: std::system_error where the system has no process or pipe left.
  Worker(Work const& work, std::function<void()> const& in_child);
  /// Kills and reaps what still runs.
  ~Worker();
  Worker(Worker const&) = delete;  // it is a process
  Worker& operator=(Worker const&) = delete;

  pid_t process() const { return process_; }
  void give(std::uint64_t job);
  bool is_busy() const { return job_.has_value(); }
  std::uint64_t job() const { return *job_; }
  std::chrono::steady_clock::time_point given_at() const { return given_at_; }

  /// Readable when an answer, or the end of the process, may be there.
  int descriptor() const { return from_child_; }
  void close_descriptors() const;

  /// Reads what is there without waiting: the answer to job() once it is complete.
  std::optional<std::string> poll_answer();
  /// Was that the last answer of its process?
  bool is_spent() const { return spent_; }
  /// True once the process has closed its end, which it does by dying alone.
  bool is_gone() const { return gone_; }

  /// Ends the process and says how it ended: "killed by signal 6 (Aborted)", "exit status 3".
  std::string reap();

 private:
  [[noreturn]] static void serve(Work const& work, int jobs, int answers);

  pid_t process_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  bool gone_ = false;
  bool spent_ = false;
  std::optional<std::uint64_t> job_;
  std::chrono::steady_clock::time_point given_at_;
  std::string received_;
};

}  // namespace adamant::scenarios
