// By instruction: three streams at once, because one crc32 takes three cycles but a new one may
// start every cycle. The three results are joined by "append n zero bytes", which is linear in the
// 32 bits of state and so a table for each of its bytes. Long streams are joined seldom; short ones
// leave little to be done in one stream. AVX2 writes a copy past the caches on the way; processors
// without it get tables and memcpy.
#include "real/checkpoint/crc32c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "real/cuda/reported.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace adamant::real {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t polynomial = 0x82f63b78;

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables = {};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t state = byte;
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ (state & 1 ? polynomial : 0);
    tables[0][byte] = state;
  }
  for (std::size_t t = 1; t < tables.size(); ++t)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[t][byte] = (tables[t - 1][byte] >> 8) ^ tables[0][tables[t - 1][byte] & 0xff];
  return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t step_by_table(std::uint32_t state, std::byte byte) {
  return (state >> 8) ^ tables[0][(state ^ static_cast<std::uint32_t>(byte)) & 0xff];
}

// One load that the compiler reports as such; memcpy would become a call where loads are reported.
using UnalignedWord [[gnu::may_alias, gnu::aligned(1)]] = std::uint64_t;

std::uint64_t load_word(std::byte const* at) {
  return *reinterpret_cast<UnalignedWord const*>(at);
}

std::uint32_t words_by_tables(std::uint32_t state, std::byte const* at, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t const word = load_word(at + 8 * w) ^ state;
    state = 0;
    for (std::size_t t = 0; t < 8; ++t) state ^= tables[7 - t][(word >> (8 * t)) & 0xff];
  }
  return state;
}

#if defined(__x86_64__)

// Bytes of each of three streams. Long ones are fetched ahead as three streams of memory are; they
// are no power of two, so that lines of all three, and of a copy, are not of one set of a cache.
constexpr std::size_t long_lane = 10'880;
constexpr std::size_t short_lane = 256;
constexpr std::size_t line_bytes = 64;  // of a cache

/// What a state becomes when zero bytes follow, by byte of the state.
using Shift = std::array<std::array<std::uint32_t, 256>, 4>;

std::uint32_t after_zeros(std::uint32_t state, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) state = step_by_table(state, std::byte{0});
  return state;
}

Shift make_shift(std::size_t zeros) {
  Shift shift = {};
  for (std::size_t place = 0; place < 4; ++place) {
    for (std::uint32_t bit = 0; bit < 8; ++bit)
      shift[place][1U << bit] = after_zeros(1U << (8 * place + bit), zeros);
    for (std::size_t byte = 1; byte < 256; ++byte) {
      std::size_t const lowest = byte & (~byte + 1);
      shift[place][byte] = shift[place][lowest] ^ shift[place][byte ^ lowest];
    }
  }
  return shift;
}

std::uint32_t append_lane(Shift const& shift, std::uint32_t state) {
  return shift[0][state & 0xff] ^ shift[1][(state >> 8) & 0xff] ^ shift[2][(state >> 16) & 0xff] ^
         shift[3][state >> 24];
}

/// Copies a line without reading the one that it replaces. REQUIRES: `to` begins a line.
[[gnu::target("avx2,sse4.2")]] inline void copy_past_caches(std::byte* to, std::byte const* from) {
  for (std::size_t i = 0; i < line_bytes; i += sizeof(__m256i))
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from + i)));
}

