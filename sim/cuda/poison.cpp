#include "sim/cuda/poison.h"

#include <algorithm>
#include <cstring>

#include "sim/cuda/region.h"

namespace adamant::sim {
namespace {

constexpr int poison_byte = 0xFF;
// Of still larger blocks only so much at each end is poisoned, and the rest not committed.
constexpr std::uint64_t committed_whole_bytes_max = 512ULL << 20;
constexpr std::uint64_t poisoned_end_bytes = 1 << 20;
// In unchecked worlds, whose time is that of moving memory, one cache line of so many bytes is
// enough for a stale read to show in the values of blocks from here on.
constexpr std::uint64_t lines_from_bytes = 64 << 10;
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t line_distance_bytes = 1 << 10;
// From here on other threads help: most of the time goes into pages that are touched first.
constexpr std::uint64_t shared_bytes_min = 8 << 20;
constexpr std::uint64_t large_page_bytes = 2 << 20;

void poison_all(std::uint64_t begin, std::uint64_t end) {
  std::memset(region_address(begin), poison_byte, end - begin);
}

// The lines of the block that `origin` begins, which are those in [begin, end).
void poison_lines(std::uint64_t origin, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t const before = (begin - origin + line_distance_bytes - 1) / line_distance_bytes;
  for (std::uint64_t at = origin + before * line_distance_bytes; at + line_bytes <= end;
       at += line_distance_bytes)
    poison_all(at, at + line_bytes);
}

void poison_whole(World& world, std::uint64_t begin, std::uint64_t bytes) {
  bool const lines = bytes >= lines_from_bytes && !world.options().checked;
  std::uint64_t const end = begin + bytes;
  auto const fill = [&](Stretch const& part) {
    lines ? poison_lines(begin, part.begin, part.end) : poison_all(part.begin, part.end);
  };
  if (bytes < shared_bytes_min) return fill({begin, end});
  std::vector<Stretch> const parts = by_large_pages(begin, end);
  world.crew().share(parts.size(), [&](std::size_t part, std::size_t) { fill(parts[part]); });
}

}  // namespace

void poison(World& world, std::uint64_t begin, std::uint64_t bytes) {
  if (bytes <= committed_whole_bytes_max) return poison_whole(world, begin, bytes);
  Region::discard(begin, begin + bytes);
  poison_all(begin, begin + poisoned_end_bytes);
  poison_all(begin + bytes - poisoned_end_bytes, begin + bytes);
}

std::vector<Stretch> by_large_pages(std::uint64_t begin, std::uint64_t end) {
  std::vector<Stretch> parts;
  for (std::uint64_t at = begin; at < end;) {
    std::uint64_t const next = std::min(end, (at / large_page_bytes + 1) * large_page_bytes);
    parts.push_back({at, next});
    at = next;
  }
  return parts;
}

}  // namespace adamant::sim
