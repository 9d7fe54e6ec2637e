// The oracle's side of a run: a whole model that takes the same operations as the engine, fed with
// the same numbers. It has never seen the engine; only where sums round in an unknown order does it
// go on from a gradient that it is handed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/model/model.h"
#include "oracle/reduce/mean.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/judge/saved/files.h"
#include "scenarios/language/registry.h"
#include "scenarios/language/scenario.h"
#include "scenarios/seam/engine.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {

class Reference {
 public:
  /// Parameters hold their initial values.
  Reference(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
            std::uint64_t seed);

  oracle::Model const& model() const { return model_; }

  /// Due before the parameters of a backward are served.
  void begin_backward(Primitive const& backward);
  /// Has the sum of this parameter's gradients one value, whatever the order?
  bool sums_exactly(int parameter) const;

  /// One exact backward for one parameter: adds the mean over all microbatches. Parameters may be
  /// served on several threads.
  void add_exact_mean(int parameter, std::int64_t backward);
  /// Goes on from a gradient that the engine was seen to reduce, clip or unscale.
  void take_gradient(int parameter, std::span<float const> observed);
  /// What a parameter's gradient is the sum of in this backward: as many addends as microbatches,
  /// times the names of it that give a gradient. Its mean is their sum over microbatch_count().
  int addend_count(int parameter) const;
  /// Fills elements of one addend, loss scale and overflow included; those of a microbatch follow
  /// one another.
  oracle::MicrobatchReader reader(int parameter, std::int64_t backward) const;

  /// The two halves of a step; see oracle::Model, also for threads.
  void begin_step() { model_.begin_step(); }
  void step_parameter(int parameter) { model_.step_parameter(parameter); }
  /// Goes on from what the engine was seen to make of a parameter in the step that was begun.
  void take_step(int parameter, oracle::Model::Stepped const& seen) {
    model_.adopt_step(parameter, seen);
  }

  /// The step that was begun leaves a parameter as it is.
  void pass_over(int parameter) { model_.pass_over(parameter); }

  /// From here on a dynamic loss scale moves by these rules, afresh.
  void use_scaler(oracle::ScalerRules const& rules) { model_.use_scaler(rules); }

  /// Takes what may stand in a graph, or a replay of one, where no sum rounds.
  void follow(Primitive const& operation);

  void zero_grad(bool set_to_none) { model_.zero_grad(set_to_none); }
  void drop_gradient(int parameter) { model_.drop_gradient(parameter); }
  void clip() { model_.clip(); }
  /// Is there a loss scale or a norm now?
  bool scales() const { return model_.scales(); }
  void set(Primitive const& operation);

  /// Engines were made anew as `setting` asks: groups and scaler are the scenario's again, and the
  /// norm is the one in force.
  /// Its parameters are `parameters`.
  void begin_world(Scenario const& setting, std::vector<ParameterSpec> const& parameters,
                   Clip const& clip);

  /// What a checkpoint may not carry, as an engine has it after a load.
  void take_steps(int parameter, std::int64_t steps) { model_.set_steps(parameter, steps); }
  void take_group(int group, AdamConfig const& config) { model_.set_group(group, config); }
  void take_scaler(oracle::LossScaler const& scaler) { model_.set_scaler(scaler); }
  void take_max_norm(Clip const& clip) { model_.set_max_norm(clip); }

  // ---- checkpoints: what each name stands for ----
  /// The name stands for what its files say, which no save of this run wrote.
  ///
  /// Errors: std::exception where they do not make up a checkpoint of this model.
  void take_from(std::string_view checkpoint, std::span<StoredFile const> files);
  /// The same of an engine whose formats are its own: what the oracle can read of tensors and
  /// steps is what the files say, settings are the engine's word, as all is where it can read none.
  /// Returns whether it could. REQUIRES: the world has loaded.
  ///
  /// Errors: std::exception where not even the engine shows whole tensors that the oracle knows.
  bool take_from(std::string_view checkpoint, WorldView const& world);
  /// A save returned: from now on the name stands for this state alone. A crash right after it may
  /// show whether that is so.
  void save(std::string_view checkpoint, bool crashed = false);
  /// A save may have come to its end or not.
  void save_maybe(std::string_view checkpoint);
  /// How many states a checkpoint may hold; 0: it is not of this run.
  int candidates(std::string_view checkpoint) const;
  /// Must there be one of them, whole?
  bool must_exist(std::string_view checkpoint) const;
  /// Did a crash come between its last save and now?
  bool saw_crash(std::string_view checkpoint) const;
  /// The first tensor of which this load of a candidate would round a number, although it does not
  /// name its type, or nothing.
  std::optional<oracle::Model::Place> rounded_by(Primitive const& load, int candidate) const;
  /// Becomes a candidate, the newest being number 0, without any gradient.
  void load(std::string_view checkpoint, int candidate);
  /// From now on the name stands for this candidate alone.
  void settle(std::string_view checkpoint, int candidate);

  /// What a backward must see of a whole parameter; see fingerprint_term().
  std::uint64_t fingerprint(int parameter, std::int64_t backward) const;

  int microbatch_count() const { return microbatch_count_; }
  /// By number; the group of parameters that name none has no name either.
  std::vector<std::string> const& group_names() const { return group_names_; }

 private:
  void write_initial_values(int parameter);
  void share_scales(Scenario const& setting);
  void take_parameter(oracle::Model::Saved& state, int parameter, SavedFiles const& saved) const;
  oracle::Model::Saved read_from(std::span<StoredFile const> files) const;
  void take_shown(oracle::Model::Saved& state, int parameter, WorldView const& world) const;
  void take_settings(oracle::Model::Saved& state, WorldView const& world) const;
  void take_tensor(oracle::Model::Saved& state, int parameter, TensorKind kind,
                   SavedFiles const& saved) const;
  /// What files have counted of a parameter. Without a manifest a group has its most.
  std::int64_t step_in(SavedFiles const& saved, int parameter) const;
  void take_counts(oracle::Model::Saved& state, SavedFiles const& saved) const;
  /// The place of the name that a parameter is saved under.
  int own_name(int parameter) const { return registry_.names_of(parameter).front(); }
  std::vector<int> giving_names(int parameter) const;
  MicrobatchPlace place_of(int parameter, int name) const;
  void put_overflow(int name, int microbatch, std::int64_t begin, std::span<float> block) const;

  std::vector<AdamConfig> first_groups_;
  LossScale first_loss_scale_;
  std::vector<std::string> group_names_;
  GradientClass kind_;
  int microbatch_count_;
  std::uint64_t seed_;
  Registry registry_;
  std::optional<OverflowElement> overflow_;  // in this backward
  std::vector<int> left_out_;                // of it: places of names that give no gradient
  oracle::Model model_;

  struct Checkpoint {
    std::vector<std::shared_ptr<oracle::Model::Saved const>> candidates;  // the newest first
    bool must_exist = false;
    bool saw_crash = false;
  };
  Checkpoint const* find(std::string_view name) const;
  std::map<std::string, Checkpoint, std::less<>> checkpoints_;
};

}  // namespace adamant::scenarios
