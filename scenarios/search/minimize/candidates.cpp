#include "scenarios/search/minimize/candidates.h"

#include <algorithm>

#include "scenarios/language/operations.h"
#include "scenarios/language/state_location.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

namespace {

/// Walks a program as it would be executed, and drops the operations that have no sense any more.
class Repair {
 public:
  Repair(Scenario& scenario, std::set<std::string> const& outside)
      : optimizer_(scenario.optimizer),
        states_(scenario),
        had_norm_(optimizer_.clip.has_value()),
        known_(outside) {
    for (Param const& param : scenario.params) params_.insert(param.name);
    walk(scenario.program);
  }

 private:
  void walk(std::vector<Operation>& program) {
    std::vector<Operation> kept;
    for (Operation& operation : program)
      if (keep(operation.action)) kept.push_back(std::move(operation));
    program = std::move(kept);
  }

  bool keep(Action& action) {
    bool const kept = makes_sense(action);
    if (kept) states_.follow(action);
    return kept;
  }

  bool makes_sense(Action& action) {
    if (moves_states(action)) return keeps_move(action);
    if (auto* backward = std::get_if<Backward>(&action))
      std::erase_if(backward->without, [&](auto const& name) { return !params_.contains(name); });
    if (auto* set = std::get_if<Set>(&action)) return keep_set(*set);
    if (auto* capture = std::get_if<Capture>(&action)) return keep_capture(*capture);
    if (is<Replay>(action)) return captured_;
    if (is<ClipNorm>(action)) return optimizer_.clip || may_load_norm_;
    if (auto* save = std::get_if<Save>(&action)) known_.insert(save->checkpoint);
    if (auto* load = std::get_if<Load>(&action)) return keep_load(*load);
    return true;
  }

  bool keeps_move(Action const& action) const {
    if (states_.with_cpu()) return false;
    return is<OffloadStates>(action) || states_.away();
  }

  bool keep_set(Set const& set) {
    optimizer_ = with(optimizer_, set.change);
    had_norm_ = had_norm_ || optimizer_.clip;
    return set != Set{};
  }

  bool keep_load(Load const& load) {
    if (!known_.contains(load.from)) return false;
    may_load_norm_ = may_load_norm_ || had_norm_ || (load.found && load.found->clip);
    captured_ = captured_ && load.keeps_addresses();
    return true;
  }

  bool keep_capture(Capture& capture) {
    if (!optimizer_.capturable) return false;
    walk(capture.body);
    captured_ = captured_ || !capture.body.empty();
    return !capture.body.empty();
  }

  Optimizer optimizer_;
  StateLocation states_;
  bool captured_ = false;
  bool had_norm_;               // so far, or now
  bool may_load_norm_ = false;  // a load may have brought one
  std::set<std::string> known_;
  std::set<std::string> params_;
};

void repair_faults(Scenario& scenario) {
  std::int64_t const ranks = most_ranks(scenario);
  bool const saves = has<Save>(scenario.program);
  bool const loads = has<Load>(scenario.program);
  std::erase_if(scenario.faults, [&](Fault const& fault) {
    return fault.at != Fault::Where::malloc && !(fault.at == Fault::Where::save ? saves : loads);
  });
  for (Fault& fault : scenario.faults)
    if (fault.rank) fault.rank = std::min(*fault.rank, ranks - 1);
  // Without a fault nothing is refused for what it does.
  bool const refuses = scenario.expect.kind == Expectation::Kind::refused;
  if (scenario.faults.empty() && refuses) scenario.expect = {};
}

/// A further run that was resumed behind an entry which is gone is resumed at the end; one that is
/// not resumed goes through no worlds.
void repair_again(Scenario& scenario) {
  auto const entries = static_cast<std::int64_t>(scenario.program.size());
  for (Again& again : scenario.again) {
    if (again.resumed_after)
      again.resumed_after = std::min(*again.resumed_after, entries);
    else
      again = {.options = std::move(again.options)};
  }
}

void repair_groups(Scenario& scenario) {
  std::set<std::string> groups;
  for (Group const& group : scenario.groups) groups.insert(group.name);
  for (Param& param : scenario.params)
    if (!groups.contains(param.group)) param.group.clear();
}

/// Tied names without a target go, parts that do not cut a shape into equal ones come together.
void repair_params(Scenario& scenario) {
  std::set<std::string> targets;
  std::erase_if(scenario.params, [&](Param const& param) {
    if (!param.is_tied()) targets.insert(param.name);
    return param.is_tied() && !targets.contains(param.tied);
  });
  for (Param& param : scenario.params) {
    if (param.is_tied()) param.shape.clear();
    auto const parts = static_cast<std::int64_t>(param.parts.size());
    bool const cuts = parts > 0 && !param.shape.empty() && param.shape.front() % parts == 0;
    if (!cuts) param.parts.clear();
  }
}

}  // namespace

Scenario repaired(Scenario scenario, std::set<std::string> const& outside) {
  repair_params(scenario);
  repair_groups(scenario);
  Repair(scenario, outside);
  repair_faults(scenario);
  repair_again(scenario);
  return scenario;
}

bool Candidates::look_at(Scenario candidate) {
  if (candidate.params != from_.params) candidate.model.reset();
  candidate = repaired(std::move(candidate), outside_);
  if (candidate.program.empty() || candidate.params.empty()) return false;
  if (weight_of(candidate) >= weight_ || refuse(candidate, capabilities_)) return false;
  wanted_ = look_(std::move(candidate), next_ - 1);
  return true;
}

}  // namespace adamant::scenarios
