#include "real/offload/host_array.h"

#include <cstdlib>
#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace adamant::real {

namespace {

constexpr std::size_t huge_page_bytes = 2 << 20;

// Whole huge pages for what is large: four arrays at once are more than small pages' buffers hold.
void* allocate_pageable(std::size_t bytes) {
  std::size_t const alignment = bytes >= huge_page_bytes ? huge_page_bytes : 64;
  std::size_t const rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
  if (alignment == huge_page_bytes) static_cast<void>(::madvise(memory, rounded, MADV_HUGEPAGE));
#endif
  std::memset(memory, 0, rounded);
  return memory;
}

}  // namespace

HostArray::HostArray(Ledger& ledger, Purpose purpose, Shape const& shape) {
  if (shape.bytes == 0) return;
  std::size_t const skipped = shape.bytes >= staggered_from_bytes
                                  ? static_cast<std::size_t>(shape.slot) * stagger_bytes
                                  : 0;
  std::size_t const bytes = shape.bytes + skipped;
  if (shape.pinned) {
    pinned_ = std::make_unique<PinnedBuffer>(ledger, purpose, bytes);
    data_ = pinned_->as<std::byte>() + skipped;
  } else {
    pageable_.reset(allocate_pageable(bytes));
    data_ = static_cast<std::byte*>(pageable_.get()) + skipped;
  }
}

void HostArray::Free::operator()(void* memory) const {
  std::free(memory);
}

}  // namespace adamant::real
