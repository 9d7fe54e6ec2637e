// Two runs of one engine that have to come to the same. What the first one held after each of its
// operations is kept, and the second one is held to it. No oracle is needed for that, and no
// interval hides anything; what either run does by itself is the verdict's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/language/further_runs.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// What a world holds after an operation, as far as it is the same in any world.
struct Moment {
  using Whole = std::shared_ptr<std::vector<float> const>;  // null: there is no such tensor

  std::vector<Whole> wholes;  // of each parameter all compared kinds
  std::vector<std::int64_t> step_counts;
  std::vector<AdamConfig> groups;
  RankScaling scaling;
  FileDigests files;                     // of a save, where some run is the same once more
  bool into_new_world = false;           // of a load
  std::vector<std::string> not_carried;  // by the format that a load has read
};

/// Keeps the moments of a run. REQUIRES: the scenario outlives it.
class Recording {
 public:
  explicit Recording(Scenario const& scenario);

  void after(Primitive const& operation, WorldView const& world);

  Scenario const& scenario() const { return scenario_; }
  std::vector<ParameterSpec> const& parameters() const { return parameters_; }
  std::vector<Moment> const& moments() const { return moments_; }
  /// What `world` holds; tensors that are as in `before` are shared with it.
  Moment moment(Primitive const& operation, WorldView const& world, Moment const* before) const;

 private:
  Moment::Whole whole(WorldView const& world, int parameter, TensorKind kind) const;

  Scenario const& scenario_;
  bool takes_files_;
  std::vector<ParameterSpec> parameters_;
  std::vector<Moment> moments_;
};

/// Holds a further run to a recording, as far as its first operation that differs.
/// REQUIRES: recording and run outlive it.
class HeldTo {
 public:
  /// `same_files`: endings of the names of files that a save always writes alike.
  HeldTo(Recording const& recording, FurtherRun const& run, std::vector<std::string> same_files);

  void after(Primitive const& operation, WorldView const& world);

  /// The entries are those of the recorded program.
  std::vector<Violation> const& violations() const { return violations_; }
  /// Why the rest was not compared; empty: it was.
  std::string const& gave_up() const { return gave_up_; }

 private:
  void after_inserted(Primitive const& operation, WorldView const& world);
  /// What comes from here on may differ, because `what` was lost; nothing if that is empty.
  void give_up_on(std::string const& what);
  void compare(Moment const& expected, Moment const& actual);
  void compare_values(Moment const& expected, Moment const& actual);
  void compare_settings(Moment const& expected, Moment const& actual);
  void compare_files(std::string const& checkpoint, Moment const& expected, Moment const& actual);
  void add(Violation violation);

  Recording const& recording_;
  FurtherRun const& run_;
  std::vector<std::string> same_files_;
  std::size_t next_ = 0;  // moment of the recording
  int entry_ = -1;
  Moment last_;
  bool differs_ = false;
  std::vector<Violation> violations_;
  std::string gave_up_;
};

/// What a further run changes, as a file says it: "worlds: 3", "again: {resumed_after: 1}".
std::string text_of(Scenario const& scenario, FurtherRun const& run);

}  // namespace adamant::scenarios
