// What is known of engines by name, and what others say of themselves.
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/seam/engine.h"
#include "scenarios/seam/versions.h"

namespace adamant::scenarios {

Capabilities capabilities_of(std::string_view engine) {
  if (auto const* known = capabilities_in_process(engine)) return on_this_machine(*known);
  return capabilities_of_peer(engine);
}

std::string versions_of(std::string_view engine) {
  return capabilities_in_process(engine) != nullptr ? std::string() : versions_of_peer(engine);
}

}  // namespace adamant::scenarios
