#include "scenarios/seam/refusal_parts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/language/operations.h"
#include "scenarios/language/state_location.h"
#include "scenarios/language/table.h"
#include "scenarios/seam/layout_padding.h"
#include "scenarios/seam/offered.h"

namespace adamant::scenarios {

namespace {

/// One after another; kinds that take the same types share them.
std::string text_of(PrecisionOffer const& offer) {
  std::array<std::pair<std::string_view, std::string>, 5> const kinds{{
      {"param", listed(offer.param)},
      {"grad", listed(offer.grad)},
      {"main", listed(offer.main)},
      {"exp_avg", listed(offer.exp_avg)},
      {"exp_avg_sq", listed(offer.exp_avg_sq)},
  }};
  std::string text;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    auto const& [kind, types] = kinds[k];
    bool const last = k + 1 == kinds.size();
    bool const same_follows = !last && types == kinds[k + 1].second;
    text += same_follows ? fmt::format("{} and ", kind)
                         : fmt::format("{} {}{}", kind, types, last ? "" : ", ");
  }
  return text;
}

void refuse_precision(Scenario const& scenario, Capabilities const& able) {
  for (Param const& param : scenario.params) {
    if (param.is_tied()) continue;
    Precision const types = scenario.precision_of(param);
    bool const own = param.precision != PrecisionOverride{};
    SourceLine const line = own ? param.line : scenario.lines["precision"];
    if (!accepted(able.precisions, types))
      refuse_at(line, "precision",
                "parameter `{}` asks for types that are not supported; supported: {}", param.name,
                text_of(able.precisions));
    if (types != scenario.precision && !able.own_precision)
      refuse_at(line, "precision",
                "parameter `{}` asks for types of its own; supported: those of all others",
                param.name);
  }
}

void refuse_world(Scenario const& scenario, Capabilities const& able) {
  SourceLine const line = scenario.lines["world"];
  constexpr auto layout = std::get<index_of_key<Scenario>("layout")>(keys_of<Scenario>);
  refuse_where(refuse_key(layout, scenario, able, scenario.lines["layout"]));
  refuse_where(refuse_keys(scenario.world, able, [&](auto) { return line; }));
  if (scenario.world.rank_count() > able.ranks_max)
    refuse_at(line, "ranks", "ranks is asked for; supported: up to {}", able.ranks_max);
  refuse_where(refuse_padding(scenario, scenario.lines["layout"]));
}

/// What a parameter is beside a name, a shape and its types.
void refuse_params(Scenario const& scenario, Capabilities const& able) {
  for (Param const& param : scenario.params) {
    if (!param.parts.empty() && !able.parts)
      refuse_at(param.line, "parts", "parts is asked for; supported: whole parameters");
    if (param.is_tied() && !able.tied)
      refuse_at(param.line, "tied", "tied is asked for; supported: parameters with one name");
  }
}

void refuse_empty_tensors(Scenario const& scenario, Capabilities const& able) {
  for (Param const& param : scenario.params)
    if (!able.empty_tensors && std::ranges::count(param.shape, 0) > 0)
      refuse_at(param.line, "empty_tensor",
                "parameter `{}` has no elements; supported: one or more", param.name);
}

void refuse_offload(Scenario const& scenario, Capabilities const& able) {
  bool const offloads = scenario.offload.index() != 0;
  bool const capturable = scenario.optimizer.capturable;
  SourceLine const line = scenario.lines["offload"];
  if (offloads_nothing(scenario.offload))
    refuse_at(line, "offload",
              "offload is asked for; but neither moments nor main weights; supported: none, and "
              "states or a hybrid step with anything to offload");
  if (offloads && !able.offload)
    refuse_at(line, "offload", "offload is asked for; supported: none");
  if (capturable && offloads)
    refuse_at(scenario.lines["capturable"], "capturable",
              "capturable is asked for; supported without offload");
  if (capturable && !able.capturable)
    refuse_at(scenario.lines["capturable"], "capturable",
              "capturable is asked for; supported: false");
}

// What Adam is told is refused where the optimizer stands, whichever group asks for it.
void refuse_optimizer(Scenario const& scenario, Capabilities const& able) {
  for (AdamConfig const& config : adam_configs(scenario))
    refuse_where(refuse_keys(config, able, [&](auto) { return scenario.lines["optimizer"]; }));
  if (!able.cast_gradients && makes_cast_copy(scenario))
    refuse_at(scenario.lines["decoupled_grad"], "decoupled_grad",
              "decoupled_grad is asked for; as a cast copy; supported: true, and types that need "
              "no cast");
  refuse_where(
      refuse_keys(scenario.optimizer, able, [&](auto key) { return scenario.lines[key]; }));
}

std::string text_of(std::vector<EngineOption> const& options) {
  if (options.empty()) return "this engine offers no options";
  std::string text;
  for (EngineOption const& option : options)
    text += fmt::format("{}{}: {}", text.empty() ? "supported: " : "; ", option.name,
                        fmt::join(option.values, ", "));
  return text;
}

/// The first option that is not offered, or whose value is not.
void refuse_options(Scenario const& scenario, Capabilities const& able) {
  for (auto const& [name, value] : scenario.engine.options) {
    EngineOption const* const option = find_option(able, name);
    if (option != nullptr && offers(option->values, value)) continue;
    std::string const asked = able.options.empty() ? "engine_options" : name + ": " + value;
    refuse_at(scenario.lines["engine"], "engine_options", "{} is asked for; {}", asked,
              text_of(able.options));
  }
}

void refuse_rest(Scenario const& scenario, Capabilities const& able) {
  Schedule const& schedule = scenario.schedule;
  bool const chooses = schedule.strategy != Schedule::Strategy::fifo || schedule.choices;
  SourceLine const line = scenario.lines["schedule"];
  if (chooses && !able.schedules)
    refuse_at(line, "schedule",
              "schedule is asked for; but there are no choices to make in this engine; supported: "
              "fifo");
  if (schedule.strategy == Schedule::Strategy::exhaustive)
    refuse_at(line, "schedule",
              "schedule is asked for; supported: fifo, random, pct and recorded choices");
  refuse_where(refuse_keys(scenario, able, [&](auto key) { return scenario.lines[key]; }));
}

/// The first key of a `set` that may not be changed.
std::string_view not_settable(SettingsChange const& change, Capabilities const& able) {
  std::string_view found;
  for_each_key<SettingsChange>([&](auto const& row) {
    bool const lacking = value_at(change, row.place) && !offers(able.set, row.key);
    if (lacking && found.empty()) found = row.key;
  });
  return found;
}

void refuse_set(SettingsChange const& change, SourceLine line, Capabilities const& able) {
  if (auto const key = not_settable(change, able); !key.empty())
    refuse_at(line, "set", "set of {} is asked for; supported: {}", key,
              able.set.empty() ? "none" : list_words(able.set));
  refuse_where(refuse_keys(change, able, [&](auto) { return line; }));
}

void refuse_operation(Operation const& operation, Capabilities const& able) {
  Action const& action = operation.action;
  if (auto const* set = std::get_if<Set>(&action)) refuse_set(set->change, operation.line, able);
  auto const* const zero = std::get_if<ZeroGrad>(&action);
  bool const zeroes = is<ZeroGrad, Train>(action);
  bool const to_none = zero == nullptr || zero->set_to_none;
  if (zeroes && !offers(able.zero_grad, to_none ? ZeroGradKind::none : ZeroGradKind::zeros))
    refuse_at(operation.line, "zero_grad", "zero_grad is asked for; supported: set_to_none: {}",
              !to_none);
  if (moves_states(action) && !able.offload)
    refuse_at(operation.line, "offload", "offload and reload are not among what this engine does");
}

}  // namespace

