// What a script calls parameters and where it finds what belongs to them.
#pragma once

#include <string>
#include <vector>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios::script {

/// The parameters of a scenario under names that PyTorch takes for attributes, in units as FSDP
/// gathers them.
class Names {
 public:
  explicit Names(Scenario const& scenario);

  int count() const { return static_cast<int>(names_.size()); }
  int unit_count() const { return units_.empty() ? 0 : units_.back() + 1; }
  int unit(int parameter) const { return units_[static_cast<std::size_t>(parameter)]; }
  /// The attribute of its unit: the last part of the name where no other parameter has the same.
  std::string const& attribute(int parameter) const {
    return names_[static_cast<std::size_t>(parameter)];
  }
  /// `model.weight`, or `model.units[1].weight` where there are several units.
  std::string in_model(int parameter) const;
  /// The same in a state dict: `weight`, `units.1.weight`.
  std::string in_state(int parameter) const;
  /// The parameter that the scenario calls so; -1: none.
  int find(std::string_view name) const;

 private:
  std::vector<std::string> original_;
  std::vector<std::string> names_;
  std::vector<int> units_;
};

}  // namespace adamant::scenarios::script
