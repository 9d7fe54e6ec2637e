// The line that says how far a command is, rewritten in place while it runs. It goes to the
// standard error, and only where that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace adamant::scenarios {

/// "120 of 1000 cases, 40/s, 22 s left, 1 not as expected". Units: `total` 0 where it is unknown.
/// In the first second nothing is said of rate and time.
std::string progress_line(std::string_view what, std::uint64_t done, std::uint64_t total,
                          std::uint64_t failed, std::chrono::duration<double> since_begin);

class Progress {
 public:
  /// `what` is counted, such as "scenarios". Off: every verb does nothing.
  Progress(bool on, std::string_view what);
  ~Progress();
  Progress(Progress const&) = delete;  // one line, one owner
  Progress& operator=(Progress const&) = delete;

  /// Units: `total` 0 where it is unknown.
  void show(std::uint64_t done, std::uint64_t total, std::uint64_t failed);
  /// Takes the line away, for text that stays.
  void clear();

 private:
  bool on_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point shown_at_;
  std::string what_;
};

}  // namespace adamant::scenarios
