#include "real/comm/rendezvous_of_threads.h"

namespace adamant::real {

void RendezvousOfThreads::meet(std::function<void()> const& once) {
  std::unique_lock lock(mutex_);
  expect_all();
  long const round = round_;
  if (++arrived_ == ranks_) {
    if (once) once();
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
    return;
  }
  changed_.wait(lock, [&] { return round_ != round || abandoned_ || left_; });
  if (round_ == round) expect_all();
}

// REQUIRES: the mutex.
void RendezvousOfThreads::expect_all() const {
  if (abandoned_) throw Abandoned();
  if (left_) throw Deserted(*left_);
}

void RendezvousOfThreads::abandon() {
  std::lock_guard const lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

void RendezvousOfThreads::leave(int rank) {
  std::lock_guard const lock(mutex_);
  if (!left_) left_ = rank;
  changed_.notify_all();
}

}  // namespace adamant::real
