#include "scenarios/search/generate/generate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/operations.h"
#include "scenarios/language/registry.h"
#include "scenarios/language/state_location.h"
#include "scenarios/seam/layout_padding.h"
#include "scenarios/seam/refusals.h"
#include "scenarios/search/generate/drawing.h"

namespace adamant::scenarios {

namespace {

constexpr int percent_around_all = 94;  // that is often met

/// Layouts whose buffers would be padding for the most part become the usual one.
void bound_padding(Layout usual, Scenario& scenario) {
  auto const is_wasteful = [](Scenario const& setting) {
    if (setting.layout == Layout::fsdp2) return false;
    std::int64_t numel = 0;
    for (ParameterSpec const& spec : parameter_specs(setting)) numel += spec.numel();
    auto const padding = padding_of(setting);
    return !padding || *padding > 1000 + 4 * numel;
  };
  if (is_wasteful(scenario)) scenario.layout = usual;
  Scenario setting = scenario;
  for (Operation& operation : scenario.program) {
    auto* const load = std::get_if<Load>(&operation.action);
    if (load == nullptr) continue;
    Scenario const before = setting;
    setting = with(before, *load);
    if (load->keeps_addresses() || !is_wasteful(setting)) continue;
    load->layout = usual;
    setting = with(before, *load);
  }
}

/// A `reload` needs states that are away. A load that got other types behind its program begins
/// anew, with states on the device.
void drop_vain_reloads(Scenario& scenario) {
  StateLocation states(scenario);
  std::erase_if(scenario.program, [&](Operation const& operation) {
    bool const vain = is<ReloadStates>(operation.action) && !states.away();
    states.follow(operation.action);
    return vain;
  });
}

/// What needs several options at once is met where many are drawn; where few are, nothing that one
/// of them breaks hides it.
int percent_of_others(Drawing& draws) {
  bool const many = draws.chance(50);
  return many ? 50 : 10;
}

/// Any value but `value`, which is one of the option's; or none where that is the only one.
void choose_other(Drawing& draws, EngineOption const& option, std::string const& value,
                  EngineOptions& chosen) {
  std::vector<std::string> others = option.values;
  std::erase(others, value);
  if (others.empty()) return;
  std::string const& other = draws.one_of(others);
  if (other != option.values.front()) chosen.emplace_back(option.name, other);
}

/// Takes the place of `scenario`, unless the engine refuses it.
bool take(Drawing const& draws, Scenario& scenario, Scenario candidate) {
  if (refuse(candidate, draws.able())) return false;
  scenario = std::move(candidate);
  return true;
}

/// Gradients whose sums round, and norms, depend on the world. Where they stand in the way they are
/// drawn otherwise.
void draw_other_world(Drawing& draws, Drawing& model, Scenario& scenario) {
  Scenario candidate = scenario;
  candidate.other_worlds = {draw_small_world(model)};
  if (candidate.other_worlds.front() == scenario.world) return;
  if (take(draws, scenario, candidate)) return;
  candidate.gradients = GradientClass::exact;
  candidate.optimizer.clip = {};
  std::erase_if(candidate.program, [](Operation const& operation) {
    auto const* const set = std::get_if<Set>(&operation.action);
    return is<ClipNorm>(operation.action) || (set != nullptr && set->change.clip);
  });
  if (!candidate.program.empty()) take(draws, scenario, std::move(candidate));
}

/// After any entry after which it can be.
void draw_resumed(Drawing& draws, Drawing& model, Scenario& scenario) {
  auto const entries = static_cast<std::int64_t>(scenario.program.size());
  std::int64_t const first = draws.below(entries + 1);
  std::vector<World> through(static_cast<std::size_t>(draws.between(0, 2)));
  for (World& world : through) world = draw_small_world(model);
  bool const reverses = draws.chance(30) && draws.able().loads_in_any_order;
  for (std::int64_t i = 0; i <= entries; ++i) {
    Scenario candidate = scenario;
    candidate.again = {{.resumed_after = (first + i) % (entries + 1),
                        .through = through,
                        .order = reverses ? ParamOrder::reversed : ParamOrder::listed}};
    if (take(draws, scenario, std::move(candidate))) return;
  }
}

/// Another value of one option that must not matter.
EngineOptions draw_options(Drawing& draws, EngineChoice const& engine) {
  std::vector<std::pair<std::string, std::string>> others;
  for (auto const& [name, chosen] : all_options(draws.able(), engine))
    if (offers(draws.able().same_options, name))
      for (std::string const& value : find_option(draws.able(), name)->values)
        if (value != chosen) others.emplace_back(name, value);
  if (others.empty()) return {};
  return {draws.one_of(others)};
}

void draw_again(Drawing& draws, Drawing& model, Scenario& scenario) {
  std::vector<Promise> kinds;
  for (Promise const promise : draws.able().promises)
    if (promise != Promise::worlds) kinds.push_back(promise);
  Promise const kind = draws.one_of(kinds);
  if (kind == Promise::resumed) return draw_resumed(draws, model, scenario);
  Again again;
  if (kind == Promise::options) again.options = draw_options(draws, scenario.engine);
  if (kind == Promise::options && again.options.empty()) return;
  Scenario candidate = scenario;
  candidate.again = {std::move(again)};
  take(draws, scenario, std::move(candidate));
}

/// Which ways around known defects the scenario takes (GenerateOptions::usual_options), and some
/// other options. What is the default is not written, but for ways around. What one option breaks
/// hides what needs another: that is why most cases go around all that is often met, and why those
/// that do not go around half of it.
void draw_engine_options(Drawing& draws, Scenario& scenario) {
  std::vector<UsualOption> const& usual = draws.options().usual_options;
  EngineOptions& chosen = scenario.engine.options;
  int const percent = percent_of_others(draws);
  bool const around_all = draws.chance(percent_around_all);
  for (EngineOption const& option : draws.able().options) {
    auto const around = std::ranges::find(usual, option.name, &UsualOption::name);
    bool const drawn = draws.feature(Feature::engine_option, percent);
    bool const keeps = draws.chance(50);
    if (around == usual.end()) {
      if (drawn) choose_other(draws, option, option.values.front(), chosen);
    } else if (keeps || (around_all && !around->seldom_needed)) {
      chosen.emplace_back(around->name, around->value);
    } else {
      choose_other(draws, option, around->value, chosen);
    }
  }
}

/// At most one in other worlds and one of another kind. Nothing is drawn for an engine that
/// promises nothing.
void draw_further_runs(Drawing& draws, Drawing& model, Scenario& scenario) {
  if (draws.able().promises.empty() || !scenario.faults.empty()) return;
  if (draws.feature(Feature::several_worlds, 10)) draw_other_world(draws, model, scenario);
  if (draws.feature(Feature::again, 20)) draw_again(draws, model, scenario);
}

}  // namespace

// Part by part, in a fixed order of draws.
Scenario generate_scenario(std::uint64_t seed, std::uint64_t index,
                           GenerateOptions const& options) {
  Drawing draws(seed, index, options);
  std::optional<Drawing> of_all;
  if (options.scenarios_of_model > 1)
    of_all.emplace(~seed, index / options.scenarios_of_model, options);
  Drawing& model = of_all ? *of_all : draws;
  Scenario scenario;
  scenario.name = "generated";
  scenario.seed = draws.bits() >> 32;
  draw_world(model, scenario);
  draw_groups(draws, scenario);
  draw_ties(draws, scenario);
  draw_optimizer(draws, scenario);
  draw_gradients(draws, scenario);
  if (!scenario.optimizer.capturable) scenario.offload = draw_offload(draws);
  if (draws.profile().whole_recipes) draw_recipe(draws, model, scenario);
  bool const captures = draw_program(draws, model, scenario);
  draw_schedule(draws, scenario.schedule);
  if (!draws.profile().whole_recipes) draw_types(draws, model, scenario);
  draw_parts(draws, scenario);
  bound_padding(draws.able().layouts.front(), scenario);
  drop_vain_reloads(scenario);
  // What was captured before its formats were known needs a gradient that stays.
  if (captures && !may_capture(draws, scenario)) scenario.optimizer.keep_cast_grad = true;
  if (options.faults) draw_fault(draws, scenario);
  draw_engine_options(draws, scenario);
  draw_further_runs(draws, model, scenario);
  if (draws.profile().rare) draw_rare(draws, scenario);
  return scenario;
}

}  // namespace adamant::scenarios
