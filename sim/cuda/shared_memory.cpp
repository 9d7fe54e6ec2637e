#include "sim/cuda/shared_memory.h"

#include <sys/mman.h>

#include <cstring>

#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

constexpr std::size_t shared_alignment = 16;
constexpr std::size_t guard_bytes = 64 << 10;  // whole pages, whatever their size

// Not in the heap, which is the host's.
char* map() {
  void* const all = mmap(nullptr, shared_bytes_max + guard_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ADAMANT_SIM_ASSERT(all != MAP_FAILED);
  char* const end = static_cast<char*>(all) + shared_bytes_max;
  ADAMANT_SIM_ASSERT(mprotect(end, guard_bytes, PROT_NONE) == 0);
  return end;
}

char* end_of_shared() {
  static char* const end = map();
  return end;
}

std::size_t bytes_now = 0;

}  // namespace

void set_shared_bytes(std::size_t bytes) {
  bytes_now = bytes;
}

void poison_shared() {
  std::memset(dynamic_shared(), -1, bytes_now);
}

void* dynamic_shared() {
  return end_of_shared() - (bytes_now + shared_alignment - 1) / shared_alignment * shared_alignment;
}

std::size_t dynamic_shared_bytes() {
  return bytes_now;
}

std::optional<std::uint64_t> bytes_behind_shared(std::uintptr_t address) {
  std::uint64_t const behind = address - reinterpret_cast<std::uintptr_t>(end_of_shared());
  if (behind >= guard_bytes) return std::nullopt;
  return address - reinterpret_cast<std::uintptr_t>(dynamic_shared()) - bytes_now;
}

}  // namespace adamant::sim
