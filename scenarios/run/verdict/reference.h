// The oracle's side of a run: a whole model that takes the same operations as the engine, fed with
// the same numbers. It has never seen the engine; only where sums round in an unknown order does it
// go on from a gradient that it is handed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/model/model.h"
#include "oracle/reduce/mean.h"
#include "scenarios/model/scenario.h"
#include "scenarios/run/program_walk.h"

namespace adamant::scenarios {

class Reference {
 public:
  /// Parameters hold their initial values.
  Reference(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
            std::uint64_t seed);

  oracle::Model const& model() const { return model_; }

  /// One exact backward for one parameter: adds the mean over all microbatches. Parameters may be
  /// served on several threads.
  void add_exact_mean(int parameter, std::int64_t backward);
  /// One backward for one parameter that goes on from what the engine was seen to reduce.
  void take_gradient(int parameter, std::span<float const> observed);
  /// Fills elements of one microbatch's gradient, for bounds of their sum.
  oracle::MicrobatchReader reader(int parameter, std::int64_t backward) const;

  /// The two halves of a step; see oracle::Model, also for threads.
  void begin_step() { model_.begin_step(); }
  void step_parameter(int parameter) { model_.step_parameter(parameter); }

  void zero_grad(bool set_to_none) { model_.zero_grad(set_to_none); }
  void set_groups(std::span<AdamConfig const> groups);

  /// What a backward must see of a whole parameter; see fingerprint_term().
  std::uint64_t fingerprint(int parameter, std::int64_t backward) const;

  int microbatch_count() const { return microbatch_count_; }

 private:
  void write_initial_values(int parameter);

  GradientClass kind_;
  int microbatch_count_;
  std::uint64_t seed_;
  oracle::Model model_;
};

}  // namespace adamant::scenarios
