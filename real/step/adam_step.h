// One optimizer step on this rank: numbers it, fills the table of scalars, brings it to the device,
// lets new scales be found where states have some, launches the fused kernel over the work list,
// and lets parameters be quantised that are kept as codes. It knows nothing of collectives.
//
// Invariants:
//   S1 the host writes the pinned staging only after its last copy to the device is done
//   S2 the device table is overwritten only after the last kernel that reads it
//   S3 a kernel starts after its table has arrived
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "real/cuda/streams.h"
#include "real/offload/hybrid_step.h"
#include "real/offload/split.h"
#include "real/quantise/quantised_parameters.h"
#include "real/shard/layout.h"
#include "real/shard/memory.h"
#include "real/shard/tensors.h"
#include "real/step/adam_kernel.h"
#include "real/step/device_table.h"
#include "real/step/state_scales.h"
#include "real/step/step_table.h"
#include "real/step/work_list.h"

namespace adamant::real {

class AdamStep {
 public:
  struct Settings {
    std::vector<AdamConfig> groups;
    StepCounter counter = StepCounter::group;
    bool capturable = false;  // settings and counters live on the device
  };

  /// All of it outlives this.
  struct Parts {
    Layout const& layout;
    Split const& split;
    StateScales& scales;
    QuantisedParameters& quantised;
    Ledger& ledger;
    Streams const& streams;
  };

  /// Cuts the work list and uploads it; waits for the upload. Errors: CudaError.
  AdamStep(std::span<ParameterSpec const> parameters, Settings const& settings, Parts const& parts);

  /// One step is executed: counters advance, which number the next run(). A capturable step is
  /// skipped where `skip` points to something other than 0 on the device; nobody waits for that
  /// before somebody asks for the counters.
  void count(Tensors const& tensors, std::int32_t const* skip = nullptr);

  /// The CPU's part of a step, which multiplies gradients by the same numbers; none without `step`.
  struct CpuPart {
    HybridStep* step = nullptr;
    CpuFactors factors = {};
  };

  /// Updates every parameter that has a gradient, times `factors`. Launches nothing where none has,
  /// or where this rank's device steps no element; but where states have scales, or parameters are
  /// quantised, every rank takes part in finding new ones.
  ///
  /// Stream: the kernels are ordered on `compute`; returns before they have run, but may wait for
  ///         the last step's upload (S1), and waits for the CPU's part. Errors: CudaError,
  ///         NcclError.
  void run(Tensors const& tensors, GradientFactors const& factors, CpuPart const& cpu);

  void set_group(int group, AdamConfig const& config);
  AdamConfig const& group(int group) const { return groups_[static_cast<std::size_t>(group)]; }
  /// Waits for the device where steps may have been skipped that the host does not know of.
  /// Errors: CudaError.
  StepCounters const& counters() const;
  std::int64_t steps(int parameter) const { return counters().of(parameter); }
  /// The same number without waiting.
  StepCountView steps_view(int parameter) const;
  /// Of groups, and of parameters. Waits where the device has them, too.
  void set_counters(std::vector<std::int64_t> group_steps,
                    std::vector<std::int64_t> parameter_steps);

  /// Tells a capturable step which parameters have a gradient from here on. Stream: on `compute`.
  void gradients_changed(ParameterSet const& have_gradients);

  /// What the host has counted, which a capture must not move and a replay must.
  struct HostCount {
    StepCounters counters;
    bool unsure = false;  // of steps that the device may have skipped
  };
  HostCount const& host_count() const { return counted_; }
  void set_host_count(HostCount const& count) { counted_ = count; }
  void count_replayed(ParameterSet const& have_gradients, bool may_be_skipped) {
    counted_.counters.advance(have_gradients);
    if (may_be_skipped) counted_.unsure = true;
  }

 private:
  void upload_work_list(std::vector<WorkPiece> const& pieces);
  void fill_staging(Tensors const& tensors);
  void upload_table();
  void launch_kernel(Tensors const& tensors, GradientFactors const& factors, CpuPart const& cpu);
  void renew_scales(AdamArguments const& arguments, CpuPart const& cpu);
  void run_on_host(CpuPart const& cpu);
  void finish();
  HostStep host_step(CpuPart const& cpu) const;
  AdamConfig const& settings_of(int parameter) const;

  Layout const& layout_;
  StateScales& scales_;
  QuantisedParameters& quantised_;
  Streams const& streams_;
  std::vector<int> group_of_;
  std::vector<AdamConfig> groups_;
  mutable HostCount counted_;  // the device is asked when somebody asks

  WorkListExtent extent_;
  DeviceBuffer pieces_;
  DeviceBuffer table_;
  PinnedBuffer staging_;
  Event uploaded_;                     // on copy
  Event table_read_;                   // on compute
  std::optional<DeviceTable> device_;  // of a capturable step
};

}  // namespace adamant::real
