#include "scenarios/gradients/blocks.h"

#include <algorithm>

// One function, two instruction sets, chosen when the program starts: integer arithmetic and exact
// conversions have the same bits in both. Sanitizers run before the choice could be made.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    defined(__GNUC__) && !defined(__clang__)
#define ADAMANT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define ADAMANT_CLONES
#endif

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t half = 1ULL << 32;

ADAMANT_CLONES void hash_within_half(TensorKey folded, std::uint32_t low, std::uint32_t* hashes,
                                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    hashes[i] = hash_low(folded, low + static_cast<std::uint32_t>(i));
}

ADAMANT_CLONES void exact_block(MicrobatchKey const key, std::uint32_t const* hashes,
                                std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = exact_gradient(hashes[i], key);
}

ADAMANT_CLONES void normal_block(MicrobatchKey const key, std::uint32_t const* hashes,
                                 std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = normal_gradient(hashes[i], key);
}

ADAMANT_CLONES std::uint64_t sum_of_terms(std::uint32_t const* hashes, std::size_t count,
                                          float const* values) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += fingerprint_term(hashes[i], values[i]);
  return sum;
}

}  // namespace

void hash_block(TensorKey key, std::uint64_t begin, std::span<std::uint32_t> hashes) {
  while (!hashes.empty()) {
    auto const count = std::min<std::uint64_t>(hashes.size(), half - begin % half);
    hash_within_half(fold(key, static_cast<std::uint32_t>(begin / half)),
                     static_cast<std::uint32_t>(begin), hashes.data(), count);
    begin += count;
    hashes = hashes.subspan(count);
  }
}

void initial_block(std::span<std::uint32_t const> hashes, float* out) {
  std::transform(hashes.begin(), hashes.end(), out, initial_value);
}

void gradient_block(GradientClass kind, MicrobatchKey const& key,
                    std::span<std::uint32_t const> hashes, float* out) {
  switch (kind) {
    case GradientClass::exact:
      return exact_block(key, hashes.data(), hashes.size(), out);
    case GradientClass::normal:
      return normal_block(key, hashes.data(), hashes.size(), out);
    case GradientClass::wild:
      for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = wild_gradient(hashes[i], key);
      return;
  }
}

void scale_block(float scale, std::span<float> values) {
  for (float& value : values) value *= scale;
}

void add_block(std::span<float const> addend, float* out) {
  for (std::size_t i = 0; i < addend.size(); ++i) out[i] += addend[i];
}

std::uint64_t fingerprint_block(std::span<std::uint32_t const> hashes, float const* values) {
  return sum_of_terms(hashes.data(), hashes.size(), values);
}

}  // namespace adamant::scenarios
