#include "scenarios/bugs/catalogue.h"

#include <algorithm>

namespace adamant::bugs {

std::vector<std::string_view> ids() {
  std::vector<std::string_view> result;
  for (Bug const& bug : catalogue()) result.push_back(bug.id);
  return result;
}

bool is_of_mutants() {
  return !catalogue().empty() && catalogue().front().law == "any";
}

Bug const* find(std::string_view id) {
  auto const all = catalogue();
  auto const found = std::ranges::lower_bound(all, id, {}, &Bug::id);
  return found != all.end() && found->id == id ? &*found : nullptr;
}

}  // namespace adamant::bugs
