#include "scenarios/language/registry.h"

#include <algorithm>

#include "scenarios/language/units.h"

namespace adamant::scenarios {

std::vector<int> Registry::without_gradient(std::span<int const> left_out) const {
  std::vector<int> numbers;
  for (int number = 0; number < parameter_count(); ++number) {
    auto const own = names_of(number);
    bool const all = std::ranges::all_of(
        own, [&](int name) { return std::ranges::binary_search(left_out, name); });
    if (all) numbers.push_back(number);
  }
  return numbers;
}

Registry registry_of(std::vector<Param> const& params) {
  Registry registry;
  for (std::size_t i = 0; i < params.size(); ++i) {
    int number = registry.parameter_count();
    if (params[i].is_tied()) {
      auto const target = std::ranges::find(params, params[i].tied, &Param::name);
      number = registry.parameter_of(static_cast<int>(target - params.begin()));
    } else {
      registry.names.emplace_back();
    }
    registry.parameter.push_back(number);
    registry.names[static_cast<std::size_t>(number)].push_back(static_cast<int>(i));
  }
  return registry;
}

RegisteredOrder order_of(Scenario const& setting) {
  auto const untied =
      std::ranges::count_if(setting.params, [](Param const& param) { return !param.is_tied(); });
  return {.order = setting.order, .count = static_cast<int>(untied)};
}

std::vector<ParameterSpec> registered_specs(Scenario const& setting) {
  std::vector<ParameterSpec> specs = parameter_specs(setting);
  if (setting.order == ParamOrder::listed) return specs;
  std::ranges::reverse(specs);
  number_units(specs);
  return specs;
}

}  // namespace adamant::scenarios
