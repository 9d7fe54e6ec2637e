// Numbers that a worker process writes and its parent reads while the job is under way.
#pragma once

#include <atomic>
#include <cstdint>

namespace adamant::scenarios {

class SharedCounts {
 public:
  struct Counts {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
  };

  /// REQUIRES: made before the workers that write it. Errors: std::system_error, without memory.
  SharedCounts();
  ~SharedCounts();
  SharedCounts(SharedCounts const&) = delete;  // one page, one owner
  SharedCounts& operator=(SharedCounts const&) = delete;

  void write(Counts counts);
  /// What was written last, or part of it and the rest from before: for people alone.
  Counts read() const;

 private:
  struct Page {
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint64_t> total = 0;
  };
  Page* page_;
};

}  // namespace adamant::scenarios