bool makes_cast_copy(Scenario const& scenario) {
  auto const specs = parameter_specs(scenario);
  return std::any_of(specs.begin(), specs.end(), [](ParameterSpec const& spec) {
    return !spec.formats.decoupled_gradient && spec.formats.gradient != spec.formats.weight();
  });
}

std::optional<ConflictOfParam> first_conflict(Scenario const& scenario) {
  std::optional<ConflictOfParam> first;
  for (Param const& param : scenario.params) {
    if (param.is_tied()) continue;
    auto const conflict = conflict_in(scenario.precision_of(param));
    if (conflict && conflict->detail == "remainder") return ConflictOfParam{&param, *conflict};
    if (conflict && !first) first = ConflictOfParam{&param, *conflict};
  }
  return first;
}

std::string replicas(std::int64_t max) {
  return max == 1 ? "replicate: 1" : fmt::format("replicate: 1 to {}", max);
}

std::string text_of(std::vector<PrecisionOffer> const& precisions) {
  std::string text;
  for (PrecisionOffer const& offer : precisions)
    text += (text.empty() ? "" : "; or ") + text_of(offer);
  return text;
}

void refuse_settings(Scenario const& scenario, Capabilities const& capabilities) {
  if (capabilities.layouts.empty())
    refuse_at(scenario.lines["engine"], "engine",
              "engine is asked for; supported: sim, sim-unchecked, cuda");
  for (auto const refuse_part :
       {refuse_precision, refuse_world, refuse_params, refuse_empty_tensors, refuse_offload,
        refuse_optimizer, refuse_options, refuse_rest})
    refuse_part(scenario, capabilities);
}

void refuse_operations(Scenario const& scenario, Capabilities const& capabilities) {
  for (Operation const& operation : scenario.program) refuse_operation(operation, capabilities);
}

}  // namespace adamant::scenarios
