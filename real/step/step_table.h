// The scalars of one step, one row a parameter: settings rounded to binary32 and bias corrections
// computed in double on the host; and the counters that number the steps. It knows no device: the
// rows are written to memory that somebody else uploads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"
#include "real/shard/parameter_set.h"

namespace adamant::real {

/// A row of the table, as the kernel reads it: three 16-byte loads.
struct alignas(16) StepScalars {
  float learning_rate = 0;
  float beta1 = 0;
  float one_minus_beta1 = 0;  // subtracted in fp32
  float beta2 = 0;
  float one_minus_beta2 = 0;
  float epsilon = 0;
  float weight_decay = 0;
  float correction1 = 1;
  float correction2 = 1;
  std::int32_t decoupled = 0;  // AdamW
  std::int32_t apply = 0;      // 0: no gradient, leave the parameter alone
  std::int32_t reserved = 0;
};
static_assert(sizeof(StepScalars) == 48);

/// The row of a parameter whose counter stands at `step`.
///
///   correction = fl32(1 - beta^step), beta the binary32 value, power and difference in double
///
/// Units: `step` is a count, the first step is 1; a row with apply 0 may have 0.
/// Source: domain sheet 1.4, TransformerEngine's host path.
StepScalars step_scalars(AdamConfig const& config, std::int64_t step, bool apply);

/// Numbers executed steps, by group or by parameter. Steps of the same parameters are counted once
/// for all of them, and shared out when somebody asks: replays repeat the same few.
class StepCounters {
 public:
  StepCounters(std::span<ParameterSpec const> parameters, int group_count, StepCounter kind);

  /// One step was executed: every group's counter advances, and those of parameters that have a
  /// gradient, on every rank, whatever it owns.
  ///
  /// REQUIRES: of as many parameters.
  void advance(ParameterSet const& have_gradients);
  std::int64_t of(int parameter) const;

  /// What a checkpoint keeps: both kinds of counters, whichever is asked.
  std::int64_t of_group(int group) const { return group_steps_[static_cast<std::size_t>(group)]; }
  std::int64_t of_parameter_alone(int parameter) const;
  /// REQUIRES: as many as there are.
  void restore(std::vector<std::int64_t> group_steps, std::vector<std::int64_t> parameter_steps);

 private:
  struct Repeated {
    ParameterSet have_gradients;
    std::int64_t times = 0;
  };
  void share_out();

  StepCounter kind_;
  std::vector<int> group_of_;
  std::vector<std::int64_t> group_steps_;
  std::vector<std::int64_t> parameter_steps_;  // without those that are not shared out
  std::vector<Repeated> repeated_;             // a few, each of other parameters
};

}  // namespace adamant::real
