#include "scenarios/script/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "scenarios/model/units.h"

namespace adamant::scenarios::script {

namespace {

/// Words that Python keeps for itself, and attributes that a module has.
constexpr std::array<std::string_view, 17> taken = {
    "in",  "is",   "as",   "if",   "or",    "and",   "not",   "for", "def",
    "del", "from", "with", "half", "units", "train", "float", "type"};

bool is_attribute(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) return false;
  return name.find_first_of(".-") == std::string_view::npos;
}

std::string last_part(std::string const& name) {
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

Names::Names(Scenario const& scenario) {
  for (Param const& param : scenario.params) {
    original_.push_back(param.name);
    names_.push_back(last_part(param.name));
  }
  units_ = assign_units(original_);
  std::set<std::string> const distinct(names_.begin(), names_.end());
  if (distinct.size() == names_.size() && std::all_of(names_.begin(), names_.end(), is_attribute))
    return;
  for (std::size_t i = 0; i < names_.size(); ++i) names_[i] = fmt::format("p{}", i);
}

std::string Names::in_model(int parameter) const {
  if (unit_count() == 1) return "model." + attribute(parameter);
  return fmt::format("model.units[{}].{}", unit(parameter), attribute(parameter));
}

std::string Names::in_state(int parameter) const {
  if (unit_count() == 1) return attribute(parameter);
  return fmt::format("units.{}.{}", unit(parameter), attribute(parameter));
}

int Names::find(std::string_view name) const {
  auto const found = std::find(original_.begin(), original_.end(), name);
  return found == original_.end() ? -1 : static_cast<int>(found - original_.begin());
}

}  // namespace adamant::scenarios::script
