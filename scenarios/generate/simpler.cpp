// How a generated scenario gets simpler: fewer operations, parameters, ranks and rows, and settings
// back at their defaults. Each candidate is one step, so that a property's shrinking stays lazy.
#include <rapidcheck/Random.h>
#include <rapidcheck/gen/Create.h>
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/shrinkable/Create.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "scenarios/generate/generate.h"
#include "scenarios/model/support.h"

namespace adamant::scenarios {

namespace {

class Simplifier {
 public:
  explicit Simplifier(Scenario const& scenario) : scenario_(scenario) {}

  std::vector<Scenario> all() {
    drop_operations();
    drop_params();
    shrink_world();
    shrink_shapes();
    reset_settings();
    simplify_operations();
    return std::move(candidates_);
  }

 private:
  template <typename Change>
  void offer(Change change) {
    Scenario candidate = scenario_;
    change(candidate);
    if (candidate != scenario_ && !refuse(candidate) && loads_what_it_saved(candidate))
      candidates_.push_back(std::move(candidate));
  }
  static bool loads_what_it_saved(Scenario const& s) {
    std::set<std::string> saved;
    for (Operation const& operation : s.program) {
      if (auto const* save = std::get_if<Save>(&operation.action)) saved.insert(save->checkpoint);
      auto const* const load = std::get_if<Load>(&operation.action);
      if (load != nullptr && !saved.contains(load->from)) return false;
    }
    return true;
  }

  /// Halves first, then single operations; never all of them.
  void drop_operations() {
    std::size_t const size = scenario_.program.size();
    for (std::size_t length = size / 2; length >= 1; length /= 2) {
      for (std::size_t begin = 0; begin + length <= size; begin += length) {
        if (length < size) drop_operations(begin, length);
      }
    }
  }
  void drop_operations(std::size_t begin, std::size_t length) {
    offer([&](Scenario& s) {
      auto const first = s.program.begin() + static_cast<std::ptrdiff_t>(begin);
      s.program.erase(first, first + static_cast<std::ptrdiff_t>(length));
    });
  }

  void drop_params() {
    if (scenario_.params.size() < 2) return;
    for (std::size_t p = 0; p < scenario_.params.size(); ++p) {
      offer([&](Scenario& s) { drop_param(s, p); });
    }
  }
  static void drop_param(Scenario& s, std::size_t index) {
    std::string const name = s.params[index].name;
    s.params.erase(s.params.begin() + static_cast<std::ptrdiff_t>(index));
    for (Operation& operation : s.program) {
      if (auto* backward = std::get_if<Backward>(&operation.action)) {
        std::erase(backward->without, name);
      }
    }
  }

  void shrink_world() {
    for (std::int64_t const ranks :
         {std::int64_t{1}, scenario_.world.shard / 2, scenario_.world.shard - 1}) {
      if (ranks < 1 || ranks >= scenario_.world.shard) continue;
      offer([&](Scenario& s) { s.world.shard = ranks; });
    }
    if (scenario_.microbatches.value_or(1) > 1) {
      offer([&](Scenario& s) { s.microbatches = 1; });
      offer([&](Scenario& s) { s.microbatches = *s.microbatches - 1; });
    }
  }

  void shrink_shapes() {
    for (std::size_t p = 0; p < scenario_.params.size(); ++p) {
      auto const& shape = scenario_.params[p].shape;
      if (shape.size() > 1) offer([&](Scenario& s) { s.params[p].shape.resize(1); });
      for (std::size_t d = 0; d < shape.size(); ++d) shrink_extent(p, d, shape[d]);
    }
  }
  void shrink_extent(std::size_t param, std::size_t dimension, std::int64_t extent) {
    for (std::int64_t const smaller : {std::int64_t{1}, extent / 2, extent - 1}) {
      if (smaller < 1 || smaller >= extent) continue;
      offer([&](Scenario& s) { s.params[param].shape[dimension] = smaller; });
    }
  }

  void reset_settings() {
    offer([](Scenario& s) { s.optimizer = {}; });
    offer([](Scenario& s) { s.gradients = GradientClass::exact; });
    offer([](Scenario& s) { s.offload = {}; });
    if (auto const* hybrid = std::get_if<HybridOffload>(&scenario_.offload)) {
      offer([&](Scenario& s) { s.offload = HybridOffload{.fraction = 1.0}; });
      offer([&](Scenario& s) { s.offload = HybridOffload{.fraction = hybrid->fraction}; });
    }
    offer([](Scenario& s) { s.schedule = {}; });
    offer([](Scenario& s) { s.seed = 0; });
    offer([](Scenario& s) {
      s.faults.clear();
      s.expect = {};
    });
    offer([](Scenario& s) {
      s.groups.clear();
      for (Param& param : s.params) param.group.clear();
    });
    AdamMode const mode = scenario_.optimizer.adam.mode;
    offer([&](Scenario& s) { s.optimizer.adam = {.mode = mode}; });
    offer([](Scenario& s) { s.optimizer.step_counter = StepCounter::group; });
    offer([](Scenario& s) { s.optimizer.decoupled_grad = true; });
    reset_precision();
  }

  /// All at once first, then one type at a time.
  void reset_precision() {
    offer([](Scenario& s) {
      s.precision = {};
      for (Param& param : s.params) param.precision = {};
    });
    for (std::size_t p = 0; p < scenario_.params.size(); ++p)
      offer([&](Scenario& s) { s.params[p].precision = {}; });
    offer([](Scenario& s) { s.precision.grad = GradType::fp32; });
    offer([](Scenario& s) { s.precision.exp_avg = StateType::fp32; });
    offer([](Scenario& s) { s.precision.exp_avg_sq = StateType::fp32; });
    offer([](Scenario& s) { s.precision.main = MainType::none; });
    if (scenario_.precision.param != ParamType::fp16) return;
    offer([](Scenario& s) { s.precision.param = ParamType::bf16; });  // further from fp32
  }

  void simplify_operations() {
    for (std::size_t i = 0; i < scenario_.program.size(); ++i) {
      Action const& action = scenario_.program[i].action;
      auto const* train = std::get_if<Train>(&action);
      auto const* backward = std::get_if<Backward>(&action);
      if (train != nullptr && train->count > 1) replace(i, Train{});
      if (backward != nullptr && !backward->without.empty()) replace(i, Backward{});
      auto const* load = std::get_if<Load>(&action);
      if (load != nullptr && load->world) replace(i, Load{.from = load->from});
    }
  }
  void replace(std::size_t index, Action const& action) {
    offer([&](Scenario& s) { s.program[index].action = action; });
  }

  Scenario const& scenario_;
  std::vector<Scenario> candidates_;
};

}  // namespace

std::vector<Scenario> simpler(Scenario const& scenario) {
  return Simplifier(scenario).all();
}

rc::Gen<Scenario> scenario_gen(GenerateOptions options) {
  return [options](rc::Random const& random, int size) {
    GenerateOptions sized = options;
    sized.size = std::min({size, options.size, 100});
    rc::Random stream = random;
    Scenario scenario = generate_scenario(stream.next(), 0, sized);
    return rc::shrinkable::shrinkRecur(std::move(scenario), [](Scenario const& value) {
      return rc::seq::fromContainer(simpler(value));
    });
  };
}

}  // namespace adamant::scenarios
