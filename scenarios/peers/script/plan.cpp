#include "scenarios/peers/script/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "scenarios/peers/script/further_run.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/peers/script/one_program.h"

namespace adamant::scenarios::script {

namespace {

using Kind = Act::Kind;

/// A process that looks at itself would not come to it.
bool is_seen_from_outside(Violation const& violation) {
  return hangs(violation) || has_died(violation);
}

/// Any load meets this error. What another one meets depends on what it asks for.
bool misses_metadata(std::string const& error) {
  return error.find("CheckpointException") != std::string::npos &&
         error.find("metadata") != std::string::npos && error.find("optim.") == std::string::npos;
}

/// A value that a load brings back wrong, or a checkpoint of which nothing can be read. The type
/// and the rows that a rank holds are a matter of the whole state.
bool is_about_saved_tensor(Violation const& violation) {
  if (!is_about_checkpoints(violation.law)) return false;
  if (violation.breach == Breach::not_loaded) return misses_metadata(violation.text);
  if (violation.breach == Breach::other_type || violation.breach == Breach::other_elements)
    return false;
  return violation.index >= 0 || about<StepCount>(violation) != nullptr;
}

bool is_whole(Violation const& violation) {
  auto const* const tensor = about<Tensor>(violation);
  return tensor != nullptr && tensor->whole;
}

bool is_gradient(Violation const& violation) {
  auto const* const tensor = about<Tensor>(violation);
  return tensor != nullptr && tensor->kind == TensorKind::gradient;
}

/// Reads a program and keeps what a script does of it.
class Planner {
 public:
  /// REQUIRES: the scenario has no further runs.
  Planner(Scenario const& scenario, Violation const& violation) {
    plan_.scenario = scenario;
    plan_.violation = violation;
    begin_run(scenario);
  }

  Plan plan() {
    visit_all(plan_.scenario.program, operations_to_show());
    return finished();
  }

  /// The same of a run that is held to it.
  Plan plan_with(FurtherRun const& second) {
    plan_.two_runs = true;
    plan_.repeated = plan_.violation.law == Law::determinism_digest;
    visit_all(plan_.scenario.program, operations_to_show());
    world().shows_first = true;
    second_begins_ = plan_.worlds.size();
    begin_run(second.scenario);
    int const entry = entry_in(second, plan_.violation.operation);
    visit_all(second.scenario.program,
              plan_.repeated ? operations_to_show() : static_cast<std::size_t>(entry) + 1);
    for (std::size_t i = *second_begins_; i < plan_.worlds.size(); ++i)
      plan_.worlds[i].of_second = true;
    unite(plan_);
    return finished();
  }

 private:
  void begin_run(Scenario const& scenario) {
    optimizer_ = scenario.optimizer;
    overflow_ = clipped_ = false;
    backwards_ = saves_ = loads_ = 0;
    saved_.clear();
    begin_world(scenario, true);
  }

  void visit_all(std::vector<Operation> const& program, std::size_t last) {
    for (std::size_t i = 0; i < last; ++i) {
      bool const skipped = world().crashes && !std::holds_alternative<Load>(program[i].action);
      if (!skipped) visit(program[i].action, i + 1 == last);
    }
  }

  Plan finished() {
    mark_older_files();
    if (is_one_tensor()) {
      plan_.reading = std::move(world());
      plan_.reading->setting.world = {};  // a process by itself
      plan_.worlds.pop_back();
    }
    world().in_main = !plan_.reading && !plan_.one_program && plan_.worlds.size() > 1 &&
                      world().new_processes && world().ranks() == 1 && !world().crashes &&
                      !is_seen_from_outside(plan_.violation);
    return std::move(plan_);
  }

  /// What is wrong outside of every operation (-1) is so before the first, but for whole tensors,
  /// which are gathered at the end.
  std::size_t operations_to_show() const {
    std::size_t const count = plan_.scenario.program.size();
    int const operation = plan_.violation.operation;
    if (operation < 0) return plan_.repeated || is_whole(plan_.violation) ? count : 0;
    return std::min(static_cast<std::size_t>(operation) + 1, count);
  }

  World& world() { return plan_.worlds.back(); }

  void begin_world(Scenario setting, bool new_processes) {
    plan_.worlds.push_back({.setting = std::move(setting), .new_processes = new_processes});
    with_gradient_.clear();
    has_states_ = false;
    unscaled_ = false;
  }

  Act& add(Act act) {
    world().passages.push_back({.acts = {std::move(act)}});
    return world().passages.back().acts.back();
  }

