// Loss scale and clipping on this rank: looks for what is not finite, finds the global norm, and
// keeps what came of it in device memory, where the step reads it. It never writes a gradient.
//
// Invariants:
//   C1 all ranks come to the same bits: flags and limbs are reduced over ranks before anybody
//      draws a conclusion from them
//   C2 a norm counts only while the gradients that it was taken of are there
//   C3 the host reads the verdict after its copy has landed, which is after the reduction
//   C4 of a capturable engine, what a step does with gradients depends on the device alone: there
//      is always a coefficient, 1 while no norm counts
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "real/comm/communicator.h"
#include "real/cuda/streams.h"
#include "real/scale/scaling_kernels.h"
#include "real/shard/layout.h"
#include "real/shard/memory.h"
#include "real/shard/tensors.h"

namespace adamant::real {

/// Which of the parts are in use: what a graph was recorded with, and what it has to be recorded
/// with again once it is another.
struct ScalingMode {
  bool looks = false;
  bool has_state = false;
  friend bool operator==(ScalingMode const&, ScalingMode const&) = default;
};

class GradientScaling {
 public:
  struct Settings {
    LossScale loss_scale;
    std::optional<float> max_norm;
    bool capturable = false;
  };

  /// All of it outlives this.
  struct Parts {
    Layout const& layout;
    Ledger& ledger;
    Streams const& streams;
    Communicator& communicator;
  };

  /// Buffers are there from the first loss scale or norm on, and stay. Errors: CudaError.
  GradientScaling(Parts const& parts, Settings const& settings);

  /// A scaler starts afresh. Ordered on `compute`.
  void set_loss_scale(LossScale const& loss_scale);
  /// Are gradients that are not finite looked for?
  bool looks() const { return loss_scale_.kind != LossScale::Kind::none; }
  ScalingMode mode() const { return {.looks = looks(), .has_state = static_cast<bool>(device_)}; }

  /// What clip() scales to from here on. Ordered on `compute`.
  void set_max_norm(std::optional<float> max_norm);
  std::optional<float> max_norm() const { return max_norm_; }

  // The three below are ordered on `compute`, with reductions on `comm`, and can be captured.
  // Errors: CudaError, NcclError.

  /// Takes the norm of all ranks' gradients and the coefficient from it, which holds until
  /// gradients_changed(). REQUIRES: a norm to scale to.
  void clip(Tensors const& tensors);
  void gradients_changed();
  /// The verdict on one step, the same on every rank; the scale moves. REQUIRES: looks().
  void look(Tensors const& tensors);

  /// The last verdict. Waits for it.
  bool overflowed() { return read_state().overflowed != 0; }
  /// The same on the device, not zero for a step that is skipped; null where nobody looks.
  std::int32_t const* skip() const;

  /// On the device: what the next backward multiplies its gradients by, or null for 1.
  float const* loss_scale() const;
  /// On the device: what a step after look() multiplies gradients by, one after the other;
  /// null for 1.
  float const* inverse() const;
  float const* coefficient() const;

  /// The same two on this host. Waits for what `compute` was given so far, unless both are 1.
  CpuFactors read_factors();

  /// On the device, or null where neither was ever asked for.
  ScalingState const* state() const;

  /// What a checkpoint keeps. Waits where there is a loss scale.
  SavedScaling save();
  /// Goes on from there: settings, and where the scaler had come to. Ordered on `compute`.
  void restore(SavedScaling const& saved);

 private:
  /// Where everything lies in the one device buffer.
  struct Rooms {
    ScalingState* state = nullptr;
    Word* words = nullptr;  // [blocks][word_count], of this rank
    Word* summed_words = nullptr;
    std::int32_t* flags = nullptr;  // [blocks], of this rank
    std::int32_t* joined_flags = nullptr;
  };
  Rooms rooms() const;
  std::size_t device_bytes() const;
  void ensure_buffers();
  /// One collective on `comm`, between what is on `compute` before and after.
  template <typename Collective>
  void over_ranks(Collective collective);
  std::vector<GradientPart> parts_of(Tensors const& tensors) const;
  /// A copy of the device's state; waits.
  ScalingState read_state();

  Parts parts_;
  LossScale loss_scale_;
  std::optional<float> max_norm_;
  bool capturable_ = false;
  int blocks_ = 1;
  bool clipped_ = false;
  DeviceBuffer device_;
  std::optional<PinnedBuffer> copy_;  // of the state
  Event forked_;
  Event joined_;
  Event arrived_;  // on compute: the state is in pinned memory
};

}  // namespace adamant::real
