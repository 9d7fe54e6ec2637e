// Quantised parameters of small worlds and what loads of them refuse: for tests of engines and
// checkpoints.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/testing/memory_storage.h"
#include "real/testing/quantised_on_host.h"
#include "real/testing/small_world.h"

namespace adamant::real {

using Quantised = std::map<int, QuantisedOnHost>;  // by parameter

/// This rank's parts.
inline void read_quantised(Rank const& rank, Quantised& to) {
  to.clear();
  for (int p = 0; p < static_cast<int>(rank.parameters.size()); ++p) {
    ShardView const view = rank.engine->shard(p, TensorKind::parameter);
    bool const has_codes =
        rank.parameters[static_cast<std::size_t>(p)].formats.recipe && rank.engine->has_state();
    EXPECT_EQ(view.quantised.has_value(), has_codes);
    if (!view.quantised) continue;
    EXPECT_EQ(view.data, nullptr);
    EXPECT_EQ(view.quantised->codes == nullptr, view.numel == 0);
    EXPECT_EQ(view.quantised->begin, view.ranges.front().begin);
    to.try_emplace(p, *view.quantised, view.numel, rank.engine->streams().front().stream);
  }
  rank.engine->synchronize();
}

inline Formats formats_by(Recipe recipe) {
  return {.main = NumberFormat::fp32, .recipe = recipe};
}

/// Of a shape that every recipe takes.
inline std::vector<ParameterSpec> one_weight(Formats const& formats) {
  return {{.name = "w", .shape = {128, 128}, .formats = formats}};
}

/// Whose checkpoints pass through pieces that cut tensors and blocks.
inline EngineConfig config_of_weights(std::vector<ParameterSpec> const& specs) {
  EngineConfig config;
  config.parameters = specs;
  config.groups = {{.learning_rate = 0.1F, .weight_decay = 0.1F}};
  config.checkpoint_piece_bytes = 256;
  return config;
}

template <typename T>
std::vector<std::byte> bytes_of_values(std::vector<T> const& values) {
  auto const bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Loads the checkpoint `c`: "damaged: " or "incompatible: " and the message, or "not refused".
inline std::string try_load(Rank& rank, MemoryStorage& storage, LoadOptions const& options = {}) {
  try {
    rank.engine->load(storage, "c", options);
  } catch (CheckpointError const& error) {
    return (error.kind() == CheckpointError::Kind::damaged ? "damaged: " : "incompatible: ") +
           std::string(error.what());
  }
  return "not refused";
}

inline bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace adamant::real
