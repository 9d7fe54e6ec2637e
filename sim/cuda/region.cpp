#include "sim/cuda/region.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/too_few_addresses.h"
#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

void reserve_at(std::uint64_t base, std::uint64_t bytes) {
  void* const wanted = reinterpret_cast<void*>(base);
  void* const got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return;
  throw TooFewAddresses(
      "the simulator reserves 20 TiB of addresses, of which it fills few, and this process may not "
      "have them: `ulimit -v unlimited` lets it");
}

constexpr std::uint64_t page = 4096;

// Gives back the pages that lie in the range; they read as zeros afterwards.
void drop_pages(std::uint64_t base, std::uint64_t begin, std::uint64_t end) {
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin >= end) return;
  ADAMANT_SIM_ASSERT(madvise(reinterpret_cast<void*>(base + begin), end - begin, MADV_DONTNEED) ==
                     0);
}

void prefer_large(std::uint64_t base, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t const large = 2 << 20;
  begin = (begin + large - 1) / large * large;
  end = end / large * large;
  if (begin < end) madvise(reinterpret_cast<void*>(base + begin), end - begin, MADV_HUGEPAGE);
}

// Clearing so many bits of a map is dearer than dropping its pages.
constexpr std::uint64_t drop_from_bytes = 8 << 20;

void clear_map(std::uint8_t* bits, std::uint64_t base, std::uint64_t begin, std::uint64_t end) {
  if (end - begin < drop_from_bytes) return clear_bits(bits, begin, end);
  std::uint64_t const unit = 8 * page;
  std::uint64_t const first = (begin + unit - 1) / unit * unit;
  std::uint64_t const last = end / unit * unit;
  clear_bits(bits, begin, first);
  drop_pages(base, first / 8, last / 8);
  clear_bits(bits, last, end);
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
  for (std::uint64_t at = begin; at < end; at = (at | 63) + 1) {
    std::uint64_t word;
    std::memcpy(&word, bits + (at >> 6 << 3), sizeof word);
    std::uint64_t const clear = ~word >> (at & 63);
    if (clear == 0) continue;
    return std::min(end, at + static_cast<std::uint64_t>(std::countr_zero(clear)));
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

void Region::prefer_large_pages(std::uint64_t begin, std::uint64_t end) {
  prefer_large(region_base, begin, end);
  prefer_large(written_base, begin / 8, end / 8);
  prefer_large(usable_base, begin / 8, end / 8);
}

void Region::discard(std::uint64_t begin, std::uint64_t end) {
  drop_pages(region_base, begin, end);
}

void Region::zero(std::uint64_t begin, std::uint64_t end) {
  std::uint64_t const first = std::min((begin + page - 1) / page * page, end);
  std::uint64_t const last = std::max(end / page * page, first);
  std::memset(region_address(begin), 0, first - begin);
  drop_pages(region_base, first, last);
  std::memset(region_address(last), 0, end - last);
}

void Region::clear_maps(std::uint64_t begin, std::uint64_t end) {
  clear_map(written_bits, written_base, begin, end);
  clear_map(usable_bits, usable_base, begin, end);
}

}  // namespace adamant::sim
