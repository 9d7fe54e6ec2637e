#include "sim/world/crew.h"

namespace adamant::sim {
namespace {

constinit thread_local bool started_by_crew = false;

}  // namespace

bool Crew::is_here() {
  return started_by_crew;
}

Crew::~Crew() {
  {
    std::lock_guard const lock(mutex_);
    over_ = true;
  }
  called_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::share(std::size_t pieces, Work const& work) {
  if (size_ == 1 || pieces < 2) {
    for (std::size_t piece = 0; piece < pieces; ++piece) work(piece, 0);
    return;
  }
  if (threads_.empty()) start();
  {
    std::lock_guard const lock(mutex_);
    work_ = &work;
    pieces_ = pieces;
    next_ = 0;
    working_ = threads_.size();
    ++calls_;
  }
  called_.notify_all();
  take_pieces(0);
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return working_ == 0; });
}

void Crew::start() {
  for (std::size_t thread = 1; thread < size_; ++thread) {
    threads_.emplace_back([this, thread] { serve(thread); });
  }
}

void Crew::serve(std::size_t thread) {
  started_by_crew = true;
  std::unique_lock lock(mutex_);
  for (std::size_t served = 0;; ++served) {
    called_.wait(lock, [&] { return over_ || calls_ > served; });
    if (over_) return;
    lock.unlock();
    take_pieces(thread);
    lock.lock();
    if (--working_ == 0) finished_.notify_one();
  }
}

void Crew::take_pieces(std::size_t thread) {
  for (std::size_t piece = next_++; piece < pieces_; piece = next_++) (*work_)(piece, thread);
}

}  // namespace adamant::sim
