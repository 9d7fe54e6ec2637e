// Where simulated memory lives: one region of the address space at a fixed place, so that addresses
// are the same in every process, cut into equal slots: slot 0 for pinned host memory, slot d + 1
// for device d. Beside it two maps of one bit per byte: may it be accessed, and was it ever
// written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adamant::sim {

inline constexpr std::uint64_t region_base = 0x2000'0000'0000ULL;
inline constexpr std::uint64_t region_bytes = 0x1000'0000'0000ULL;  // 16 TiB of addresses
inline constexpr std::uint64_t written_base = 0x3800'0000'0000ULL;
inline constexpr std::uint64_t usable_base = 0x3C00'0000'0000ULL;

inline std::uint8_t* const written_bits = reinterpret_cast<std::uint8_t*>(written_base);
inline std::uint8_t* const usable_bits = reinterpret_cast<std::uint8_t*>(usable_base);

/// Offset in the region; anything not below region_bytes is elsewhere.
inline std::uint64_t region_offset(void const* address) {
  return reinterpret_cast<std::uintptr_t>(address) - region_base;
}
inline void* region_address(std::uint64_t offset) {
  return reinterpret_cast<void*>(region_base + offset);
}

/// Are all, or sets or clears all, bits of [begin, end).
bool all_set(std::uint8_t const* bits, std::uint64_t begin, std::uint64_t end);
void set_bits(std::uint8_t* bits, std::uint64_t begin, std::uint64_t end);
void clear_bits(std::uint8_t* bits, std::uint64_t begin, std::uint64_t end);
/// The first offset in [begin, end) whose bit is not set, or end. REQUIRES, as all_set() does: the
/// map is whole words of 8 bytes.
std::uint64_t first_clear(std::uint8_t const* bits, std::uint64_t begin, std::uint64_t end);

/// The pages behind the region. All of it can be read and written, so that an access astray is
/// reported and does not end the process; the host commits a page when it is first touched.
class Region {
 public:
  /// Reserves the addresses once per process. Errors: TooFewAddresses.
  static void reserve();
  /// Asks the host for large pages in [begin, end) and both its maps: touching a large block first
  /// costs mostly page faults otherwise.
  static void prefer_large_pages(std::uint64_t begin, std::uint64_t end);
  /// Gives the pages of [begin, end) back to the host; they read as zeros afterwards.
  static void discard(std::uint64_t begin, std::uint64_t end);
  /// Fills [begin, end) with zeros, and gives back the pages that lie in it.
  static void zero(std::uint64_t begin, std::uint64_t end);
  /// Clears both maps of [begin, end).
  static void clear_maps(std::uint64_t begin, std::uint64_t end);
};

}  // namespace adamant::sim
