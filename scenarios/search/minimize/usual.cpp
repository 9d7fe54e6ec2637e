#include "scenarios/search/minimize/usual.h"

#include <algorithm>
#include <limits>

#include "scenarios/language/table.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t most_of_a_value = std::numeric_limits<std::uint64_t>::max() / 4;

std::uint64_t keys_given(AdamOverride const& settings) {
  std::uint64_t count = 0;
  for_each_key<AdamOverride>(
      [&](auto const& row) { count += std::uint64_t{!is_default(settings, row)}; });
  return count;
}

/// The place of `value` in a list, or its length where it is not there.
template <typename List, typename Value>
std::uint64_t place_in(List const& list, Value const& value) {
  return static_cast<std::uint64_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

}  // namespace

std::span<AdamOverride const> usual_overrides() {
  static constexpr auto all = std::to_array<AdamOverride>({{.bias_correction = false},
                                                           {.lr = 0.01F},
                                                           {.weight_decay = 0.1F},
                                                           {.betas = std::array{0.8F, 0.95F}},
                                                           {.eps = 1e-6F},
                                                           {.lr = 0.0F},
                                                           {.weight_decay = 0.0F},
                                                           {.eps = 0.0F},
                                                           {.betas = std::array{0.0F, 0.0F}},
                                                           {.eps = 1.0F},
                                                           {.lr = 1.0F},
                                                           {.weight_decay = 1.0F}});
  return all;
}

std::uint64_t usual_place(AdamOverride const& settings) {
  if (settings == AdamOverride{}) return 0;
  std::uint64_t const place = place_in(usual_overrides(), settings);
  return place < usual_overrides().size() ? 1 + place : 100 * keys_given(settings);
}

std::uint64_t usual_place(kinds::Integer, std::int64_t value) {
  return value < 0 ? 0 : std::min(static_cast<std::uint64_t>(value), most_of_a_value);
}

std::uint64_t usual_place(kinds::Fraction, double value) {
  return place_in(usual_fractions, value);
}

std::uint64_t usual_place(kinds::Names, std::vector<std::string> const& value) {
  return value.size();
}

std::uint64_t usual_place(kinds::Norm, Clip const& value) {
  return place_in(usual_clips, value);
}

std::uint64_t usual_place(kinds::Scale, LossScale const& value) {
  return place_in(usual_loss_scales, value);
}

}  // namespace adamant::scenarios
