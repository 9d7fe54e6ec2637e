// Threads of the operating system as Workers, for host programs that have none of their own. They
// sleep between loops. The engine never makes one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "real/offload/workers.h"

namespace adamant::real {

/// Serves one caller at a time.
class ThreadCrew final : public Workers {
 public:
  /// `threads` counts the caller's; `begin(thread)` runs first on each further one, from 1 (to pin
  /// it, say).
  explicit ThreadCrew(int threads, std::function<void(int thread)> begin = {});
  ~ThreadCrew() override;
  ThreadCrew(ThreadCrew const&) = delete;
  ThreadCrew& operator=(ThreadCrew const&) = delete;

  int count() const override { return static_cast<int>(threads_.size()) + 1; }
  void parallel_for(int chunks, std::function<void(int chunk)> const& body) override;

 private:
  void serve(int thread);
  void take_chunks(std::unique_lock<std::mutex>& lock);

  std::function<void(int)> begin_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable called_;
  std::condition_variable finished_;
  std::function<void(int)> const* body_ = nullptr;
  int chunks_ = 0;
  int next_ = 0;
  int unfinished_ = 0;
  bool over_ = false;
};

}  // namespace adamant::real
