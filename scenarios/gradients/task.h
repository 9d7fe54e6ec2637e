// What a launch of the gradients' kernel is told. It knows nothing of how the numbers are made.
#pragma once

#include <cstddef>
#include <cstdint>

#include "real/cuda/numbers.h"
#include "real/quantise/quantised_view.h"
#include "scenarios/gradients/values.h"
#include "scenarios/language/world.h"

namespace adamant::scenarios {

inline constexpr std::size_t tasks_max = 24;  // a launch's arguments have 4,096 bytes

/// What tells a tensor's numbers in one microbatch apart, where graphs read it anew.
struct DeviceKeys {
  TensorKey tensor;
  MicrobatchKey microbatch;
  float overflow_value = 0;
  std::int64_t overflow_at = -1;
};

struct GradientTask {
  real::Numbers value;            // null where it is quantised
  real::QuantisedView quantised;  // without codes where it is not
  real::Numbers gradient;         // null: none wanted
  std::int64_t numel = 0;
  TensorKey key;
  MicrobatchKey microbatch;
  float overflow_value = 0;
  std::int64_t overflow_at = -1;      // the element that is not finite, or -1
  DeviceKeys const* keys = nullptr;   // in place of both, where there are any
  std::uint64_t* partials = nullptr;  // one a block; null: no fingerprint
};

struct GradientArguments {
  GradientTask tasks[tasks_max] = {};
  GradientClass kind = GradientClass::exact;
  int accumulate = 0;
  float const* loss_scale = nullptr;  // null: 1
};
// No padding: see real::launch().
static_assert(sizeof(GradientTask) == 2 * sizeof(real::Numbers) + sizeof(real::QuantisedView) + 72);
static_assert(sizeof(GradientArguments) <= 4096);

/// Elements [begin, end) of a tensor, those of one block. Arrays have 16-byte boundaries at
/// `begin`.
struct Part {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

}  // namespace adamant::scenarios
