#include "real/testing/rank_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace adamant::real {

namespace {

/// Whether an assertion that returns from where it stands has failed, on any thread, since this was
/// made: a rank that returned may not come to what others wait for.
class FatalFailures final : public testing::EmptyTestEventListener {
 public:
  FatalFailures() { testing::UnitTest::GetInstance()->listeners().Append(this); }
  ~FatalFailures() override { testing::UnitTest::GetInstance()->listeners().Release(this); }

  void OnTestPartResult(testing::TestPartResult const& result) override {
    if (result.fatally_failed()) seen_ = true;
  }
  bool seen() const { return seen_; }

 private:
  std::atomic<bool> seen_ = false;
};

class RankThreads {
 public:
  RankThreads(int ranks, RankBody const& body)
      : body_(body), all_(ranks), ended_(static_cast<std::size_t>(ranks), false) {}

  std::optional<RankFailure> run(std::chrono::milliseconds patience);

 private:
  void run_one(int rank);
  void fail(int rank, std::string const& message);
  void wait(std::chrono::milliseconds patience);
  [[noreturn]] void give_up(std::chrono::milliseconds patience) const;

  RankBody const& body_;
  RendezvousOfThreads all_;
  FatalFailures fatal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> ended_;             // by rank
  std::optional<RankFailure> failure_;  // the first
};

std::optional<RankFailure> RankThreads::run(std::chrono::milliseconds patience) {
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < static_cast<int>(ended_.size()); ++rank)
      threads.emplace_back([this, rank] { run_one(rank); });
    wait(patience);
  }
  return failure_;
}

void RankThreads::run_one(int rank) {
  try {
    body_(rank, all_);
    all_.leave(rank);
  } catch (Abandoned const&) {
  } catch (std::exception const& error) {
    fail(rank, error.what());
  } catch (...) {
    fail(rank, "threw something that says nothing");
  }
  std::lock_guard const lock(mutex_);
  ended_[static_cast<std::size_t>(rank)] = true;
  changed_.notify_all();
}

void RankThreads::fail(int rank, std::string const& message) {
  {
    std::lock_guard const lock(mutex_);
    if (!failure_) failure_ = {.rank = rank, .message = message};
  }
  all_.abandon();
}

void RankThreads::wait(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds look(20);
  std::chrono::milliseconds waited(0);  // since a failure
  auto const all_ended = [&] { return std::ranges::find(ended_, false) == ended_.end(); };
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, look, all_ended)) {
    if (!failure_ && !fatal_.seen()) continue;
    waited += look;
    if (waited > patience) give_up(patience);
  }
}

void RankThreads::give_up(std::chrono::milliseconds patience) const {
  std::string text = "an assertion of a rank failed";
  if (failure_) text = "rank " + std::to_string(failure_->rank) + ": " + failure_->message;
  text += "; after " + std::to_string(patience.count()) + " ms more there is no end of rank";
  for (std::size_t rank = 0; rank < ended_.size(); ++rank)
    if (!ended_[rank]) text += " " + std::to_string(rank);
  text += ", which may wait for another on a device: the process ends here\n";
  std::fputs(text.c_str(), stderr);
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace

std::optional<RankFailure> run_on_threads(int ranks, RankBody const& body,
                                          std::chrono::milliseconds patience) {
  return RankThreads(ranks, body).run(patience);
}

}  // namespace adamant::real
