#include "scenarios/language/world.h"

namespace adamant::scenarios {

Mesh mesh_of(World const& world) {
  return {.shards = static_cast<int>(world.shard),
          .replicas = static_cast<int>(world.replicate),
          .outer = world.outer};
}

std::optional<StateOffloadConfig> state_offload_config(Offload const& offload) {
  auto const* states = std::get_if<OffloadedStates>(&offload);
  if (states == nullptr) return std::nullopt;
  return StateOffloadConfig{.moments = states->moments, .main = states->main};
}

std::optional<HybridConfig> hybrid_config(Offload const& offload) {
  auto const* hybrid = std::get_if<HybridOffload>(&offload);
  if (hybrid == nullptr) return std::nullopt;
  return HybridConfig{.fraction = hybrid->fraction,
                      .overlap = hybrid->overlap,
                      .pin_gradients = hybrid->pin_grads,
                      .pin_parameters = hybrid->pin_params};
}

bool offloads_nothing(Offload const& offload) {
  auto const* states = std::get_if<OffloadedStates>(&offload);
  return states != nullptr && !states->moments && !states->main;
}

}  // namespace adamant::scenarios
