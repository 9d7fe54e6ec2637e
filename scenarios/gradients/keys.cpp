#include "scenarios/gradients/keys.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <vector>

#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

// Room for twelve bits of each: enough for sums that would not be exact in a shorter type.
constexpr int bits_max = 11;

int significant_bits(NumberFormat format) {
  constexpr int bits[] = {24, 8, 11};
  return bits[static_cast<std::size_t>(format)];
}

/// splitmix64's finalizer (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

enum class Stream : std::uint64_t {
  initial = 1,
  gradient = 2,
  microbatch = 3,
  pair = 4,
  overflow = 5,
  name = 6,
  mean = 7
};

std::uint64_t drawn(std::uint64_t seed, Stream stream, std::uint64_t a, std::uint64_t b) {
  return mixed(mixed(mixed(mixed(seed) ^ static_cast<std::uint64_t>(stream)) ^ a) ^ b);
}

TensorKey tensor_key(std::uint64_t bits) {
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

}  // namespace

TensorKey initial_key(TensorPlace const& place) {
  return tensor_key(
      drawn(place.seed, Stream::initial, static_cast<std::uint64_t>(place.parameter), 0));
}

TensorKey gradient_key(TensorPlace const& place, std::int64_t backward) {
  return tensor_key(drawn(place.seed, Stream::gradient, static_cast<std::uint64_t>(place.parameter),
                          static_cast<std::uint64_t>(backward)));
}

std::optional<OverflowElement> overflow_element(OverflowBackward const& backward) {
  std::vector<int> candidates;
  for (std::size_t p = 0; p < backward.numels.size(); ++p)
    if (backward.numels[p] > 0) candidates.push_back(static_cast<int>(p));
  if (candidates.empty()) return std::nullopt;

  auto const number = [&](std::uint64_t which, std::uint64_t end) {
    auto const index = static_cast<std::uint64_t>(backward.backward);
    return drawn(backward.seed, Stream::overflow, index, which) % end;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float values[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
  int const name = candidates[number(0, candidates.size())];
  auto const numel = backward.numels[static_cast<std::size_t>(name)];
  return OverflowElement{
      .name = name,
      .element = static_cast<std::int64_t>(number(1, static_cast<std::uint64_t>(numel))),
      .microbatch =
          static_cast<int>(number(2, static_cast<std::uint64_t>(backward.microbatch_count))),
      .value = values[number(3, std::size(values))]};
}

int exact_microbatches_max(NumberFormat format) {
  return 1 << significant_bits(format);
}

ExactBits exact_bits(int microbatch_count, NumberFormat format) {
  ADAMANT_RUN_ASSERT(microbatch_count >= 1);
  if (microbatch_count > exact_microbatches_max(format)) return {};
  // n (2^mean + 2^deviation) <= 2^significant with n <= 2^log2_count.
  int const log2_count = std::bit_width(static_cast<unsigned>(microbatch_count - 1));
  int const room = significant_bits(format) - log2_count;
  int const bits = std::clamp(room - 1, 0, bits_max);
  ExactBits const result{.mean = bits, .deviation = bits, .has_deviation = room >= 1};
  std::int64_t const value_max = (1LL << bits) + (result.has_deviation ? 1LL << bits : 0);
  ADAMANT_RUN_ASSERT(microbatch_count * value_max <= exact_microbatches_max(format));
  return result;
}

MicrobatchKey microbatch_key(MicrobatchPlace const& place) {
  ADAMANT_RUN_ASSERT(place.microbatch >= 0);
  ADAMANT_RUN_ASSERT(place.microbatch < place.microbatch_count);
  ExactBits const bits = exact_bits(place.microbatch_count * place.name_count, place.format);
  bool const alone = place.microbatch % 2 == 0 && place.microbatch + 1 == place.microbatch_count;

  auto const backward = static_cast<std::uint64_t>(place.backward);
  auto const number = static_cast<std::uint64_t>(place.microbatch);
  // Another name's gradient differs in all that is drawn, but for the exponents of its elements:
  // they are the tensor's, so that the sum over names has room, too.
  std::uint64_t const seed =
      place.other_name
          ? drawn(place.seed, Stream::name, static_cast<std::uint64_t>(*place.other_name), 0)
          : place.seed;
  std::uint64_t const own = drawn(seed, Stream::microbatch, backward, number);
  std::uint64_t const pair = drawn(seed, Stream::pair, backward, number / 2);
  auto const mean = static_cast<std::uint32_t>(drawn(seed, Stream::mean, backward, 0)) | 1U;
  return {.own = static_cast<std::uint32_t>(own),
          .pair = static_cast<std::uint32_t>(pair),
          .pair_multiplier = static_cast<std::uint32_t>(pair >> 32) | 1U,
          .flip = place.microbatch % 2 == 1 ? -1 : 0,
          .deviation_mask = bits.has_deviation && !alone ? -1 : 0,
          .mean_multiplier = place.other_name ? mean : 1U,
          .mean_shift = static_cast<std::int16_t>(31 - bits.mean),
          .deviation_shift = static_cast<std::int16_t>(31 - bits.deviation)};
}

}  // namespace adamant::scenarios
