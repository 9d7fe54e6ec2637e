// The line that says how far a command is, rewritten in place while it runs. It goes to the
// standard error, and only where that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace adamant::scenarios {

struct HowFar {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
  bool at_most = false;     // the total: it may end long before
  std::uint64_t failed = 0;
};

/// "120 of 1000 cases, 40/s, 22 s left, 1 not as expected"; "120 runs, 40/s, at most 22 s left".
/// In the first second nothing is said of rate and time.
std::string progress_line(std::string_view what, HowFar const& far,
                          std::chrono::duration<double> since_begin);

class Progress {
 public:
  /// `what` is counted, such as "scenarios". Off: every verb does nothing.
  Progress(bool on, std::string_view what);
  ~Progress();
  Progress(Progress const&) = delete;  // one line, one owner
  Progress& operator=(Progress const&) = delete;

  void show(HowFar const& far);
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
