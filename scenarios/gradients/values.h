// The numbers that scenarios are fed: initial parameters and gradients, element by element, as
// functions of seed, parameter, element, microbatch and backward, never of the world. They are made
// by 32-bit integer arithmetic and exact conversions, so that a GPU, a vectorised loop and a plain
// one give the same bits; one element's hash serves all its microbatches.
//
// exact:  With n microbatches, microbatch j of an element has the gradient (M + d_j) 2^e: a mean M,
//         |M| <= 2^a, and deviations of |d_j| <= 2^b that cancel in pairs, d_2i = -d_2i+1 (a last
//         odd one is 0). Every partial sum, of any of them in any order, is an integer of at most
//         n (2^a + 2^b) <= 2^s times 2^e, which a format of s significant bits holds exactly (24 of
//         fp32, 11 of fp16, 8 of bf16); the sum is n M 2^e, and the mean M 2^e. e is drawn per
//         element from -19 ... -4. There is no -0: an integer 0 becomes +0.
//         A parameter with k names sums k such gradients, each with means of its own; all have the
//         exponents of the element, and a and b leave room for n k numbers in the place of n.
// normal: A sum of four 16-bit uniforms (Irwin-Hall), centred, times a power of two per element.
// wild:   Most elements are as in normal; the others are zeros of both signs, subnormal, tiny, of
//         mixed magnitudes, huge up to the largest number, or now and then infinite or NaN.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define ADAMANT_EVERYWHERE __host__ __device__
#else
#define ADAMANT_EVERYWHERE
#endif

