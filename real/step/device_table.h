// The numbering of steps and the table of their scalars where a graph can replay them: settings,
// counters and who has a gradient live on the device, and a small kernel makes the table of each
// step from them. A later change of any of them reaches replays without a new capture.
//
// It knows nothing of graphs: eager steps of a capturable engine take the same way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"
#include "real/cuda/streams.h"
#include "real/shard/memory.h"
#include "real/shard/parameter_set.h"
#include "real/step/step_table.h"

namespace adamant::real {

/// One group's settings as the kernel reads them.
struct alignas(16) DeviceGroup {
  float learning_rate = 0;
  float beta1 = 0;
  float beta2 = 0;
  float epsilon = 0;
  float weight_decay = 0;
  std::int32_t decoupled = 0;
  std::int32_t bias_correction = 0;
  std::int32_t reserved = 0;
};
static_assert(sizeof(DeviceGroup) == 32);

struct ParameterState {
  std::int64_t step = 0;  // steps in which it had a gradient
  std::int32_t group = 0;
  std::int32_t has_gradient = 0;
};
static_assert(sizeof(ParameterState) == 16);

/// Device memory, one allocation: settings of all groups, their counters, and all parameters.
/// Units: bytes are 40 a group and 16 a parameter, beside 32 pinned ones a group.
class DeviceTable {
 public:
  /// Uploads the settings and zeroes the counters; waits for it. Errors: CudaError.
  DeviceTable(std::span<ParameterSpec const> parameters, std::span<AdamConfig const> groups,
              StepCounter counter, Ledger& ledger, Streams const& streams);

  /// Stream: on `compute`; waits for the last upload of settings, never for a kernel.
  void set_group(int group, AdamConfig const& config);
  /// From here on these parameters have a gradient. Stream: on `compute`; can be captured.
  void set_gradients(ParameterSet const& have_gradients);
  /// Counters from elsewhere; no parameter has a gradient then. Stream: on `compute`; waits.
  void set_counters(std::vector<std::int64_t> const& group_steps,
                    std::vector<std::int64_t> const& parameter_steps);
  /// Numbers one step and fills its table, unless `skip` points to something other than 0: then
  /// nothing is counted, and the table leaves all parameters alone.
  ///
  /// Stream: on `compute`; can be captured.
  void advance(StepScalars* table, std::int32_t const* skip = nullptr);
  /// The counters as they are now, as set_counters() takes them. Stream: on `compute`; waits.
  struct Counters {
    std::vector<std::int64_t> of_groups;
    std::vector<std::int64_t> of_parameters;
  };
  Counters read_counters() const;
  /// The counter that numbers a parameter's steps, on the device.
  std::int64_t const* counter_of(int parameter) const;

 private:
  DeviceGroup* groups() const { return memory_.as<DeviceGroup>(); }
  std::int64_t* group_steps() const {
    return reinterpret_cast<std::int64_t*>(groups() + group_count_);
  }
  ParameterState* parameters() const {
    return reinterpret_cast<ParameterState*>(group_steps() + group_count_);
  }
  void upload(std::vector<std::int64_t> const& group_steps,
              std::vector<ParameterState> const& parameters);

  Streams const& streams_;
  bool per_parameter_;
  std::size_t group_count_;
  std::vector<ParameterState> first_parameters_;  // as they are uploaded first
  DeviceBuffer memory_;
  PinnedBuffer staging_;
  Event uploaded_;
};

}  // namespace adamant::real
