// The scales of states in 16-bit and 8-bit floats, one of each state of each parameter, on the
// device and, for the CPU's part of a step, beside it; and how a step comes to new ones: amaxes are
// gathered, joined over ranks where a scale is of a whole tensor, and made into scales. It knows
// nothing of states, nor of who finds their amaxes.
//
// A step, all of it on `compute` but the collective, on every rank, whatever it owns:
//   clear_amaxes()      0, whereupon kernels raise them
//   join_host_amaxes()  where the CPU has found some
//   renew()             `next` is made
//   kernels and the CPU read by `now` and store by `next`
//   take_next()         `now` becomes `next`
//
// Invariants:
//   A1 between steps `next` is `now`, so a parameter that takes no part in a step keeps its scales
//   A2 all ranks' amaxes are joined before anybody makes a scale of a whole tensor
//   A3 addresses never change
//   A4 the host touches pinned memory only while no copy is on its way there or from there
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "real/comm/communicator.h"
#include "real/cuda/streams.h"
#include "real/shard/layout.h"
#include "real/shard/memory.h"
#include "real/step/scale_slots.h"
#include "real/step/step_table.h"

namespace adamant::real {

class StateScales {
 public:
  /// All of it outlives this.
  struct Parts {
    Layout const& layout;
    Ledger& ledger;
    Streams const& streams;
    Communicator& communicator;
  };

  /// Scales of 1, and nothing at all where no parameter has a state with a scale. With `on_host`
  /// the CPU steps a part of the elements, too. Waits. Errors: CudaError.
  StateScales(Parts const& parts, bool on_host);

  /// Does some parameter have a state with a scale?
  bool exist() const { return static_cast<bool>(device_); }
  /// On the device; null where there are none.
  ScaleArrays on_device() const;
  /// In host memory; null where there are none, or no CPU's part.
  ScaleArrays on_host() const;
  /// One state's scale, on the device; null where it has none.
  float const* at(int parameter, TensorKind kind) const;

  /// Replaces the scale of one state, between steps. Waits. Errors: CudaError.
  void write(int parameter, TensorKind kind, float scale);

  // Ordered on `compute`; what has nothing to do with the host can be captured. REQUIRES: exist(),
  // and for what has to do with it, on_host. Errors: CudaError, NcclError.

  /// By slot.
  std::int32_t* clear_amaxes();
  /// By slot, for the CPU's part to raise.
  std::span<std::int32_t> clear_host_amaxes();
  void join_host_amaxes();
  /// `next` of all parameters whose row says `apply`; in host memory once wait_for_host() returns.
  void renew(StepScalars const* table);
  void wait_for_host() const { arrived_.synchronize(); }
  void take_next();
  void take_next_on_host();

 private:
  /// One slot a state each, one array after the other.
  float* now() const { return device_.as<float>(); }
  float* next() const { return now() + slots_; }
  std::int32_t* amaxes() const { return reinterpret_cast<std::int32_t*>(next() + slots_); }
  std::int32_t* joined() const { return amaxes() + slots_; }
  std::int32_t* host_amaxes() const { return host_->as<std::int32_t>(); }
  float* host_now() const { return reinterpret_cast<float*>(host_amaxes() + slots_); }
  float* host_next() const { return host_now() + slots_; }
  void upload(std::span<float const> from, float* to);
  void make_next(StepScalars const* table);

  Parts parts_;
  std::vector<std::uint8_t> states_;  // by parameter, what has a scale: as a kernel is told
  std::int64_t slots_ = 0;
  bool joins_ranks_ = false;
  DeviceBuffer device_;               // now, next, amaxes, joined
  std::optional<PinnedBuffer> host_;  // amaxes, now, next
  Event forked_;
  Event joined_ranks_;
  Event arrived_;  // on compute: `next` is in pinned memory
};

}  // namespace adamant::real
