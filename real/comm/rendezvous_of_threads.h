// A place where all ranks of one process meet, each on a thread of its own, for host programs that
// bring none. A rank that fails abandons it, and one that is done leaves it, so that nobody waits
// for a rank that will not come. The engine never makes one.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "real/engine.h"

namespace adamant::real {

/// Another rank failed; what it said is the news, not this.
class Abandoned : public std::runtime_error {
 public:
  Abandoned() : std::runtime_error("another rank failed") {}
};

/// Another rank is done while this one still meets: one of the two is wrong.
class Deserted : public std::runtime_error {
 public:
  explicit Deserted(int rank)
      : std::runtime_error("rank " + std::to_string(rank) +
                           " is done, while this rank still meets it") {}
};

class RendezvousOfThreads final : public Rendezvous {
 public:
  explicit RendezvousOfThreads(int ranks) : ranks_(ranks) {}

  /// Waits for all ranks; the last one calls `once` while the others wait.
  /// Errors: Abandoned, Deserted, and what `once` throws, of the rank that called it.
  void meet(std::function<void()> const& once);
  void arrive_and_wait(int) override { meet({}); }

  /// Everybody who waits here, now or later, gets Abandoned.
  void abandon();
  /// The rank meets nobody any more: whoever waits here, now or later, gets Deserted.
  void leave(int rank);

 private:
  void expect_all() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  int const ranks_;
  int arrived_ = 0;
  long round_ = 0;
  bool abandoned_ = false;
  std::optional<int> left_;  // the first that did
};

}  // namespace adamant::real