/// As many bytes as three lanes take at once, and those off `bytes`; copied to `to`, which moves
/// along, where it is somewhere.
template <std::size_t lane_bytes, bool copies>
[[gnu::target("avx2,sse4.2")]] std::uint32_t three_lanes(std::uint32_t state,
                                                         std::span<std::byte const>& bytes,
                                                         std::byte*& to) {
  static Shift const shift = make_shift(lane_bytes);
  for (; bytes.size() >= 3 * lane_bytes; bytes = bytes.subspan(3 * lane_bytes)) {
    std::byte const* const at = bytes.data();
    std::uint64_t a = state;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    for (std::size_t line = 0; line < lane_bytes; line += line_bytes) {
      if constexpr (copies)
        for (std::size_t lane = 0; lane < 3; ++lane)
          copy_past_caches(to + lane * lane_bytes + line, at + lane * lane_bytes + line);
      for (std::size_t lane = 3; lane < 6; ++lane)  // what comes next; no fault where nothing does
        _mm_prefetch(reinterpret_cast<char const*>(at) + lane * lane_bytes + line, _MM_HINT_T0);
      for (std::size_t i = line; i < line + line_bytes; i += 8) {
        a = _mm_crc32_u64(a, load_word(at + i));
        b = _mm_crc32_u64(b, load_word(at + lane_bytes + i));
        c = _mm_crc32_u64(c, load_word(at + 2 * lane_bytes + i));
      }
    }
    std::uint32_t const ab =
        append_lane(shift, static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b);
    state = append_lane(shift, ab) ^ static_cast<std::uint32_t>(c);
    if constexpr (copies) to += 3 * lane_bytes;
  }
  return state;
}

// None of these is used where accesses are reported.
[[maybe_unused, gnu::target("avx2,sse4.2")]] std::uint32_t in_one_lane(
    std::uint32_t state, std::span<std::byte const> bytes) {
  std::uint64_t wide = state;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    wide = _mm_crc32_u64(wide, load_word(bytes.data()));
  state = static_cast<std::uint32_t>(wide);
  for (std::byte const byte : bytes) state = _mm_crc32_u8(state, static_cast<unsigned char>(byte));
  return state;
}

[[maybe_unused]] std::uint32_t by_instructions(std::uint32_t state,
                                               std::span<std::byte const> bytes) {
  std::byte* nowhere = nullptr;
  state = three_lanes<long_lane, false>(state, bytes, nowhere);
  state = three_lanes<short_lane, false>(state, bytes, nowhere);
  return in_one_lane(state, bytes);
}

/// Goes past the caches from the first whole line of `to` on.
[[maybe_unused]] std::uint32_t copied_by_instructions(std::uint32_t state, std::byte* to,
                                                      std::span<std::byte const> from) {
  std::size_t const in_line = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
  std::size_t const head = std::min((line_bytes - in_line) % line_bytes, from.size());
  std::memcpy(to, from.data(), head);
  state = in_one_lane(state, from.first(head));
  from = from.subspan(head);
  to += head;
  state = three_lanes<long_lane, true>(state, from, to);
  state = three_lanes<short_lane, true>(state, from, to);
  std::memcpy(to, from.data(), from.size());
  _mm_sfence();  // the copy is written before whatever this thread writes next
  return in_one_lane(state, from);
}

[[maybe_unused]] bool has_instructions() {
  static bool const has = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("avx2");
  return has;
}

#else

bool has_instructions() {
  return false;
}
std::uint32_t by_instructions(std::uint32_t state, std::span<std::byte const>) {
  return state;
}
std::uint32_t copied_by_instructions(std::uint32_t state, std::byte*, std::span<std::byte const>) {
  return state;
}

#endif

}  // namespace

std::uint32_t crc32c_by_tables(std::span<std::byte const> bytes, std::uint32_t before) {
  std::size_t const words = bytes.size() / 8;
  std::uint32_t state = words_by_tables(~before, bytes.data(), words);
  for (std::byte const byte : bytes.subspan(8 * words)) state = step_by_table(state, byte);
  return ~state;
}

std::uint32_t crc32c(std::span<std::byte const> bytes, std::uint32_t before) {
  if constexpr (!accesses_are_reported)
    if (has_instructions()) return ~by_instructions(~before, bytes);
  return crc32c_by_tables(bytes, before);
}

std::uint32_t crc32c_of_copy(std::byte* to, std::span<std::byte const> from, std::uint32_t before) {
  if (from.empty()) return before;
  if constexpr (!accesses_are_reported)
    if (has_instructions()) return ~copied_by_instructions(~before, to, from);
  std::memcpy(to, from.data(), from.size());
  return crc32c(from, before);
}

}  // namespace adamant::real
