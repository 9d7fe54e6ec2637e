#include "scenarios/report/progress.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

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

std::string progress_line(std::string_view what, std::uint64_t done, std::uint64_t total,
                          std::uint64_t failed, std::chrono::duration<double> since_begin) {
  std::string line =
      total > 0 ? fmt::format("{} of {} {}", done, total, what) : fmt::format("{} {}", done, what);
  double const seconds = since_begin.count();
  if (done > 0 && seconds >= 1) {
    double const rate = static_cast<double>(done) / seconds;
    line += rate >= 10 ? fmt::format(", {:.0f}/s", rate) : fmt::format(", {:.1f}/s", rate);
    if (total > done)
      line += fmt::format(", {} left", time_left(static_cast<double>(total - done) / rate));
  }
  if (failed > 0) line += fmt::format(", {} not as expected", failed);
  return line;
}

Progress::Progress(bool on, std::string_view what) : on_(on), begin_(Clock::now()), what_(what) {}

Progress::~Progress() {
  clear();
}

void Progress::show(std::uint64_t done, std::uint64_t total, std::uint64_t failed) {
  if (!on_) return;
  auto const now = Clock::now();
  if (shown_ && now - shown_at_ < between_lines && done != total) return;
  std::string const line = "\r\x1b[K" + progress_line(what_, done, total, failed, now - begin_);
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
