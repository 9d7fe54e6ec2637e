// Parameters with all that belongs to them on one device, and a step of Adam over them: by the
// fused kernel, or by its readable twin.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"
#include "real/shard/layout.h"
#include "real/step/adam_kernel.h"
#include "real/step/adam_twin.h"
#include "scenarios/bench/gpu/device.h"

namespace adamant::scenarios {

class AdamProblem {
 public:
  /// One parameter of each of `numels`, all of the same formats. `device` outlives the problem.
  AdamProblem(Device& device, std::span<std::int64_t const> numels, Formats const& formats);

  /// The numbers of before the step, the same each time.
  void fill();
  void step() const;
  /// The pass that looks for new scales. REQUIRES: has_scales().
  void look() const;
  bool has_scales() const { return extent_.has_scales; }

  // Units: bytes that have to be moved.
  double bytes_of_step() const;
  double bytes_of_look() const;

  /// Bytes of all results, of the maxima too, that are not those of the twin. It leaves other
  /// numbers than fill().
  std::int64_t bytes_unlike_twin();

 private:
  std::byte*& flat(TensorKind kind) { return flat_[static_cast<std::size_t>(kind)]; }
  std::byte* flat(TensorKind kind) const { return flat_[static_cast<std::size_t>(kind)]; }
  real::AdamArguments arguments() const;
  void step_by_twin() const;
  real::AdamTwinArguments twin_of(int parameter) const;
  real::Numbers numbers(int parameter, TensorKind kind) const;
  real::TwinScale scale(int parameter, TensorKind kind) const;
  void fill(TensorKind kind) const;

  Device& device_;
  Formats formats_;
  real::Layout layout_;
  std::int64_t numel_ = 0;
  real::WorkListExtent extent_;
  std::array<std::byte*, tensor_kind_count> flat_ = {};
  std::vector<float> scales_;  // by slot, now and next
  real::StepScalars row_;
  float* scales_on_device_;
  std::int32_t* maxima_;
  real::StepScalars* table_;
  real::WorkPiece* pieces_;
};

}  // namespace adamant::scenarios
