// Which types of an engine its arithmetic leaves anybody to judge.
#include "scenarios/peers/client/replies.h"

#include <vector>

namespace adamant::scenarios::replies {

namespace {

/// Is it a number by itself? What is read with a scale, or with another tensor, is judged to the
/// bit, or not at all.
bool is_plain(ParamType type, StateScale) {
  return !is_quantised(type);
}
bool is_plain(StateType type, StateScale shares) {
  return type != StateType::fp8 && (type != StateType::fp16 || shares == StateScale::none);
}
bool is_plain(MainType type, StateScale shares) {
  return type != MainType::remainder && (type != MainType::fp16 || shares == StateScale::none);
}

}  // namespace

std::vector<PrecisionOffer> judged(std::vector<PrecisionOffer> offers, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::own_order) return offers;
  std::erase_if(offers, [&](PrecisionOffer& offer) {
    bool const without = scenarios::offers(offer.state_scale, StateScale::none);
    StateScale const shares = without ? StateScale::none : StateScale::global;
    if (without) offer.state_scale = {shares};
    auto const keep_plain = [&](auto& types) {
      std::erase_if(types, [&](auto type) { return !is_plain(type, shares); });
      return !types.empty();
    };
    return !keep_plain(offer.param) || !keep_plain(offer.main) || !keep_plain(offer.exp_avg) ||
           !keep_plain(offer.exp_avg_sq);
  });
  return offers;
}

bool needs_bits(Precision const& precision) {
  StateScale const shares = precision.state_scale;
  return !is_plain(precision.param, shares) || !is_plain(precision.main, shares) ||
         !is_plain(precision.exp_avg, shares) || !is_plain(precision.exp_avg_sq, shares);
}

}  // namespace adamant::scenarios::replies
