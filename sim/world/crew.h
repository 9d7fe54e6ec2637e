// Further OS threads for loops over much memory whose pieces are independent of each other, so that
// the result is the same on any number of threads. They see arrays, never the world.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace adamant::sim {

class Crew {
 public:
  /// One piece of the work; `thread` is below size(), and no two pieces run on one at a time.
  using Work = std::function<void(std::size_t piece, std::size_t thread)>;

  /// `threads` counts the caller's. Starts none: the first share() does.
  explicit Crew(int threads = 1) : size_(static_cast<std::size_t>(threads < 1 ? 1 : threads)) {}
  ~Crew();
  Crew(Crew const&) = delete;
  Crew& operator=(Crew const&) = delete;

  std::size_t size() const { return size_; }
  /// Did a crew start the calling thread?
  static bool is_here();

  /// Runs every piece of [0, pieces) once and returns when all are done. REQUIRES: `work` throws
  /// nothing and does not come back here.
  void share(std::size_t pieces, Work const& work);

 private:
  void start();
  void serve(std::size_t thread);
  void take_pieces(std::size_t thread);

  std::size_t size_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable called_;
  std::condition_variable finished_;
  Work const* work_ = nullptr;
  std::size_t pieces_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::size_t calls_ = 0;    // of share() so far
  std::size_t working_ = 0;  // threads that have not finished the current one
  bool over_ = false;
};

}  // namespace adamant::sim
