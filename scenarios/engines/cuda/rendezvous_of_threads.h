// A place where all ranks of one process meet, each on a thread of its own. A rank that fails
// abandons it, so that nobody waits for a rank that will not come.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>

#include "real/engine.h"

namespace adamant::scenarios {

/// Another rank failed; what it said is the news, not this.
class Abandoned : public std::runtime_error {
 public:
  Abandoned() : std::runtime_error("another rank failed") {}
};

class RendezvousOfThreads final : public real::Rendezvous {
 public:
  explicit RendezvousOfThreads(int ranks) : ranks_(ranks) {}

  /// Waits for all ranks; the last one calls `once` while the others wait. Errors: Abandoned.
  void meet(std::function<void()> const& once);
  void arrive_and_wait(int) override { meet({}); }

  /// Everybody who waits here, now or later, gets Abandoned.
  void abandon();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int const ranks_;
  int arrived_ = 0;
  long round_ = 0;
  bool abandoned_ = false;
};

}  // namespace adamant::scenarios
