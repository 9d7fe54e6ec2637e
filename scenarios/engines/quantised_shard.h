// A quantised parameter as a rank's engine keeps it, brought to this host and read by the oracle's
// rules: an engine that reads it otherwise shows other values than its model sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "real/quantise/quantised_view.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// Copies bytes that an engine keeps on its device to this host.
using CopyToHost = std::function<void(void* to, void const* from, std::size_t bytes)>;

/// Shapes: `numel` elements from the view's first one on.
/// Errors: those of `copy`.
std::shared_ptr<QuantisedShard const> quantised_shard(real::QuantisedView const& view,
                                                      std::int64_t numel, CopyToHost const& copy);

/// The shard becomes that of such a parameter.
void show(std::shared_ptr<QuantisedShard const> quantised, Shard& shard);

}  // namespace adamant::scenarios
