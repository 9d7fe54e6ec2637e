// An allocator for arrays of many megabytes. What it hands out is zero, and elements that are not
// given a value are left alone, so that a big tensor of zeros is not touched before it is needed:
// touching a big model first costs mostly page faults, for which it also asks for large pages.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace adamant::oracle {

template <typename T>
struct ZeroedPages {
  using value_type = T;

  static constexpr std::size_t page_bytes = 2 << 20;

  ZeroedPages() = default;
  template <typename U>
  ZeroedPages(ZeroedPages<U> const&) {}

  T* allocate(std::size_t count) {
    std::size_t const bytes = count * sizeof(T);
    if (bytes < page_bytes) return static_cast<T*>(std::memset(::operator new(bytes), 0, bytes));
    void* const data =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    madvise(data, bytes, MADV_HUGEPAGE);  // a wish; refusal changes nothing
    return static_cast<T*>(data);
  }

  void deallocate(T* data, std::size_t count) {
    std::size_t const bytes = count * sizeof(T);
    if (bytes < page_bytes) return ::operator delete(data);
    munmap(data, bytes);
  }

  /// Leaves the element as it is: zero in memory that nobody wrote yet.
  template <typename U>
  void construct(U* element) {
    ::new (static_cast<void*>(element)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* element, Arguments&&... arguments) {
    ::new (static_cast<void*>(element)) U(std::forward<Arguments>(arguments)...);
  }

  friend bool operator==(ZeroedPages const&, ZeroedPages const&) { return true; }
};

}  // namespace adamant::oracle
