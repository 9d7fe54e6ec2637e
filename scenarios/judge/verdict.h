// The verdict on one run: an observer that lets the oracle take every operation after the engine
// and compares the two. What it compares is what the engine shows; accesses and orders are judged
// by the world around the engine.
//
// Small models (up to `small_model_numel` elements) are compared whole after every operation. Of
// larger ones each operation's own tensors are: gradients after backward and zero_grad, parameters
// and moments after step; everything after `check` and at the end. Flags, counters, addresses and
// memory are compared always.
//
// Where a world steps by another arithmetic than the oracle's (WorldView::arithmetic), backward,
// clip and step are admitted instead: held to what the oracle derives for PyTorch's formulas, or
// for any order of operations, from what was observed before. The oracle then goes on from what it
// admitted, and everything else is compared as ever.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "oracle/explain/suppositions.h"
#include "scenarios/judge/findings.h"
#include "scenarios/judge/formulas/formulas.h"
#include "scenarios/judge/memory_judge.h"
#include "scenarios/judge/pointer_judge.h"
#include "scenarios/judge/reference.h"
#include "scenarios/judge/value_judge.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class Verdict final : public Observer {
 public:
  static constexpr std::int64_t small_model_numel = 1 << 20;
  /// After the first violation nothing more is compared, but the world of a small model goes on for
  /// so many operations: what reads a wrong value late may be a race or an uninitialised read that
  /// the world itself reports.
  static constexpr int operations_after_violation = 6;

  /// REQUIRES: scenario, program and parameters outlive it.
  Verdict(Scenario const& scenario, Program const& program,
          std::vector<ParameterSpec> const& parameters, std::uint64_t seed);

  bool started(WorldView const& world) override;
  bool after(Primitive const& operation, WorldView const& world) override;
  void finished(WorldView const& world) override;
  void ended(Leftovers const& left) override;
  bool restarted(Primitive const& operation, WorldView const& world) override;
  void crashed(Primitive const& save, bool returned) override;
  void damaged(Primitive const& load, DamagedFiles const& files) override;
  void refused(Primitive const& operation, EngineFailure const& why,
               WorldView const* world) override;

  /// Calls `look` after each step inside a replay, which nobody sees from outside the graph, with
  /// what the oracle computed; the engine is held to it when the replay is over.
  void watch_replayed_steps(std::function<void(WorldView const&)> look) {
    on_replayed_step_ = std::move(look);
  }

  /// What the oracle has, and the element that somebody wants to know more of.
  Reference const& reference() const { return reference_; }
  WatchedElement& watched() { return values_.watched(); }

  std::vector<Violation> const& violations() const { return findings_.violations(); }
  std::vector<std::string> notes() const;
  /// What the engines had at most, whatever the verdict.
  BytesByPurpose const& peak_bytes() const { return memory_.peak_bytes(); }
  /// What engines are handed: of a quantised parameter what its codes are made of.
  std::span<float const> initial_values(int parameter) const {
    auto const& model = reference_.model();
    bool const quantised = model.spec(parameter).formats.recipe.has_value();
    return model.tensor(parameter, quantised ? TensorKind::main : TensorKind::parameter);
  }

  /// A parameter with the types that it has now.
  ParameterSpec const& spec(int parameter) const { return reference_.model().spec(parameter); }
  /// What the oracle steps a group's parameters with.
  AdamConfig const& settings(int group) const { return reference_.model().group(group); }

 private:
  /// The states that may move under a setting, or none.
  std::optional<StateOffloadConfig> leaving(Offload const& offload) const;
  /// The formulas of a world that has just started.
  void choose_formulas(Arithmetic arithmetic);
  void follow(Primitive const& operation, WorldView const& world);
  void follow_backward(resolved::Backward const& backward, WorldView const& world);
  void follow_zero_grad(bool set_to_none, WorldView const& world);
  void follow_save(std::string const& checkpoint, WorldView const& world);
  void follow_load(resolved::Load const& load, WorldView const& world);
  /// The law that a load breaks which does not lead to what was saved.
  Law law_of_load(resolved::Load const& load) const;
  std::optional<oracle::Layout> layout_of_saved(std::string_view checkpoint) const;
  void report_rounded(oracle::Model::Place place);
  bool may_be_refused(resolved::Load const& load) const;
  /// The oracle becomes a candidate, with what the format does not carry as the engine has it.
  void take_candidate(oracle::Model::Saved const& candidate, WorldView const& world);
  struct Settings {
    Clip clip;
    oracle::LossScaler scaler;
  };
  void take_what_is_not_carried(WorldView const& world, Settings const& before);
  bool agrees(WorldView const& world) const;
  bool take_foreign(resolved::Load const& load, WorldView const& world);
  void follow_replay(resolved::Replay const& replay, WorldView const& world);
  void note_before(Primitive const& operation);
  /// A sentence on why what the world shows is wrong, or nothing.
  std::string guess(Primitive const& operation, WorldView const& world) const;
  /// Has an engine of other people stepped for the first time, and by another rule than Adam's?
  bool has_other_rule(Primitive const& operation, WorldView const& world);
  void compare_resources(Primitive const& operation, WorldView const& world);
  void compare_gathered(WorldView const& world, std::int64_t backward);
  /// Lets the oracle follow every parameter, of a large model on all cores, and compares.
  void follow_each(WorldView const& world, std::span<TensorKind const> kinds,
                   std::function<void(int parameter)> const& follow_one);
  void for_each_parameter(std::function<void(int parameter)> const& visit);
  int parameter_count() const { return reference_.model().parameter_count(); }
  void compare_all(WorldView const& world);
  void compare_whole(WorldView const& world);

  Scenario const& scenario_;
  Program const& program_;
  GradientClass kind_;
  Offload offload_;           // of the scenario
  bool offloads_when_asked_;  // the program has `offload`
  std::int64_t total_numel_;
  bool small_;
  RunFindings findings_;
  Reference reference_;
  ValueJudge values_;
  Arithmetic arithmetic_ = Arithmetic::own_order;
  std::unique_ptr<Formulas> formulas_;  // of the world that stands
  oracle::Suppositions suppositions_;
  std::string guess_;  // at the cause of what was found
  MemoryJudge memory_;
  PointerJudge pointers_;
  std::function<void(WorldView const&)> on_replayed_step_;
  int patience_ = operations_after_violation;
  DamagedFiles damage_;    // done to what is about to be loaded
  bool unloaded_ = false;  // the world is new, and a load has to come first
  /// Who held what at the last save of a name; none where it may be of one of two.
  std::map<std::string, oracle::Layout, std::less<>> layouts_;
  std::set<std::string> not_carried_;  // by any format so far
  std::set<std::string> not_read_;     // checkpoints in a format that the engine alone knows
};

}  // namespace adamant::scenarios
