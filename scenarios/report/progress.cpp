#include "scenarios/report/progress.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "scenarios/report/text.h"

namespace adamant::scenarios {

namespace {

using Clock = std::chrono::steady_clock;

// A terminal is slower than a fuzzer, and nobody reads faster.
constexpr std::chrono::milliseconds between_lines{100};

std::string time_left(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 6000) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.0f} h", std::ceil(seconds / 3600));
}

}  // namespace

std::string progress_line(std::string_view what, HowFar const& far,
                          std::chrono::duration<double> since_begin) {
  bool const has_end = far.total > 0 && !far.at_most;
  if ((has_end ? far.total : far.done) == 1 && what.ends_with('s')) what.remove_suffix(1);
  std::string line = has_end ? fmt::format("{} of {} {}", far.done, far.total, what)
                             : fmt::format("{} {}", far.done, what);
  double const seconds = since_begin.count();
  if (far.done > 0 && seconds >= 1) {
    double const rate = static_cast<double>(far.done) / seconds;
    line += fmt::format(", {}/s", per_second(rate));
    if (far.total > far.done)
      line += fmt::format(", {}{} left", far.at_most ? "at most " : "",
                          time_left(static_cast<double>(far.total - far.done) / rate));
  }
  if (far.failed > 0) line += fmt::format(", {} not as expected", far.failed);
  return line;
}

Progress::Progress(bool on, std::string_view what) : on_(on), begin_(Clock::now()), what_(what) {}

Progress::~Progress() {
  clear();
}

void Progress::show(HowFar const& far) {
  if (!on_) return;
  auto const now = Clock::now();
  if (shown_ && now - shown_at_ < between_lines && far.done != far.total) return;
  std::string const line = "\r\x1b[K" + progress_line(what_, far, now - begin_);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
  shown_at_ = now;
}

void Progress::clear() {
  if (!on_ || !shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace adamant::scenarios