namespace adamant::scenarios {

/// Tells apart the numbers of one tensor (a parameter, or its gradient in one backward).
struct TensorKey {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

/// Tells apart the microbatches of one backward.
struct MicrobatchKey {
  std::uint32_t own = 0;              // normal and wild: of this microbatch alone
  std::uint32_t pair = 0;             // exact: the same for both of a pair
  std::uint32_t pair_multiplier = 1;  // odd, likewise
  std::int32_t flip = 0;              // 0, or -1: deviations change sign
  std::int32_t deviation_mask = 0;    // 0: deviations are 0
  std::uint32_t mean_multiplier = 1;  // odd: the means of a parameter's other names
  std::int16_t mean_shift = 31;       // 31 - a
  std::int16_t deviation_shift = 31;  // 31 - b
};

/// The key for elements whose upper index half is `high`, to be used with their lower halves.
ADAMANT_EVERYWHERE inline TensorKey fold(TensorKey key, std::uint32_t high) {
  return {key.low ^ (high * 0x85ebca6bU), key.high};
}

/// Two multiplications and four folds mix 32 bits well (Wellons, "lowbias32").
ADAMANT_EVERYWHERE inline std::uint32_t hash_low(TensorKey folded, std::uint32_t element_low) {
  std::uint32_t x = element_low ^ folded.low;
  x ^= x >> 16;
  x = x * 0x7feb352dU + folded.high;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

ADAMANT_EVERYWHERE inline std::uint32_t element_hash(TensorKey key, std::uint64_t element) {
  return hash_low(fold(key, static_cast<std::uint32_t>(element >> 32)),
                  static_cast<std::uint32_t>(element));
}

ADAMANT_EVERYWHERE inline float float_of(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

/// 2^exponent. REQUIRES: -126 <= exponent <= 127.
ADAMANT_EVERYWHERE inline float power_of_two(std::int32_t exponent) {
  return float_of(static_cast<std::uint32_t>(127 + exponent) << 23);
}

/// Uniform over the multiples of 2^-27 in [-2^-4, 2^-4): magnitudes as weights have them.
ADAMANT_EVERYWHERE inline float initial_value(std::uint32_t hash) {
  return static_cast<float>(static_cast<std::int32_t>(hash) >> 8) * power_of_two(-27);
}

ADAMANT_EVERYWHERE inline float exact_gradient(std::uint32_t hash, MicrobatchKey const& key) {
  // A key is read from where an engine with a bug may have written nothing: any shift is one.
  std::int32_t const mean =
      static_cast<std::int32_t>(hash * key.mean_multiplier) >> (key.mean_shift & 31);
  std::int32_t const drawn = static_cast<std::int32_t>((hash ^ key.pair) * key.pair_multiplier) >>
                             (key.deviation_shift & 31);
  std::int32_t const deviation = ((drawn ^ key.flip) - key.flip) & key.deviation_mask;
  std::int32_t const keep = ((hash >> 4) & 15U) != 0 ? -1 : 0;  // one element in 16 is zero
  auto const exponent = -4 - static_cast<std::int32_t>(hash & 15U);
  return static_cast<float>((mean + deviation) & keep) * power_of_two(exponent);
}

/// 32 bits of one element in one microbatch.
ADAMANT_EVERYWHERE inline std::uint32_t microbatch_hash(std::uint32_t hash,
                                                        MicrobatchKey const& key) {
  std::uint32_t const x = (hash ^ key.own) * 0xd168aaadU;
  return x ^ (x >> 15);
}

ADAMANT_EVERYWHERE inline float normal_gradient(std::uint32_t hash, MicrobatchKey const& key) {
  std::uint32_t const r = microbatch_hash(hash, key);
  std::uint32_t const q = (r * 0x2c1b3c6dU) ^ (r >> 13);
  std::uint32_t const sum = (r & 0xffffU) + (r >> 16) + (q & 0xffffU) + (q >> 16);
  auto const exponent = -20 - static_cast<std::int32_t>(hash & 7U);
  return static_cast<float>(static_cast<std::int32_t>(sum) - 131070) * power_of_two(exponent);
}

ADAMANT_EVERYWHERE inline float wild_gradient(std::uint32_t hash, MicrobatchKey const& key) {
  constexpr std::uint32_t infinity = 0x7f800000U;
  constexpr std::uint32_t not_a_number = 0x7fc00000U;
  constexpr std::uint32_t largest = 0x7f7fffffU;
  std::uint32_t const r = microbatch_hash(hash, key);
  std::uint32_t const sign = (r << 31);
  std::uint32_t const fraction = r >> 9;
  std::uint32_t const wide = (r >> 1) & 127U;
  bool const rare = wide < 32;
  switch ((hash >> 8) & 63U) {
    case 0:
    case 1:
      return float_of(sign);
    case 2:
    case 3:
      return float_of(sign | fraction);
    case 4:
    case 5:
      return float_of(sign | ((1 + wide / 2) << 23) | fraction);
    case 6:
    case 7:
      return float_of(sign | ((64 + wide) << 23) | fraction);
    case 8:
      return float_of(sign | ((252 + wide % 3) << 23) | fraction);
    case 9:
      return float_of(sign | (rare ? largest : fraction));
    case 10:
      return rare ? float_of(sign | infinity) : normal_gradient(hash, key);
    case 11:
      return rare ? float_of(not_a_number) : normal_gradient(hash, key);
    default:
      return normal_gradient(hash, key);
  }
}

/// One element's share of a tensor's fingerprint: the sum of all of them modulo 2^64. A single
/// wrong element always changes it, and so does any exchange of two different ones whose hashes
/// differ by more than the lowest bit.
ADAMANT_EVERYWHERE inline std::uint64_t fingerprint_term(std::uint32_t hash, float value) {
  constexpr std::uint32_t infinity = 0x7f800000U;
  constexpr std::uint32_t not_a_number = 0x7fc00000U;
  auto const bits = __builtin_bit_cast(std::uint32_t, value);
  bool const is_nan = (bits & 0x7fffffffU) > infinity;  // any NaN equals any NaN
  return static_cast<std::uint64_t>(is_nan ? not_a_number : bits) * (hash | 1U);
}

}  // namespace adamant::scenarios
