#include "scenarios/judge/memory_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "scenarios/judge/budgets.h"
#include "scenarios/judge/rank_classes.h"
#include "scenarios/judge/registration.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {

namespace {

// What an iteration needs it needs in the first, or in the second, which finds states where the
// first has left them.
constexpr std::int64_t iterations_max = 2;

Scenario with_few_iterations(Scenario scenario) {
  for (Operation& operation : scenario.program) {
    if (auto* train = std::get_if<Train>(&operation.action))
      train->count = std::min(train->count, iterations_max);
    if (auto* replay = std::get_if<Replay>(&operation.action))
      replay->count = std::min(replay->count, iterations_max);
  }
  return scenario;
}

bool same_numbers(PlannedMemory const& a, PlannedMemory const& b) {
  return a.from_operation == b.from_operation && a.at_start == b.at_start &&
         a.between == b.between && a.peak == b.peak;
}

struct TooLong {};

/// What a plan has taken so far, in about the time that one parameter of one rank takes in an
/// operation: 2^30 of them are a second or two.
class Taken {
 public:
  void look(std::size_t parameters) { add(8, parameters, 1); }
  void begin(std::size_t parameters, std::size_t ranks) { add(256, parameters, 1 + ranks); }
  void follow(std::size_t parameters, std::size_t ranks, std::size_t operations) {
    add(static_cast<std::int64_t>(operations), parameters + purpose_count, ranks);
  }

 private:
  static constexpr std::int64_t most = std::int64_t{1} << 30;
  void add(std::int64_t each, std::size_t parameters, std::size_t ranks) {
    taken_ += each * static_cast<std::int64_t>(parameters * ranks);
    if (taken_ > most) throw TooLong();
  }

  std::int64_t taken_ = 0;
};

class Planner {
 public:
  explicit Planner(Scenario const& scenario)
      : scenario_(with_few_iterations(scenario)),
        program_(scenario_),
        budgets_(scenario_),
        scaler_{.clip = scenario_.optimizer.clip,
                .has_loss_scale = scales(scenario_.optimizer.loss_scale)} {}

  std::vector<PlannedMemory> plan() {
    begin_world(scenario_, 0);
    ProgramWalk walk(program_);
    while (auto const operation = walk.next()) {
      if (sets_anew(*operation))
        begin_world(program_.setting(operation->as<resolved::Load>()->setting), operation->entry);
      taken_.follow(scenario_.params.size(), world_.size(), 1 + body_of(*operation).size());
      budgets_.follow(*operation);
      follow_scaler(*operation);
      walk.put_in_force(scaler_.clip);
      look();
    }
    end_world();
    return std::move(plan_);
  }

 private:
  static bool scales(LossScale const& loss_scale) {
    return loss_scale.kind != LossScale::Kind::none;
  }

  void begin_world(Scenario const& setting, int operation) {
    end_world();
    std::vector<ParameterSpec> const parameters = parameter_specs(setting);
    Mesh const mesh = mesh_of(setting.world);
    std::vector<int> ranks;
    auto const registered = as_registered(parameters, setting.order);
    auto const looked = [&] { taken_.look(parameters.size()); };
    for (RankClass& alike : rank_classes(setting.layout, registered, mesh, looked)) {
      ranks.push_back(alike.first);
      world_.push_back(
          {.from_operation = operation, .mesh = mesh, .ranks = std::move(alike.ranks)});
    }
    taken_.begin(parameters.size(), ranks.size());
    budgets_.begin_world(setting, parameters, ranks, scaler_.clip);
    look();
    for (PlannedMemory& planned : world_) planned.at_start = planned.between;
  }

  /// Ranks of other sizes may need the same.
  void end_world() {
    auto const first = static_cast<std::ptrdiff_t>(plan_.size());
    for (PlannedMemory& planned : world_) {
      auto const same = std::find_if(plan_.begin() + first, plan_.end(), [&](auto const& other) {
        return same_numbers(planned, other);
      });
      if (same == plan_.end()) {
        plan_.push_back(std::move(planned));
      } else {
        same->ranks.insert(same->ranks.end(), planned.ranks.begin(), planned.ranks.end());
      }
    }
    for (auto at = plan_.begin() + first; at != plan_.end(); ++at)
      at->ranks = joined(std::move(at->ranks));
    world_.clear();
  }

  void follow_scaler(Primitive const& operation) {
    match(
        operation.what,
        [&](resolved::Set const& set) {
          scaler_.clip = set.change.clip.value_or(scaler_.clip);
          if (set.change.loss_scale) scaler_.has_loss_scale = scales(*set.change.loss_scale);
        },
        [&](Save const& save) { saved_.insert_or_assign(save.checkpoint, scaler_); },
        [&](resolved::Load const& load) {
          scaler_.clip = load.clip;
          if (auto const saved = saved_.find(load.checkpoint); saved != saved_.end())
            scaler_ = saved->second;
          else if (load.found)
            scaler_ = *load.found;
          if (scaler_.clip || scaler_.has_loss_scale) budgets_.use_scaling();
        },
        [](SetsNothing auto const&) {});
  }

  // Pinned memory is kept once it is there, so at its peak a purpose has as much of it as now.
  void look() {
    for (std::size_t r = 0; r < world_.size(); ++r) {
      oracle::Budget const& budget = budgets_.of(r);
      for (int i = 0; i < purpose_count; ++i) {
        auto const purpose = static_cast<Purpose>(i);
        auto const at = static_cast<std::size_t>(i);
        LiveBytes const now = {.device = budget.device_bytes(purpose),
                               .pinned = budget.pinned_bytes(purpose)};
        raise_to(world_[r].between[at], now);
        raise_to(world_[r].peak[at], now);
        raise_to(world_[r].peak[at], {.device = budget.peak_bytes(purpose) - now.pinned});
      }
    }
  }

  Scenario scenario_;
  Program program_;
  Budgets budgets_;
  FoundManifest scaler_;  // what checkpoints carry
  Taken taken_;
  std::map<std::string, FoundManifest> saved_;
  std::vector<PlannedMemory> world_;  // of the world that stands, as in budgets_
  std::vector<PlannedMemory> plan_;   // of those before
};

}  // namespace

std::optional<std::vector<PlannedMemory>> plan_memory(Scenario const& scenario) {
  try {
    return Planner(scenario).plan();
  } catch (TooLong const&) {
    return std::nullopt;
  }
}

}  // namespace adamant::scenarios
