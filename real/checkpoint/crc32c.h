// CRC-32C (Castagnoli), the checksum of checkpoints: every burst of up to 32 wrong bits in a piece
// is noticed, and all other damage but one part in 2^32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace adamant::real {

/// The checksum of `bytes`, or, with the checksum of what stands before them, of both together.
///
///   reflected polynomial 0x82f63b78, start and end inverted; "123456789" has 0xe3069283
///
/// Source: RFC 3720, appendix B.4.
std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before = 0);

/// The same of bytes that it copies to `to` in the same pass: past the caches, so that a large copy
/// does not read from memory what it is about to replace.
///
/// REQUIRES: `to` does not overlap `from`.
std::uint32_t crc32c_of_copy(std::byte* to, std::span<std::byte const> from,
                             std::uint32_t before = 0);

/// The same by tables, eight bytes at a time; what stands in where there is no such instruction, or
/// where its loads would not be reported (real/cuda/reported.h).
std::uint32_t crc32c_by_tables(std::span<std::byte const> bytes, std::uint32_t before = 0);

}  // namespace adamant::real
