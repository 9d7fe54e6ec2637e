#include "scenarios/judge/saved_manifest.h"

#include <fmt/format.h>

#include <cstdint>

namespace adamant::scenarios {

namespace {

using Mistake = std::optional<std::string>;

Mistake fault_of_count(std::string_view what, std::int64_t found, std::int64_t expected) {
  if (found == expected) return std::nullopt;
  return fmt::format("the manifest has {} for the {}, expected {}", found, what, expected);
}

Mistake fault_of_parameter(SavedFiles const& saved, Reference const& reference, int parameter) {
  ParameterSpec const& spec = reference.model().spec(parameter);
  auto const counts = reference.model().counts(parameter);
  std::string const& group = reference.group_names().at(static_cast<std::size_t>(spec.group));
  if (saved.group_of.at(spec.name) != group)
    return fmt::format("the manifest has {} in the group `{}`, expected `{}`", spec.name,
                       saved.group_of.at(spec.name), group);
  auto const cut = saved.cut.find(spec.name);
  if ((cut == saved.cut.end() ? std::vector<std::string>() : cut->second) != spec.parts)
    return fmt::format("the manifest has other parts of {}", spec.name);
  if (auto fault = fault_of_count(fmt::format("step of the group that has {}", spec.name),
                                  saved.group_steps.at(spec.name), counts.of_group))
    return fault;
  return fault_of_count("steps of " + spec.name, saved.steps.at(spec.name), counts.of_parameter);
}

}  // namespace

std::optional<std::string> fault_of_manifest(SavedFiles const& saved, Reference const& reference) {
  auto const& model = reference.model();
  for (int g = 0; g < model.group_count(); ++g) {
    std::string const& name = reference.group_names().at(static_cast<std::size_t>(g));
    auto const group = saved.groups.find(name);
    if (group == saved.groups.end() || group->second != model.group(g))
      return fmt::format("the manifest has other settings of the group `{}`", name);
  }
  for (int p = 0; p < model.parameter_count(); ++p)
    if (auto fault = fault_of_parameter(saved, reference, p)) return fault;
  if (saved.max_norm != model.scaling().max_norm) return "the manifest has another norm";
  if (saved.scaler != model.scaler()) return "the manifest has another loss scale";
  return std::nullopt;
}

}  // namespace adamant::scenarios
