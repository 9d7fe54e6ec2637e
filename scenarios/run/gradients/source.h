// Stands where a model's backward pass would: kernels on the engine's stream that fill the gradient
// of one microbatch and read the gathered parameters, of which they keep a fingerprint. Compiled
// with the engine, in each of its variants; it knows nothing of what the numbers should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "real/engine.h"
#include "scenarios/model/world.h"

namespace adamant::scenarios {

struct GradientPlan {
  std::vector<std::int64_t> numels;  // of every parameter
  GradientClass kind = GradientClass::exact;
  std::uint64_t seed = 0;
  int microbatches = 1;
};

class GeneratedGradients : public real::GradientSource {
 public:
  /// Due before each backward; `index` is the number of backwards before it in the program.
  virtual void begin(std::int64_t index) = 0;

  /// Partial sums of a parameter's fingerprint in device memory, to be added modulo 2^64 once the
  /// backward is done; empty where this rank's last backward did not see the parameter.
  virtual std::span<std::uint64_t const> partial_fingerprints(int parameter) const = 0;

  /// The one device allocation of this source, which is not the engine's; null if none.
  virtual void const* allocation() const = 0;
};

/// Errors: CudaError.
std::unique_ptr<GeneratedGradients> make_generated_gradients(GradientPlan const& plan);

}  // namespace adamant::scenarios
