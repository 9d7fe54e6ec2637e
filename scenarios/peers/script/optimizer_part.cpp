#include "scenarios/peers/script/optimizer_part.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "scenarios/peers/script/observation.h"

namespace adamant::scenarios::script {

namespace {

/// The settings as PyTorch's Adam takes them; what is no short decimal is one that was rounded to
/// binary32.
std::vector<std::string> settings(AdamConfig const& config) {
  return {"lr=" + python::exact_number(config.learning_rate),
          fmt::format("betas=({}, {})", python::exact_number(config.beta1),
                      python::exact_number(config.beta2)),
          "eps=" + python::exact_number(config.epsilon),
          "weight_decay=" + python::exact_number(config.weight_decay)};
}

std::vector<std::string> short_settings(Draft& draft, AdamConfig const& config) {
  std::string const decimals =
      fmt::format("[{}, {}, {}, {}, {}]", python::number(config.learning_rate),
                  python::number(config.beta1), python::number(config.beta2),
                  python::number(config.epsilon), python::number(config.weight_decay));
  draft.code.call("lr, beta1, beta2, eps, decay = torch.tensor", {decimals}, ".tolist()");
  return {"lr", "(beta1, beta2)", "eps", "decay"};
}

/// Where no value is looked at: what is not PyTorch's default, in short decimals.
std::vector<std::string> unusual_settings(AdamConfig const& config, bool adamw) {
  std::vector<std::string> given;
  auto const add = [&](char const* key, float value, float usual) {
    if (value != usual) given.push_back(fmt::format("{}={}", key, python::number(value)));
  };
  add("lr", config.learning_rate, 1e-3F);
  if (config.beta1 != 0.9F || config.beta2 != 0.999F)
    given.push_back(
        fmt::format("betas=({}, {})", python::number(config.beta1), python::number(config.beta2)));
  add("eps", config.epsilon, 1e-8F);
  add("weight_decay", config.weight_decay, adamw ? 0.01F : 0.0F);
  return given;
}

std::size_t columns(std::vector<std::string> const& texts) {
  std::size_t columns = 0;
  for (std::string const& text : texts) columns += text.size() + 2;
  return columns;
}

python::Literal overrides(AdamConfig const& own, AdamConfig const& common,
                          std::vector<python::Literal> parameters) {
  using python::atom;
  using python::exact_number;
  std::vector<python::Literal> items = {
      python::keyed("params", python::list(std::move(parameters)))};
  auto const add = [&](std::string_view key, float mine, float theirs) {
    if (mine != theirs) items.push_back(python::keyed(key, atom(exact_number(mine))));
  };
  add("lr", own.learning_rate, common.learning_rate);
  if (own.beta1 != common.beta1 || own.beta2 != common.beta2)
    items.push_back(python::keyed(
        "betas", atom(fmt::format("({}, {})", exact_number(own.beta1), exact_number(own.beta2)))));
  add("eps", own.epsilon, common.epsilon);
  add("weight_decay", own.weight_decay, common.weight_decay);
  return python::dictionary(std::move(items));
}

void write_groups(Draft& draft) {
  Scenario const& scenario = draft.plan.scenario;
  auto const configs = adam_configs(scenario);
  auto const specs = parameter_specs(scenario);
  std::vector<python::Literal> groups;
  for (int const group : used_groups(scenario)) {
    std::vector<python::Literal> parameters;
    for (int p = 0; p < draft.names.count(); ++p)
      if (specs[static_cast<std::size_t>(p)].group == group)
        parameters.push_back(python::atom(draft.names.in_model(p)));
    groups.push_back(overrides(configs[static_cast<std::size_t>(group)], configs.front(),
                               std::move(parameters)));
  }
  draft.code.assign("groups", python::list(std::move(groups)));
}

}  // namespace

std::vector<int> used_groups(Scenario const& scenario) {
  std::set<int> groups;
  for (ParameterSpec const& spec : parameter_specs(scenario)) groups.insert(spec.group);
  return {groups.begin(), groups.end()};
}

std::string implementation_of(World const& world) {
  auto const name = option(world.setting, "implementation", "single");
  return name == "fused" ? "fused=True" : name == "foreach" ? "foreach=True" : "foreach=False";
}

void write_optimizer(Draft& draft, std::string const& implementation) {
  Scenario const& scenario = draft.plan.scenario;
  bool const grouped = used_groups(scenario) != std::vector<int>{0};
  if (grouped) write_groups(draft);
  AdamConfig const config = adam_configs(scenario).front();
  bool const adamw = scenario.optimizer.adam.mode == AdamMode::adamw;
  std::vector<std::string> given;
  if (observes_error(draft.plan) || hangs(draft.plan.violation)) {
    given = unusual_settings(config, adamw);
  } else {
    given = settings(config);
    constexpr std::size_t room = 90;
    if (columns(given) > room) given = short_settings(draft, config);
  }
  given.insert(given.begin(), grouped ? "groups" : "model.parameters()");
  given.push_back(implementation);
  draft.code.call(fmt::format("optimizer = torch.optim.{}", adamw ? "AdamW" : "Adam"), given);
}

}  // namespace adamant::scenarios::script
