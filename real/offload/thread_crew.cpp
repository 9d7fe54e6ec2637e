#include "real/offload/thread_crew.h"

#include <utility>

#include "real/cuda/assert.h"

namespace adamant::real {

ThreadCrew::ThreadCrew(int threads, std::function<void(int)> begin) : begin_(std::move(begin)) {
  for (int thread = 1; thread < threads; ++thread)
    threads_.emplace_back([this, thread] { serve(thread); });
}

ThreadCrew::~ThreadCrew() {
  {
    std::lock_guard const lock(mutex_);
    over_ = true;
  }
  called_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadCrew::parallel_for(int chunks, std::function<void(int)> const& body) {
  std::unique_lock lock(mutex_);
  ADAMANT_REAL_ASSERT(body_ == nullptr);
  body_ = &body;
  chunks_ = chunks;
  next_ = 0;
  unfinished_ = chunks;
  if (chunks > 1) called_.notify_all();
  take_chunks(lock);
  finished_.wait(lock, [&] { return unfinished_ == 0; });
  body_ = nullptr;
}

void ThreadCrew::serve(int thread) {
  if (begin_) begin_(thread);
  std::unique_lock lock(mutex_);
  while (!over_) {
    take_chunks(lock);
    called_.wait(lock, [&] { return over_ || (body_ != nullptr && next_ < chunks_); });
  }
}

// A chunk is long beside a lock.
void ThreadCrew::take_chunks(std::unique_lock<std::mutex>& lock) {
  while (body_ != nullptr && next_ < chunks_) {
    int const chunk = next_++;
    lock.unlock();
    (*body_)(chunk);
    lock.lock();
    if (--unfinished_ == 0) finished_.notify_one();
  }
}

}  // namespace adamant::real
