#include "oracle/compare/first_difference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "oracle/check.h"

namespace adamant::oracle {
namespace {

// Equal tensors are the usual case: memcmp runs through them at memory speed, and only a block that
// it objects to (a difference, or NaNs with other payloads) is looked at element by element.
constexpr std::int64_t compared_numel = 16384;

std::int64_t position(float x) {
  constexpr std::uint32_t sign = 0x80000000U;
  if (std::isnan(x)) return 0x7f800001;
  auto const bits = std::bit_cast<std::uint32_t>(x);
  auto const magnitude = static_cast<std::int64_t>(bits & ~sign);
  return (bits & sign) != 0 ? -magnitude - 1 : magnitude;
}

bool same(float a, float b) {
  if (std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b)) return true;
  return std::isnan(a) && std::isnan(b);
}

}  // namespace

std::uint64_t ulp_distance(float a, float b) {
  auto const distance = position(a) - position(b);
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
}

std::optional<Difference> first_difference(std::span<float const> expected,
                                           std::span<float const> actual) {
  check(expected.size() == actual.size(), "compared tensors have one length");
  auto const numel = std::ssize(expected);
  for (std::int64_t begin = 0; begin < numel; begin += compared_numel) {
    auto const count = std::min(compared_numel, numel - begin);
    auto const* const e = expected.data() + begin;
    auto const* const a = actual.data() + begin;
    if (std::memcmp(e, a, static_cast<std::size_t>(count) * sizeof(float)) == 0) continue;
    auto const [at, other] = std::mismatch(e, e + count, a, same);
    if (at != e + count)
      return Difference{begin + (at - e), *at, *other, ulp_distance(*at, *other)};
  }
  return std::nullopt;
}

void append(std::vector<ElementRange>& elements, std::int64_t index) {
  if (!elements.empty() && elements.back().end == index)
    ++elements.back().end;
  else
    elements.push_back({.begin = index, .end = index + 1});
}

void append_differences(std::span<float const> expected, std::span<float const> actual,
                        std::int64_t begin, std::vector<ElementRange>& elements) {
  while (auto const found = first_difference(expected, actual)) {
    append(elements, begin + found->index);
    auto const next = static_cast<std::size_t>(found->index) + 1;
    expected = expected.subspan(next);
    actual = actual.subspan(next);
    begin += found->index + 1;
  }
}

}  // namespace adamant::oracle
