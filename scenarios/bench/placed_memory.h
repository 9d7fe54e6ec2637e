// Arrays of a benchmark at chosen distances, in huge or small pages; and what else a fair
// comparison of loops over them needs.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace adamant::scenarios {

inline constexpr std::int64_t huge_page_bytes = 2LL << 20;

enum class MemoryPlacement {
  staggered,
  back_to_back,  // arrays of 2^k bytes meet in the same sets of a cache and banks of the memory
  small_pages,   // staggered
};

/// Some arrays of the same size. What is in them at first is zero.
class PlacedMemory {
 public:
  PlacedMemory(int arrays, std::int64_t bytes_each, MemoryPlacement placement)
      : distance_bytes_(rounded_up(bytes_each) +
                        (placement == MemoryPlacement::back_to_back ? 0 : stagger_bytes)),
        bytes_(static_cast<std::size_t>(arrays * distance_bytes_ + huge_page_bytes)),
        memory_(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory for the arrays of a step");
    bool const small = placement == MemoryPlacement::small_pages;
    bool const advised = ::madvise(memory_, bytes_, small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE) == 0;
    huge_ = advised && !small;
  }
  ~PlacedMemory() { ::munmap(memory_, bytes_); }
  PlacedMemory(PlacedMemory const&) = delete;
  PlacedMemory& operator=(PlacedMemory const&) = delete;

  std::byte* array(int number) const {
    auto const begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory_));
    return reinterpret_cast<std::byte*>(
        static_cast<std::uintptr_t>(rounded_up(begin) + number * distance_bytes_));
  }
  std::int64_t distance_bytes() const { return distance_bytes_; }
  bool huge() const { return huge_; }

 private:
  static constexpr std::int64_t stagger_bytes = huge_page_bytes + 65 * 64;

  static std::int64_t rounded_up(std::int64_t bytes) {
    return (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  }

  std::int64_t distance_bytes_;
  std::size_t bytes_;
  void* memory_;
  bool huge_ = false;
};

inline void pin_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

/// The calling thread is on the first processor for as long as this stands.
class PinnedToFirst {
 public:
  PinnedToFirst() {
    static_cast<void>(::sched_getaffinity(0, sizeof before_, &before_));
    pin_to(0);
  }
  ~PinnedToFirst() { static_cast<void>(::sched_setaffinity(0, sizeof before_, &before_)); }
  PinnedToFirst(PinnedToFirst const&) = delete;
  PinnedToFirst& operator=(PinnedToFirst const&) = delete;

 private:
  cpu_set_t before_;
};

/// Idle threads go to sleep before the next contender.
inline void pause_between_contenders() {
  ::usleep(15'000);
}

}  // namespace adamant::scenarios
