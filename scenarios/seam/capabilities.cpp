#include "scenarios/seam/capabilities.h"

#include <algorithm>

namespace adamant::scenarios {

bool PrecisionOffer::accepts(Precision const& precision) const {
  StateScale const scale = precision.state_scale;
  bool const usual = state_scale.empty() && scale == StateScale::global;
  bool const scales = !has_scalable_state(precision) || usual || offers(state_scale, scale);
  return scales && offers(param, precision.param) && offers(grad, precision.grad) &&
         offers(main, precision.main) && offers(exp_avg, precision.exp_avg) &&
         offers(exp_avg_sq, precision.exp_avg_sq);
}

bool accepted(std::vector<PrecisionOffer> const& precisions, Precision const& precision) {
  return std::any_of(precisions.begin(), precisions.end(),
                     [&](PrecisionOffer const& offer) { return offer.accepts(precision); });
}

bool accepted(std::vector<PrecisionOffer> const& precisions, Precision const& precision,
              LossScale::Kind scale) {
  return std::any_of(precisions.begin(), precisions.end(), [&](PrecisionOffer const& offer) {
    return offer.accepts(precision) &&
           (offer.loss_scale.empty() || offers(offer.loss_scale, scale));
  });
}

EngineOption const* find_option(Capabilities const& capabilities, std::string_view name) {
  auto const found = std::find_if(capabilities.options.begin(), capabilities.options.end(),
                                  [&](EngineOption const& option) { return option.name == name; });
  return found == capabilities.options.end() ? nullptr : &*found;
}

std::vector<std::pair<std::string, std::string>> all_options(Capabilities const& capabilities,
                                                             EngineChoice const& choice) {
  std::vector<std::pair<std::string, std::string>> all;
  for (EngineOption const& option : capabilities.options) {
    auto const chosen = std::find_if(choice.options.begin(), choice.options.end(),
                                     [&](auto const& one) { return one.first == option.name; });
    bool const given = chosen != choice.options.end();
    all.emplace_back(option.name, given ? chosen->second : option.values.front());
  }
  return all;
}

}  // namespace adamant::scenarios
