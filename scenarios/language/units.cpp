#include "scenarios/language/units.h"

#include <algorithm>

namespace adamant::scenarios {

namespace {

bool is_decimal(std::string_view component) {
  return !component.empty() && std::all_of(component.begin(), component.end(),
                                           [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

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