  void visit(Action const& action, bool last) {
    if (auto const* train = std::get_if<Train>(&action)) {
      add_training(*train, last);
    } else if (auto const* backward = std::get_if<Backward>(&action)) {
      add(act_of(*backward));
    } else if (std::holds_alternative<ClipNorm>(action)) {
      add(clip());
    } else if (std::holds_alternative<Step>(action)) {
      add(step());
    } else if (auto const* zero = std::get_if<ZeroGrad>(&action)) {
      add(zero_grad(zero->set_to_none));
    } else if (auto const* set = std::get_if<Set>(&action)) {
      optimizer_ = with(optimizer_, set->change);
      add({.kind = Kind::set, .loss_scale = optimizer_.loss_scale, .change = set->change});
    } else if (std::holds_alternative<Overflow>(action)) {
      overflow_ = true;
    } else if (auto const* save = std::get_if<Save>(&action)) {
      add_save(*save);
    } else if (auto const* load = std::get_if<Load>(&action)) {
      add_load(*load);
    } else if (!std::holds_alternative<Check>(action)) {
      throw NoScript(fmt::format("PyTorch has no `{}`", word_of(action)));
    }
  }

  /// The last iteration stands alone where its gradient is looked at, which does not outlive it.
  void add_training(Train const& train, bool last) {
    bool const of_gradient = last && is_gradient(plan_.violation);
    std::int64_t const whole = of_gradient ? train.count - 1 : train.count;
    add_iterations(whole);
    if (!of_gradient) return;
    add(act_of(Backward{}));
    if (optimizer_.clip) add(clip());
  }

  void add_iterations(std::int64_t count) {
    if (count == 0) return;
    Passage passage{.count = count};
    passage.acts.push_back(act_of(Backward{}));
    if (optimizer_.clip) passage.acts.push_back(clip());
    passage.acts.push_back(step());
    passage.acts.push_back(zero_grad(true));
    for (std::int64_t i = 1; i < count; ++i) number_backward({});
    world().passages.push_back(std::move(passage));
  }

  /// Where its gradients are among those of the script.
  std::int64_t number_backward(BackwardOf backward) {
    backward.world = plan_.worlds.size() - 1;
    backward.number = backwards_++;
    auto const found = std::ranges::find_if(plan_.backwards, [&](BackwardOf const& other) {
      return second_begins_ && is_same(other, backward);
    });
    if (found != plan_.backwards.end()) return found - plan_.backwards.begin();
    plan_.backwards.push_back(std::move(backward));
    return std::ssize(plan_.backwards) - 1;
  }

  bool is_same(BackwardOf const& a, BackwardOf const& b) const {
    World const& one = plan_.worlds[a.world];
    World const& other = plan_.worlds[b.world];
    return a.number == b.number && a.without == b.without && one.ranks() == other.ranks() &&
           one.setting.precision == other.setting.precision;
  }

  Act act_of(Backward const& backward) {
    Act act{.kind = Kind::backward, .without = backward.without};
    act.loss_scale = optimizer_.loss_scale;
    act.unscaled = std::exchange(unscaled_, false) && !with_gradient_.empty();
    std::vector<std::int64_t> numels;
    act.has_gradients = false;
    for (ParameterSpec const& spec : parameter_specs(plan_.scenario)) {
      bool const left_out = std::find(backward.without.begin(), backward.without.end(),
                                      spec.name) != backward.without.end();
      numels.push_back(left_out ? 0 : spec.numel());
      if (left_out) continue;
      with_gradient_.insert(spec.name);
      act.has_gradients = true;
    }
    BackwardOf made{.without = backward.without};
    // An engine may put the overflow into the reduced gradient instead, which comes to the same.
    if (std::exchange(overflow_, false)) made.overflow = overflow_of(numels);
    act.backward = number_backward(std::move(made));
    return act;
  }

  /// What strikes the backward that comes.
  std::optional<OverflowElement> overflow_of(std::span<std::int64_t const> numels) const {
    return overflow_element(
        {.seed = plan_.scenario.seed.value_or(0),
         .backward = backwards_,
         .microbatch_count = static_cast<int>(plan_.scenario.microbatch_count()),
         .numels = numels});
  }

  bool scales() const { return optimizer_.loss_scale.kind != LossScale::Kind::none; }

  Act clip() {
    Act act{.kind = Kind::clip, .loss_scale = optimizer_.loss_scale, .clip = optimizer_.clip};
    act.has_gradients = !with_gradient_.empty();
    act.unscaled = unscaled_;
    if (scales() && act.has_gradients) unscaled_ = clipped_ = true;
    return act;
  }

  Act step() {
    Act act{.kind = Kind::step, .loss_scale = optimizer_.loss_scale};
    act.has_gradients = !with_gradient_.empty();
    act.unscaled = unscaled_ && !std::exchange(clipped_, false);
    has_states_ = has_states_ || act.has_gradients;
    if (scales() && act.has_gradients) unscaled_ = true;
    return act;
  }

  Act zero_grad(bool set_to_none) {
    if (set_to_none) with_gradient_.clear();
    unscaled_ = false;
    return {.kind = Kind::zero_grad, .set_to_none = set_to_none};
  }

  void add_save(Save const& save) {
    ++saves_;
    saved_.insert(save.checkpoint);
    bool const helpers = option(world().setting, "state_dict", "helpers") != "plain";
    // These step where there are none, unless that would use gradients.
    has_states_ = has_states_ || (helpers && with_gradient_.empty());
    Act& act = add({.kind = Kind::save, .checkpoint = files_of(save.checkpoint)});
    for (Fault const& fault : plan_.scenario.faults)  // a process dies once: the first counts
      if (act.faults.empty() && fault.at == Fault::Where::save && fault.nth.value_or(1) == saves_)
        act.faults.push_back(fault);
    world().crashes = !act.faults.empty();
  }

