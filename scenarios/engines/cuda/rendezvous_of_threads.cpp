#include "scenarios/engines/cuda/rendezvous_of_threads.h"

namespace adamant::scenarios {

void RendezvousOfThreads::meet(std::function<void()> const& once) {
  std::unique_lock lock(mutex_);
  if (abandoned_) throw Abandoned();
  long const round = round_;
  if (++arrived_ == ranks_) {
    if (once) once();
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
    return;
  }
  changed_.wait(lock, [&] { return round_ != round || abandoned_; });
  if (round_ == round) throw Abandoned();
}

void RendezvousOfThreads::abandon() {
  std::lock_guard const lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

}  // namespace adamant::scenarios
