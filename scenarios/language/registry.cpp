#include "scenarios/language/registry.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace adamant::scenarios {

namespace {

bool is_decimal(std::string_view component) {
  return !component.empty() && std::all_of(component.begin(), component.end(),
                                           [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

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

std::vector<int> places_of(std::vector<std::string> const& names,
                           std::vector<Param> const& params) {
  std::set<std::string_view> const named(names.begin(), names.end());
  std::vector<int> places;
  for (std::size_t i = 0; i < params.size(); ++i)
    if (named.contains(params[i].name)) places.push_back(static_cast<int>(i));
  return places;
}

Registry registry_of(std::vector<Param> const& params) {
  Registry registry;
  std::map<std::string_view, int> numbers;
  for (std::size_t i = 0; i < params.size(); ++i) {
    bool const is_tied = params[i].is_tied();
    int const number = is_tied ? numbers.at(params[i].tied) : registry.parameter_count();
    if (!is_tied) {
      numbers.emplace(params[i].name, number);
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

std::string_view block_of(std::string_view parameter_name) {
  std::size_t begin = 0;
  while (begin <= parameter_name.size()) {
    auto const end = std::min(parameter_name.find('.', begin), parameter_name.size());
    if (is_decimal(parameter_name.substr(begin, end - begin))) return parameter_name.substr(0, end);
    begin = end + 1;
  }
  return {};
}

std::vector<int> assign_units(std::span<std::string const> parameter_names) {
  std::vector<int> units;
  units.reserve(parameter_names.size());
  for (std::size_t i = 0; i < parameter_names.size(); ++i) {
    bool const starts = i == 0 || block_of(parameter_names[i]) != block_of(parameter_names[i - 1]);
    units.push_back(i == 0 ? 0 : units.back() + (starts ? 1 : 0));
  }
  return units;
}

void number_units(std::span<ParameterSpec> parameters) {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (ParameterSpec const& spec : parameters) names.push_back(spec.name);
  auto const units = assign_units(names);
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].unit = units[i];
}

}  // namespace adamant::scenarios