  void add_load(Load const& load) {
    ++loads_;
    if (!saved_.contains(load.from))
      throw NoScript(fmt::format(
          "the checkpoint `{}` was not saved by this scenario, and a script stands alone",
          load.from));
    World const& before = world();
    Scenario setting = before.setting;
    setting.microbatches = setting.microbatch_count();
    if (load.world) setting.world = *load.world;
    setting.precision = with(setting.precision, load.types());
    if (load.order) setting.order = *load.order;
    bool const other_ranks = setting.world.rank_count() != before.ranks();
    bool const anew = load.anew || before.crashes || setting.world != before.setting.world ||
                      setting.precision != before.setting.precision ||
                      setting.order != before.setting.order;
    bool const new_processes = before.crashes || other_ranks;
    if (before.crashes) optimizer_.clip = plan_.scenario.optimizer.clip;
    if (anew) begin_world(std::move(setting), new_processes);
    bool const drops = !anew && !with_gradient_.empty();
    with_gradient_.clear();
    unscaled_ = false;
    Act& act = add({.kind = Kind::load, .checkpoint = files_of(load.from)});
    act.into_new_world = anew;
    act.drops_gradients = drops;
    act.lacks_states = !std::exchange(has_states_, true);
    for (Fault const& fault : plan_.scenario.faults)
      if (fault.at == Fault::Where::load && fault.nth.value_or(1) == loads_)
        act.faults.push_back(fault);
  }

  /// What a second run saves lies beside what the first did.
  std::string files_of(std::string const& checkpoint) const {
    return second_begins_ ? std::string(of_second_run) + checkpoint : checkpoint;
  }

  /// A file of an older save can come back only where it was kept.
  void mark_older_files() {
    bool const wanted =
        std::any_of(plan_.scenario.faults.begin(), plan_.scenario.faults.end(),
                    [](Fault const& fault) { return fault.then == Fault::Then::stale_file; });
    if (!wanted) return;
    std::set<std::string> saved;
    for (World& world : plan_.worlds)
      for (Passage& passage : world.passages)
        for (Act& act : passage.acts)
          if (act.kind == Kind::save) act.keeps_older = !saved.insert(act.checkpoint).second;
  }

  /// Do the files of the checkpoint hold what no save left behind by itself?
  bool damages_files_of(Act const& load) const {
    auto const saves = plan_.all(Kind::save);
    return !load.faults.empty() || std::any_of(saves.begin(), saves.end(), [&](Act const* save) {
      return save->checkpoint == load.checkpoint && !save->faults.empty();
    });
  }

  /// What reads one plain tensor shows what is in the files. A load that gets whole files wrong may
  /// do so where it shards them anew or hands them to model and optimizer.
  bool is_one_tensor() const {
    if (plan_.worlds.size() < 2 || plan_.two_runs ||
        option(plan_.scenario, "state_dict", "helpers") == "plain" ||
        is_seen_from_outside(plan_.violation))
      return false;
    World const& last = plan_.worlds.back();
    bool const only_loads =
        last.passages.size() == 1 && last.passages.front().acts.front().kind == Kind::load;
    bool const alike =
        std::all_of(plan_.worlds.begin(), plan_.worlds.end(), [&](World const& world) {
          return world.setting.precision == last.setting.precision &&
                 world.setting.order == last.setting.order;
        });
    return only_loads && alike && damages_files_of(last.passages.front().acts.front()) &&
           is_about_saved_tensor(plan_.violation);
  }

  Plan plan_;
  std::optional<std::size_t> second_begins_;  // a world
  Optimizer optimizer_;
  std::int64_t backwards_ = 0;  // of this run
  bool overflow_ = false;
  bool unscaled_ = false;
  bool clipped_ = false;  // since the last step
  std::set<std::string> with_gradient_;
  bool has_states_ = false;  // the optimizer: moments and counters
  std::set<std::string> saved_;
  std::int64_t saves_ = 0;
  std::int64_t loads_ = 0;
};

}  // namespace

Plan plan_of(Scenario const& scenario, Violation const& violation) {
  if (violation.law == Law::determinism_digest) {
    Scenario const own = own_run(scenario);
    Plan plan = Planner(own, violation).plan_with({.scenario = own});
    if (!plan.one_program)
      throw NoScript("the same run differs when it is repeated, and it makes several worlds");
    return plan;
  }
  auto const further = further_run_called(scenario, violation.run);
  if (!further) return Planner(own_run(scenario), violation).plan();
  if (is_about_two_runs(violation.law))
    return Planner(own_run(scenario), violation).plan_with(*further);
  Violation of_run = violation;
  of_run.operation = entry_in(*further, violation.operation);
  return Planner(further->scenario, of_run).plan();
}

}  // namespace adamant::scenarios::script
