#include "scenarios/report/progress.h"

#include <fmt/format.h>

#include <cstdio>

namespace adamant::scenarios {

Progress::Progress(bool on, std::string_view what) : on_(on), what_(what) {}

Progress::~Progress() {
  clear();
}

void Progress::show(std::uint64_t done, std::uint64_t total, std::uint64_t failed) {
  if (!on_) return;
  // A terminal is slower than a fuzzer: long searches show every hundredth case.
  bool const often = shown_ && (total == 0 || total >= 1000);
  bool const worth_it = !often || done >= shown_done_ + 100;
  if (!worth_it && done != total) return;
  std::string line = fmt::format("\r\x1b[K{} {}", done, what_);
  if (total > 0) line = fmt::format("\r\x1b[K{} of {} {}", done, total, what_);
  if (failed > 0) line += fmt::format(", {} not as expected", failed);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
  shown_done_ = done;
}

void Progress::clear() {
  if (!on_ || !shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace adamant::scenarios
