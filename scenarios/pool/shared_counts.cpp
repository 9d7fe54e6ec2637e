#include "scenarios/pool/shared_counts.h"

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace adamant::scenarios {

SharedCounts::SharedCounts() {
  int const access = PROT_READ | PROT_WRITE;
  void* const page = ::mmap(nullptr, sizeof(Page), access, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  page_ = new (page) Page;
}

SharedCounts::~SharedCounts() {
  ::munmap(page_, sizeof(Page));
}

void SharedCounts::write(Counts counts) {
  page_->done.store(counts.done, std::memory_order_relaxed);
  page_->total.store(counts.total, std::memory_order_relaxed);
}

SharedCounts::Counts SharedCounts::read() const {
  return {.done = page_->done.load(std::memory_order_relaxed),
          .total = page_->total.load(std::memory_order_relaxed)};
}

}  // namespace adamant::scenarios
