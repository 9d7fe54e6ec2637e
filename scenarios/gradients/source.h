// Stands where a model's backward pass would: kernels on the engine's stream that fill the gradient
// of one microbatch and read the gathered parameters, of which they keep a fingerprint. Compiled
// with the engine, in each of its variants; it knows nothing of what the numbers should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "real/engine.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/language/world.h"

namespace adamant::scenarios {

struct GradientPlan {
  std::vector<std::int64_t> numels;   // of every parameter, as the engine registers them
  std::vector<NumberFormat> formats;  // of its gradients
  /// Of every parameter: the places of its names in the file's list, its own first. Each gives a
  /// gradient. None: its number is the place of its one name.
  std::vector<std::vector<int>> names = {};
  GradientClass kind = GradientClass::exact;
  std::uint64_t seed = 0;
  int microbatches = 1;
  int first_microbatch = 0;  // of this rank, and how far apart its microbatches are
  int microbatch_stride = 1;
  /// So many backwards may be in one graph: their keys are read from the device, so that a replay
  /// gives other gradients than its capture. 0: keys travel with the launch.
  int kept_backwards = 0;
};

class GeneratedGradients : public real::GradientSource {
 public:
  /// Due before each backward, and before each replay, which may have several; `index` is the
  /// number of backwards before the first of them in the program, `overflow` what of that first one
  /// is not finite. Where keys are kept on the device nothing of an earlier backward may run any
  /// more, and the host waits for the upload.
  virtual void begin(std::int64_t index, int count,
                     std::optional<OverflowElement> const& overflow) = 0;

  /// Places of names that give no gradient in the backwards to come, in order: one list for each
  /// backward of a capture or a replay, or for the one that follows. Due before a capture, and
  /// before a backward outside of one. REQUIRES: of a parameter that gets a gradient some name
  /// does.
  virtual void leave_out(std::vector<std::vector<int>> names) = 0;

  /// Partial sums of a parameter's fingerprint in device memory, to be added modulo 2^64 once the
  /// backward is done; empty where this rank's last backward did not see the parameter.
  /// Parameters have the numbers that the engine gives them.
  virtual std::span<std::uint64_t const> partial_fingerprints(int parameter) const = 0;

  /// The one device allocation of this source, which is not the engine's; null if none.
  virtual void const* allocation() const = 0;
};

/// Errors: CudaError.
std::unique_ptr<GeneratedGradients> make_generated_gradients(GradientPlan const& plan);

}  // namespace adamant::scenarios
