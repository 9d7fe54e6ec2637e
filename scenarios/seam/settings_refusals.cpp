#include "scenarios/seam/refusal_parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "scenarios/language/state_location.h"
#include "scenarios/language/table.h"
#include "scenarios/seam/layout_padding.h"
#include "scenarios/seam/offered.h"

namespace adamant::scenarios {

namespace {

using MaybeRefusal = std::optional<Refusal>;

/// Something that is asked for; where the engine lacks it, the scenario is refused.
struct Asked {
  bool lacking;
  std::string_view detail;
  std::string supported;
  SourceLine line;
};

template <std::size_t N>
MaybeRefusal first_lacking(std::array<Asked, N> const& all) {
  for (Asked const& one : all) {
    if (!one.lacking) continue;
    return unsupported(one.detail,
                       std::string(one.detail).append(" is asked for; ").append(one.supported),
                       one.line);
  }
  return std::nullopt;
}

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
    bool const same_follows = k + 1 < kinds.size() && kinds[k].second == kinds[k + 1].second;
    text += kinds[k].first;
    if (same_follows) {
      text += " and ";
    } else {
      text += ' ';
      text += kinds[k].second;
      if (k + 1 < kinds.size()) text += ", ";
    }
  }
  return text;
}

MaybeRefusal refuse_precision(Scenario const& scenario, Capabilities const& capabilities) {
  for (Param const& param : scenario.params) {
    if (param.is_tied()) continue;
    Precision const types = scenario.precision_of(param);
    bool const own = param.precision != PrecisionOverride{};
    SourceLine const line = own ? param.line : scenario.lines["precision"];
    if (!accepted(capabilities.precisions, types))
      return unsupported("precision",
                         "parameter `" + param.name +
                             "` asks for types that are not supported; supported: " +
                             text_of(capabilities.precisions),
                         line);
    if (types != scenario.precision && !capabilities.own_precision)
      return unsupported("precision",
                         "parameter `" + param.name +
                             "` asks for types of its own; supported: those of all others",
                         line);
  }
  return std::nullopt;
}

MaybeRefusal refuse_world(Scenario const& scenario, Capabilities const& able) {
  SourceLine const line = scenario.lines["world"];
  constexpr auto layout = std::get<index_of_key<Scenario>("layout")>(keys_of<Scenario>);
  if (auto refusal = refuse_key(layout, scenario, able, scenario.lines["layout"])) return refusal;
  if (auto refusal = refuse_keys(scenario.world, able, [&](auto) { return line; })) return refusal;
  if (scenario.world.rank_count() > able.ranks_max)
    return first_lacking(std::array{
        Asked{true, "ranks", "supported: up to " + std::to_string(able.ranks_max), line}});
  return refuse_padding(scenario, scenario.lines["layout"]);
}

/// What a parameter is beside a name, a shape and its types.
MaybeRefusal refuse_params(Scenario const& scenario, Capabilities const& able) {
  for (Param const& param : scenario.params) {
    auto const lacking = first_lacking(std::array{
        Asked{!param.parts.empty() && !able.parts, "parts", "supported: whole parameters",
              param.line},
        Asked{param.is_tied() && !able.tied, "tied", "supported: parameters with one name",
              param.line},
    });
    if (lacking) return lacking;
  }
  return std::nullopt;
}

MaybeRefusal refuse_empty_tensors(Scenario const& scenario, Capabilities const& able) {
  if (able.empty_tensors) return std::nullopt;
  for (Param const& param : scenario.params)
    if (std::find(param.shape.begin(), param.shape.end(), 0) != param.shape.end())
      return unsupported("empty_tensor",
                         "parameter `" + param.name + "` has no elements; supported: one or more",
                         param.line);
  return std::nullopt;
}

MaybeRefusal refuse_offload(Scenario const& scenario, Capabilities const& able) {
  bool const offloads = scenario.offload.index() != 0;
  SourceLine const line = scenario.lines["offload"];
  SourceLine const capturable = scenario.lines["capturable"];
  return first_lacking(std::array{
      Asked{offloads_nothing(scenario.offload), "offload",
            "but neither moments nor main weights; supported: none, and states or a hybrid step "
            "with anything to offload",
            line},
      Asked{offloads && !able.offload, "offload", "supported: none", line},
      Asked{scenario.optimizer.capturable && offloads, "capturable", "supported without offload",
            capturable},
      Asked{scenario.optimizer.capturable && !able.capturable, "capturable", "supported: false",
            capturable},
  });
}

