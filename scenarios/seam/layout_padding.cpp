#include "scenarios/seam/layout_padding.h"

#include <limits>

#include "oracle/layout/buckets.h"
#include "scenarios/language/registry.h"

namespace adamant::scenarios {

std::optional<std::int64_t> padding_of(Scenario const& setting) {
  auto const registered = registered_specs(setting);
  Mesh const mesh = mesh_of(setting.world);
  if (oracle::first_parameter_with_too_much_padding(setting.layout, registered, mesh))
    return std::nullopt;
  std::int64_t padding = 0;
  for (oracle::Bucket const& bucket : oracle::buckets_of(setting.layout, registered, mesh))
    padding += mesh.shards * bucket.chunk;
  for (ParameterSpec const& spec : registered) padding -= spec.numel();
  return padding;
}

// A world of more ranks than an int counts is refused for that.
std::optional<Refusal> refuse_padding(Scenario const& setting, SourceLine line) {
  if (setting.world.rank_count() > std::numeric_limits<int>::max()) return std::nullopt;
  auto const registered = registered_specs(setting);
  auto const first = oracle::first_parameter_with_too_much_padding(setting.layout, registered,
                                                                   mesh_of(setting.world));
  if (!first) return std::nullopt;
  return unsupported("layout_padding",
                     "the buffer of parameter `" +
                         registered[static_cast<std::size_t>(*first)].name +
                         "` would have more than 2^31 elements of padding; supported: up to so "
                         "many; take fewer ranks, shapes whose rows have sizes with a smaller "
                         "common multiple, or layout: fsdp2",
                     line);
}

}  // namespace adamant::scenarios
