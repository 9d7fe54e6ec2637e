#include "scenarios/judge/shard_values.h"

#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <string_view>

#include "oracle/formats/formats.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

/// The bits of infinity; what lies above them, but for the sign, is no number.
std::uint32_t infinity_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return 0x7f800000;
    case NumberFormat::bf16:
      return 0x7f80;
    case NumberFormat::fp16:
      return 0x7c00;
    case NumberFormat::fp8:
      return 0x7e;  // the largest number; there is no infinity between it and NaN
    case NumberFormat::remainder:
      break;
  }
  ADAMANT_RUN_ASSERT(format != NumberFormat::remainder);  // shown as the fp32 that it is part of
  return 0;
}

/// 0 for the scale that unscaled numbers have.
std::uint64_t term_of(float scale) {
  constexpr std::uint64_t weight = 0x9e3779b97f4a7c15;
  return weight * (std::bit_cast<std::uint32_t>(scale) - std::bit_cast<std::uint32_t>(1.0F));
}

/// Any NaN counts as the same one: which it is follows from the order of operands, and that is a
/// compiler's choice.
template <typename Word>
std::uint64_t weighted_sum(std::span<std::byte const> bytes, std::uint32_t infinity) {
  constexpr std::uint32_t magnitude = static_cast<Word>(~Word{0}) >> 1;
  std::uint64_t sum = 0;
  std::uint32_t weight = 1;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    std::uint64_t const bits = (word & magnitude) > infinity ? infinity + 1 : word;
    sum += bits * (weight += 2);
  }
  return sum;
}

template <typename Number>
std::uint64_t sum_of(std::span<Number const> numbers) {
  // Nothing lies above infinity: each bit counts.
  return weighted_sum<std::uint32_t>(std::as_bytes(numbers), ~std::uint32_t{0});
}

std::uint64_t sum_of(QuantisedShard const& quantised) {
  constexpr std::uint32_t one_of_two_nans = 0x7e;  // of e4m3; e2m1 has none
  auto const codes = std::as_bytes(std::span(quantised.codes));
  std::array<float, 2> const singles = {quantised.amax, quantised.delayed.next};
  return weighted_sum<std::uint8_t>(codes, one_of_two_nans) +
         3 * sum_of(std::span<float const>(quantised.scales)) +
         5 * sum_of(std::span<float const>(quantised.delayed.history)) +
         7 * sum_of(std::span<float const>(singles));
}

}  // namespace

std::span<float const> values_of(Shard const& shard, std::vector<float>& room) {
  auto const numel = static_cast<std::size_t>(shard.numel());
  if (shard.format == NumberFormat::fp32)
    return {reinterpret_cast<float const*>(shard.bytes.data()), numel};
  room.resize(numel);
  oracle::decode(shard.format, shard.bytes, room);
  if (shard.scale != 1)
    for (float& value : room) value *= shard.scale;
  return room;
}

std::uint64_t weighted_sum(Shard const& shard) {
  std::uint32_t const infinity = infinity_of(shard.format);
  std::uint64_t term = term_of(shard.scale);
  if (shard.quantised) term += sum_of(*shard.quantised);
  switch (bytes_of(shard.format)) {
    case sizeof(std::uint32_t):
      return term + weighted_sum<std::uint32_t>(shard.bytes, infinity);
    case sizeof(std::uint16_t):
      return term + weighted_sum<std::uint16_t>(shard.bytes, infinity);
    default:
      return term + weighted_sum<std::uint8_t>(shard.bytes, infinity);
  }
}

std::uint64_t digest_of(std::span<std::byte const> bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
}

KeptFiles WorldView::files(std::string_view name) const {
  KeptFiles files;
  for (StoredFile const& file : checkpoint(name))
    files.emplace(file.name, std::vector(file.bytes.begin(), file.bytes.end()));
  return files;
}

FileDigests WorldView::file_digests(std::string_view name) const {
  FileDigests digests;
  for (StoredFile const& file : checkpoint(name)) digests[file.name] = digest_of(file.bytes);
  return digests;
}

}  // namespace adamant::scenarios
