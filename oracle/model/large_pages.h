// An allocator for arrays of many megabytes: it asks the operating system for large pages, because
// touching a big model first costs mostly page faults otherwise. Small arrays come from the heap.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace adamant::oracle {

template <typename T>
struct LargePages {
  using value_type = T;

  static constexpr std::size_t page_bytes = 2 << 20;

  LargePages() = default;
  template <typename U>
  LargePages(LargePages<U> const&) {}

  T* allocate(std::size_t count) {
    std::size_t const bytes = count * sizeof(T);
    if (bytes < page_bytes) return static_cast<T*>(::operator new(bytes));
    void* const data = ::operator new (bytes, std::align_val_t{page_bytes});
    madvise(data, bytes / page_bytes * page_bytes,
            MADV_HUGEPAGE);  // a wish; refusal changes nothing
    return static_cast<T*>(data);
  }

  void deallocate(T* data, std::size_t count) {
    if (count * sizeof(T) < page_bytes) return ::operator delete(data);
    ::operator delete (data, std::align_val_t{page_bytes});
  }

  friend bool operator==(LargePages const&, LargePages const&) { return true; }
};

}  // namespace adamant::oracle
