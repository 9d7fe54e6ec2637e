#include "scenarios/judge/quantised.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/quantise/recipes.h"

namespace adamant::scenarios {

namespace {

using Found = std::optional<QuantisedDifference>;
using Codes = std::vector<std::uint8_t>;

template <typename Number>
void append(std::vector<Number> const& from, std::int64_t begin, std::int64_t count,
            std::vector<Number>& to) {
  to.insert(to.end(), from.begin() + begin, from.begin() + begin + count);
}

/// Of mxfp8, whose scales cover parts of one row.
void append_own_scales(oracle::Quantised const& whole, oracle::MatrixShape shape,
                       ElementRange range, QuantisedShard& shard) {
  std::int64_t const covered = shape.numel() / std::ssize(whole.scales);
  append(whole.scales, range.begin / covered, range.numel() / covered, shard.scales);
  append(whole.scale_codes, range.begin / covered, range.numel() / covered, shard.scale_codes);
}

Found numbers_differ(Breach breach, std::span<float const> expected, std::span<float const> held) {
  auto const found = oracle::first_difference(expected, held);
  if (!found) return std::nullopt;
  return QuantisedDifference{.breach = breach,
                             .index = expected.size() == 1 ? -1 : found->index,
                             .expected = Number(found->expected),
                             .actual = Number(found->actual),
                             .ulp = found->ulps};
}

Found numbers_differ(Breach breach, float expected, float held) {
  return numbers_differ(breach, std::span(&expected, 1), std::span(&held, 1));
}

template <typename Same, typename Distance>
Found codes_differ(Breach breach, Codes const& expected, Codes const& held, Same same,
                   Distance distance) {
  auto const [right, found] =
      std::mismatch(expected.begin(), expected.end(), held.begin(), held.end(), same);
  if (right == expected.end()) return std::nullopt;
  return QuantisedDifference{.breach = breach,
                             .index = right - expected.begin(),
                             .expected = Count{*right},
                             .actual = Count{*found},
                             .ulp = distance(*right, *found)};
}

/// Where a code is on the line of all numbers of its format: -0 and +0 are neighbours.
int place_of(std::uint8_t code, int bits) {
  int const sign = 1 << (bits - 1);
  int const magnitude = code & (sign - 1);
  return (code & sign) != 0 ? -1 - magnitude : magnitude;
}

}  // namespace

QuantisedShard quantised_shard(oracle::Model const& model, int parameter,
                               std::span<ElementRange const> ranges, bool scales_of_all) {
  oracle::Quantised const& whole = model.quantised(parameter);
  ParameterSpec const& spec = model.spec(parameter);
  QuantisedShard shard;
  shard.recipe = spec.formats.recipe.value();
  for (ElementRange const range : ranges) {
    append(whole.codes, range.begin, range.numel(), shard.codes);
    if (!scales_of_all) append_own_scales(whole, oracle::matrix_of(spec), range, shard);
  }
  if (scales_of_all) {
    shard.scales = whole.scales;
    shard.scale_codes = whole.scale_codes;
  }
  if (shard.recipe == Recipe::nvfp4) shard.amax = whole.amax;
  if (shard.recipe == Recipe::fp8_delayed) shard.delayed = model.delayed_scale(parameter);
  return shard;
}

bool have_one_form(QuantisedShard const& expected, QuantisedShard const& held) {
  return expected.recipe == held.recipe && expected.codes.size() == held.codes.size() &&
         expected.scales.size() == held.scales.size() &&
         expected.scale_codes.size() == held.scale_codes.size();
}

bool has_scales_of_all(Recipe recipe, oracle::Layout const& layout) {
  return recipe != Recipe::mxfp8 || layout.kind() != LayoutKind::fsdp2 ||
         layout.mesh().cuts_states_across();
}

Found scale_difference(QuantisedShard const& expected, QuantisedShard const& held) {
  auto const apart = [](int a, int b) { return static_cast<std::uint64_t>(std::abs(a - b)); };
  Found const all[] = {
      numbers_differ(Breach::other_amax, expected.amax, held.amax),
      codes_differ(Breach::other_scale, expected.scale_codes, held.scale_codes, std::equal_to<>(),
                   apart),
      numbers_differ(Breach::other_scale, expected.scales, held.scales),
      numbers_differ(Breach::other_history, expected.delayed.history, held.delayed.history),
      numbers_differ(Breach::other_next_scale, expected.delayed.next, held.delayed.next)};
  auto const* const found =
      std::ranges::find_if(all, [](Found const& each) { return each.has_value(); });
  return found == std::end(all) ? std::nullopt : *found;
}

Found code_difference(QuantisedShard const& expected, QuantisedShard const& held) {
  int const bits = expected.recipe == Recipe::nvfp4 ? 4 : 8;
  auto const is_nan = [](std::uint8_t code) { return (code & 0x7f) == 0x7f; };  // of 8 bits
  return codes_differ(
      Breach::other_code, expected.codes, held.codes,
      [&](std::uint8_t a, std::uint8_t b) { return a == b || (is_nan(a) && is_nan(b)); },
      [&](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint64_t>(std::abs(place_of(a, bits) - place_of(b, bits)));
      });
}

}  // namespace adamant::scenarios
