// What is known of engines by name.
#include "scenarios/run/engine_seam.h"

namespace adamant::scenarios {

Capabilities capabilities_of(std::string_view engine) {
  if (auto const* known = capabilities_in_process(engine)) return *known;
  Capabilities nothing;
  nothing.engine = engine;
  return nothing;
}

}  // namespace adamant::scenarios
