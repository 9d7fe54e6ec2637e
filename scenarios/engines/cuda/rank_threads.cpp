#include "scenarios/engines/cuda/rank_threads.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace adamant::scenarios {

namespace {

/// Shared with the threads, of which some may outlive who started them.
struct Running {
  std::function<void(int)> body;
  std::mutex mutex;
  std::condition_variable changed;
  int ranks = 0;
};

void run_one(Running& running, int rank) {
  running.body(rank);
  std::lock_guard const lock(running.mutex);
  --running.ranks;
  running.changed.notify_all();
}

}  // namespace

bool run_on_threads(int ranks, std::function<void(int rank)> body,
                    std::function<bool()> const& failed, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds look(20);
  auto const running = std::make_shared<Running>();
  running->body = std::move(body);
  running->ranks = ranks;
  for (int rank = 0; rank < ranks; ++rank)
    std::thread([running, rank] { run_one(*running, rank); }).detach();

  std::chrono::milliseconds waited(0);  // since a failure
  std::unique_lock lock(running->mutex);
  while (!running->changed.wait_for(lock, look, [&] { return running->ranks == 0; })) {
    if (!failed()) continue;
    waited += look;
    if (waited > patience) return false;
  }
  return true;
}

}  // namespace adamant::scenarios
