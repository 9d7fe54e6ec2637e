#include "scenarios/seam/settings_support.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "scenarios/language/whereabouts.h"
#include "scenarios/language/words.h"

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

std::string supported(std::string const& words) {
  return std::string("supported: ").append(words);
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
    Precision const types = scenario.precision_of(param);
    bool const own = param.precision != PrecisionOverride{};
    SourceLine const line = own ? param.line : scenario.places[Place::precision];
    if (!is_plain(types) || !accepted(capabilities.precisions, types))
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
  SourceLine const line = scenario.places[Place::world];
  return first_lacking(std::array{
      Asked{!offers(able.layouts, scenario.layout), "layout", supported(listed(able.layouts)),
            scenario.places[Place::layout]},
      Asked{scenario.world.replicate > able.replicate_max, "replicate",
            supported(replicas(able.replicate_max)), line},
      Asked{scenario.world.rank_count() > able.ranks_max, "ranks",
            supported("up to " + std::to_string(able.ranks_max)), line},
  });
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
  SourceLine const line = scenario.places[Place::offload];
  SourceLine const capturable = scenario.places[Place::capturable];
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

bool has_bias_correction(Scenario const& scenario, bool on) {
  auto const configs = adam_configs(scenario);
  return std::any_of(configs.begin(), configs.end(),
                     [&](AdamConfig const& config) { return config.bias_correction == on; });
}

MaybeRefusal refuse_optimizer(Scenario const& scenario, Capabilities const& able) {
  Optimizer const& optimizer = scenario.optimizer;
  SourceLine const line = scenario.places[Place::optimizer];
  bool const corrects = offers(able.bias_correction, true) || !has_bias_correction(scenario, true);
  bool const leaves = offers(able.bias_correction, false) || !has_bias_correction(scenario, false);
  return first_lacking(std::array{
      Asked{!offers(able.optimizers, optimizer.adam.mode), "optimizer",
            supported(listed(able.optimizers)), line},
      Asked{!corrects || !leaves, "bias_correction",
            supported(offers(able.bias_correction, true) ? "true" : "false"), line},
      Asked{!able.cast_gradients && makes_cast_copy(scenario), "decoupled_grad",
            "as a cast copy; supported: true, and types that need no cast",
            scenario.places[Place::decoupled_grad]},
      Asked{optimizer.clip && !able.clip, "clip", "supported: none", scenario.places[Place::clip]},
      Asked{!offers(able.loss_scale, optimizer.loss_scale.kind), "loss_scale",
            supported(listed(able.loss_scale)), scenario.places[Place::loss_scale]},
  });
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
                       scenario.places[Place::engine]);
  }
  return std::nullopt;
}

MaybeRefusal refuse_rest(Scenario const& scenario, Capabilities const& able) {
  Schedule const& schedule = scenario.schedule;
  bool const chooses = schedule.strategy != Schedule::Strategy::fifo || schedule.choices;
  SourceLine const line = scenario.places[Place::schedule];
  return first_lacking(std::array{
      Asked{chooses && !able.schedules, "schedule",
            "but there are no choices to make in this engine; supported: fifo", line},
      Asked{schedule.strategy == Schedule::Strategy::exhaustive, "schedule",
            "supported: fifo, random, pct and recorded choices", line},
      Asked{!offers(able.gradients, scenario.gradients), "gradients",
            supported(listed(able.gradients)), scenario.places[Place::gradients]},
      Asked{scenario.bug && !able.bugs, "bug", "this engine has none to switch on",
            scenario.places[Place::bug]},
  });
}

MaybeRefusal refuse_set(SettingsChange const& change, SourceLine line, Capabilities const& able) {
  std::array<std::pair<bool, Settable>, 6> const asked{{
      {change.adam.lr.has_value(), Settable::lr},
      {change.adam.betas.has_value(), Settable::betas},
      {change.adam.eps.has_value(), Settable::eps},
      {change.adam.weight_decay.has_value(), Settable::weight_decay},
      {change.clip.has_value(), Settable::clip},
      {change.loss_scale.has_value(), Settable::loss_scale},
  }};
  for (auto const& [changes, what] : asked)
    if (changes && !offers(able.set, what))
      return unsupported("set",
                         "set of " + std::string(word_for(what)) + " is asked for; supported: " +
                             (able.set.empty() ? "none" : listed(able.set)),
                         line);
  return first_lacking(
      std::array{Asked{change.clip && *change.clip && !able.clip, "clip", "supported: none", line},
                 Asked{change.loss_scale && !offers(able.loss_scale, change.loss_scale->kind),
                       "loss_scale", supported(listed(able.loss_scale)), line}});
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

bool is_plain(Precision const& precision) {
  bool const main = precision.main == MainType::none || format_of(precision.main);
  return main && format_of(precision.param) && format_of(precision.exp_avg) &&
         format_of(precision.exp_avg_sq);
}

bool makes_cast_copy(Scenario const& scenario) {
  auto const specs = parameter_specs(scenario);
  return std::any_of(specs.begin(), specs.end(), [](ParameterSpec const& spec) {
    return !spec.formats.decoupled_gradient && spec.formats.gradient != spec.formats.weight();
  });
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
                       scenario.places[Place::engine]);
  for (auto const refuse_part : {refuse_precision, refuse_world, refuse_empty_tensors,
                                 refuse_offload, refuse_optimizer, refuse_options, refuse_rest})
    if (auto refusal = refuse_part(scenario, capabilities)) return refusal;
  return std::nullopt;
}

MaybeRefusal refuse_operations(Scenario const& scenario, Capabilities const& capabilities) {
  for (Operation const& operation : scenario.program)
    if (auto refusal = refuse_operation(operation, capabilities)) return refusal;
  return std::nullopt;
}

}  // namespace adamant::scenarios
