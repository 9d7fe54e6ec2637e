// The oracle's side of a run: a whole model that takes the same operations as the engine, fed with
// the same numbers. It has never seen the engine; only where sums round in an unknown order, or an
// engine steps by another arithmetic, is the model handed what was seen.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

  oracle::Model& model() { return model_; }
  oracle::Model const& model() const { return model_; }

  /// Due before the parameters of a backward are served.
  void begin_backward(resolved::Backward const& backward);
  /// Has the sum of this parameter's gradients one value, whatever the order?
  bool sums_exactly(int parameter) const;

  /// One exact backward for one parameter: adds the mean over all microbatches. Parameters may be
  /// served on several threads.
  void add_exact_mean(int parameter, std::int64_t backward);
  /// What a parameter's gradient is the sum of in this backward: as many addends as microbatches,
  /// times the names of it that give a gradient. Its mean is their sum over microbatch_count().
  int addend_count(int parameter) const;
  /// Fills elements of one addend, loss scale and overflow included; those of a microbatch follow
  /// one another.
  oracle::MicrobatchReader reader(int parameter, std::int64_t backward) const;

  /// Calls a function for each parameter, on several threads or not.
  using ForEach = std::function<void(std::function<void(int parameter)> const&)>;
  /// Takes what may stand in a graph, where no sum rounds.
  void follow(Recorded const& operation, ForEach const& for_each);

  void set(resolved::Set const& set);

  /// Engines were made anew as `setting` asks, whose parameters these are: groups and scaler are
  /// the scenario's again, and the norm is the one in force.
  void begin_world(Scenario const& setting, std::vector<ParameterSpec> const& parameters,
                   Clip const& clip);

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
  using Candidate = std::shared_ptr<oracle::Model::Saved const>;
  struct Checkpoint {
    /// The states that it may hold, the newest first; none: it is not of this run.
    std::vector<Candidate> candidates = {};
    bool must_exist = false;  // one of them, whole
    bool saw_crash = false;   // between its last save and now
  };
  Checkpoint const& checkpoint(std::string_view name) const;
  /// The first tensor of which this load of a candidate would round a number, although it does not
  /// name its type, or nothing.
  std::optional<oracle::Model::Place> rounded_by(resolved::Load const& load,
                                                 oracle::Model::Saved const& candidate) const;
  /// From now on the name stands for this state alone.
  void settle(std::string_view checkpoint, Candidate state) {
    checkpoints_[std::string(checkpoint)] = {.candidates = {std::move(state)}, .must_exist = true};
  }

  /// What a backward must see of a whole parameter; see fingerprint_term().
  std::uint64_t fingerprint(int parameter, std::int64_t backward) const;

  int microbatch_count() const { return microbatch_count_; }
  /// By number; the group of parameters that name none has no name either.
  std::vector<std::string> const& group_names() const { return group_names_; }

 private:
  void write_initial_values(int parameter);
  void share_scales(Scenario const& setting);
  oracle::Model::Saved read_from(std::span<StoredFile const> files) const;
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

  std::map<std::string, Checkpoint, std::less<>> checkpoints_;
};

}  // namespace adamant::scenarios
