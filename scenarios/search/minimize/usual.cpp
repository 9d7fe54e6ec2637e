#include "scenarios/search/minimize/usual.h"

#include <algorithm>

namespace adamant::scenarios {

namespace {

AdamOverride rate(float lr) {
  AdamOverride settings;
  settings.lr = lr;
  return settings;
}
AdamOverride decay(float weight_decay) {
  AdamOverride settings;
  settings.weight_decay = weight_decay;
  return settings;
}
AdamOverride betas(float beta1, float beta2) {
  AdamOverride settings;
  settings.betas = {beta1, beta2};
  return settings;
}
AdamOverride epsilon(float eps) {
  AdamOverride settings;
  settings.eps = eps;
  return settings;
}
AdamOverride without_correction() {
  AdamOverride settings;
  settings.bias_correction = false;
  return settings;
}

std::uint64_t key_count(AdamOverride const& settings) {
  return std::uint64_t{settings.lr.has_value()} + std::uint64_t{settings.betas.has_value()} +
         std::uint64_t{settings.eps.has_value()} +
         std::uint64_t{settings.weight_decay.has_value()} +
         std::uint64_t{settings.bias_correction.has_value()};
}

/// The place of `value` in a list, or its length where it is not there.
template <typename List, typename Value>
std::uint64_t place_in(List const& list, Value const& value) {
  return static_cast<std::uint64_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

}  // namespace

std::span<AdamOverride const> usual_overrides() {
  static std::array const all{without_correction(), rate(0.01F),   decay(0.1F), betas(0.8F, 0.95F),
                              epsilon(1e-6F),       rate(0.0F),    decay(0.0F), epsilon(0.0F),
                              betas(0.0F, 0.0F),    epsilon(1.0F), rate(1.0F),  decay(1.0F)};
  return all;
}

std::uint64_t rank_of(AdamOverride const& settings) {
  if (settings == AdamOverride{}) return 0;
  std::uint64_t const place = place_in(usual_overrides(), settings);
  return place < usual_overrides().size() ? 1 + place : 100 * key_count(settings);
}

std::uint64_t rank_of(Clip const& clip) {
  return place_in(usual_clips, clip);
}

std::uint64_t rank_of(LossScale const& scale) {
  return place_in(usual_loss_scales, scale);
}

std::uint64_t rank_of_fraction(double fraction) {
  return place_in(usual_fractions, fraction);
}

}  // namespace adamant::scenarios