// What Adam is told is refused where the optimizer stands, whichever group asks for it.
MaybeRefusal refuse_optimizer(Scenario const& scenario, Capabilities const& able) {
  for (AdamConfig const& config : adam_configs(scenario))
    if (auto refusal = refuse_keys(config, able, [&](auto) { return scenario.lines["optimizer"]; }))
      return refusal;
  if (!able.cast_gradients && makes_cast_copy(scenario))
    return unsupported("decoupled_grad",
                       "decoupled_grad is asked for; as a cast copy; supported: true, and types "
                       "that need no cast",
                       scenario.lines["decoupled_grad"]);
  return refuse_keys(scenario.optimizer, able, [&](auto key) { return scenario.lines[key]; });
}

std::string text_of(std::vector<EngineOption> const& options) {
  if (options.empty()) return "this engine offers no options";
  std::string text = "supported: ";
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (i > 0) text += "; ";
    text += options[i].name;
    for (std::size_t v = 0; v < options[i].values.size(); ++v)
      text.append(v == 0 ? ": " : ", ").append(options[i].values[v]);
  }
  return text;
}

/// The first option that is not offered, or whose value is not.
MaybeRefusal refuse_options(Scenario const& scenario, Capabilities const& able) {
  for (auto const& [name, value] : scenario.engine.options) {
    EngineOption const* const option = find_option(able, name);
    if (option != nullptr && offers(option->values, value)) continue;
    std::string const asked = able.options.empty() ? "engine_options" : name + ": " + value;
    return unsupported("engine_options", asked + " is asked for; " + text_of(able.options),
                       scenario.lines["engine"]);
  }
  return std::nullopt;
}

MaybeRefusal refuse_rest(Scenario const& scenario, Capabilities const& able) {
  Schedule const& schedule = scenario.schedule;
  bool const chooses = schedule.strategy != Schedule::Strategy::fifo || schedule.choices;
  SourceLine const line = scenario.lines["schedule"];
  auto const schedules = first_lacking(std::array{
      Asked{chooses && !able.schedules, "schedule",
            "but there are no choices to make in this engine; supported: fifo", line},
      Asked{schedule.strategy == Schedule::Strategy::exhaustive, "schedule",
            "supported: fifo, random, pct and recorded choices", line},
  });
  if (schedules) return schedules;
  return refuse_keys(scenario, able, [&](auto key) { return scenario.lines[key]; });
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

MaybeRefusal refuse_set(SettingsChange const& change, SourceLine line, Capabilities const& able) {
  if (auto const key = not_settable(change, able); !key.empty())
    return unsupported("set",
                       "set of " + std::string(key) + " is asked for; supported: " +
                           (able.set.empty() ? "none" : list_words(able.set)),
                       line);
  return refuse_keys(change, able, [&](auto) { return line; });
}

MaybeRefusal refuse_operation(Operation const& operation, Capabilities const& able) {
  if (auto const* set = std::get_if<Set>(&operation.action))
    return refuse_set(set->change, operation.line, able);
  auto const* const zero = std::get_if<ZeroGrad>(&operation.action);
  bool const zeroes = zero != nullptr || std::holds_alternative<Train>(operation.action);
  bool const to_none = zero == nullptr || zero->set_to_none;
  if (zeroes && !offers(able.zero_grad, to_none ? ZeroGradKind::none : ZeroGradKind::zeros))
    return unsupported("zero_grad",
                       std::string("zero_grad is asked for; supported: set_to_none: ") +
                           (to_none ? "false" : "true"),
                       operation.line);
  if (moves_states(operation.action) && !able.offload)
    return unsupported("offload", "offload and reload are not among what this engine does",
                       operation.line);
  return std::nullopt;
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
  std::string const text = "replicate: 1";
  return max == 1 ? text : text + " to " + std::to_string(max);
}

std::string text_of(std::vector<PrecisionOffer> const& precisions) {
  std::string text;
  for (PrecisionOffer const& offer : precisions) {
    if (!text.empty()) text += "; or ";
    text += text_of(offer);
  }
  return text;
}

MaybeRefusal refuse_settings(Scenario const& scenario, Capabilities const& capabilities) {
  if (capabilities.layouts.empty())
    return unsupported("engine", "engine is asked for; supported: sim, sim-unchecked, cuda",
                       scenario.lines["engine"]);
  for (auto const refuse_part :
       {refuse_precision, refuse_world, refuse_params, refuse_empty_tensors, refuse_offload,
        refuse_optimizer, refuse_options, refuse_rest})
    if (auto refusal = refuse_part(scenario, capabilities)) return refusal;
  return std::nullopt;
}

MaybeRefusal refuse_operations(Scenario const& scenario, Capabilities const& capabilities) {
  for (Operation const& operation : scenario.program)
    if (auto refusal = refuse_operation(operation, capabilities)) return refusal;
  return std::nullopt;
}

}  // namespace adamant::scenarios
