// What an engine says that it can do, and questions about it. Admission, generators and minimisers
// ask this, and never which engine it is. It judges no scenario; that is seam/refusals.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/capabilities.h"

namespace adamant::scenarios {

/// The engine in the simulator, checked and unchecked; both do the same. These and the next are
/// defined beside the engines.
Capabilities const& capabilities_of_simulation();
Capabilities const& capabilities_of_unchecked_simulation();
/// The engine on GPUs.
Capabilities const& capabilities_of_gpus();

/// Those of an engine by its name; null for engines outside the process, which have to be asked.
Capabilities const* capabilities_in_process(std::string_view engine);

/// Is `value` in a list of what is offered?
template <typename T>
bool offers(std::vector<T> const& offered, std::type_identity_t<T> const& value) {
  for (T const& one : offered)
    if (one == value) return true;
  return false;
}

/// Does some offer accept all types of `precision` together?
bool accepted(std::vector<PrecisionOffer> const& precisions, Precision const& precision);
/// The same under a loss scale of that kind.
bool accepted(std::vector<PrecisionOffer> const& precisions, Precision const& precision,
              LossScale::Kind scale);

/// The option of that name, or null.
EngineOption const* find_option(Capabilities const& capabilities, std::string_view name);

/// Every option of the engine in its order, as `choice` says or by default: what the engine is
/// opened with.
std::vector<std::pair<std::string, std::string>> all_options(Capabilities const& capabilities,
                                                             EngineChoice const& choice);

}  // namespace adamant::scenarios
