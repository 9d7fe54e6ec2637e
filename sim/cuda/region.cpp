#include "sim/cuda/region.h"

#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <new>

#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

void reserve_at(std::uint64_t base, std::uint64_t bytes) {
  void* const wanted = reinterpret_cast<void*>(base);
  void* const got = mmap(wanted, bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted) throw std::bad_alloc();
}

void open_pages(std::uint64_t base, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t const page = 4096;
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  if (mprotect(reinterpret_cast<void*>(base + begin), end - begin, PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
}

std::uint8_t head_mask(std::uint64_t begin) {
  return static_cast<std::uint8_t>(0xFFU << (begin & 7));
}
std::uint8_t tail_mask(std::uint64_t end) {
  return static_cast<std::uint8_t>(0xFFU >> (7 - ((end - 1) & 7)));
}

// Visits the bytes of the map that cover [begin, end), each with the mask of its bits in the range.
template <typename Edge, typename Middle>
void over(std::uint64_t begin, std::uint64_t end, Edge&& edge, Middle&& middle) {
  if (begin >= end) return;
  std::uint64_t const first = begin >> 3;
  std::uint64_t const last = (end - 1) >> 3;
  if (first == last) return edge(first, head_mask(begin) & tail_mask(end));
  edge(first, head_mask(begin));
  if (last > first + 1) middle(first + 1, last - first - 1);
  edge(last, tail_mask(end));
}

}  // namespace

bool all_set(std::uint8_t const* bits, std::uint64_t begin, std::uint64_t end) {
  return first_clear(bits, begin, end) == end;
}

std::uint64_t first_clear(std::uint8_t const* bits, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t at = begin;
  while (at < end) {
    if ((at & 63) == 0 && end - at >= 64) {
      std::uint64_t word;
      std::memcpy(&word, bits + (at >> 3), sizeof word);
      if (word == ~0ULL) {
        at += 64;
        continue;
      }
      return at + static_cast<std::uint64_t>(std::countr_one(word));
    }
    if ((bits[at >> 3] >> (at & 7) & 1) == 0) return at;
    ++at;
  }
  return end;
}

void set_bits(std::uint8_t* bits, std::uint64_t begin, std::uint64_t end) {
  over(
      begin, end, [&](std::uint64_t at, int mask) { bits[at] |= static_cast<std::uint8_t>(mask); },
      [&](std::uint64_t at, std::uint64_t count) { std::memset(bits + at, 0xFF, count); });
}

void clear_bits(std::uint8_t* bits, std::uint64_t begin, std::uint64_t end) {
  over(
      begin, end, [&](std::uint64_t at, int mask) { bits[at] &= static_cast<std::uint8_t>(~mask); },
      [&](std::uint64_t at, std::uint64_t count) { std::memset(bits + at, 0, count); });
}

void Region::reserve() {
  static bool const done = [] {
    reserve_at(region_base, region_bytes);
    reserve_at(written_base, region_bytes / 8);
    reserve_at(usable_base, region_bytes / 8);
    return true;
  }();
  ADAMANT_SIM_ASSERT(done);
}

void Region::map(std::uint64_t begin, std::uint64_t end, bool with_maps) {
  open_pages(region_base, begin, end);
  if (!with_maps) return;
  open_pages(written_base, begin / 8, end / 8);
  open_pages(usable_base, begin / 8, end / 8);
}

void Region::discard(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t const page = 4096;
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end) madvise(region_address(begin), end - begin, MADV_DONTNEED);
}

}  // namespace adamant::sim
