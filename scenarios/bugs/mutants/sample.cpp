#include "scenarios/bugs/mutants/sample.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace adamant::bugs {

std::vector<std::size_t> draw_sample(std::vector<Stratum> const& mutants, std::size_t wanted) {
  std::map<std::size_t, std::vector<std::size_t>> left;  // by operator
  for (std::size_t i = 0; i < mutants.size(); ++i) left[mutants[i].operator_index].push_back(i);
  std::map<std::size_t, int> of_function;
  std::map<std::size_t, int> of_file;
  auto const rank_of = [&](std::size_t i) {
    return std::tuple(of_function[mutants[i].function], of_file[mutants[i].file], mutants[i].lot);
  };
  std::vector<std::size_t> drawn;
  while (drawn.size() < wanted && !left.empty())
    for (auto one = left.begin(); one != left.end() && drawn.size() < wanted;) {
      auto& candidates = one->second;
      auto const best = std::ranges::min_element(candidates, {}, rank_of);
      ++of_function[mutants[*best].function];
      ++of_file[mutants[*best].file];
      drawn.push_back(*best);
      candidates.erase(best);
      one = candidates.empty() ? left.erase(one) : std::next(one);
    }
  std::ranges::sort(drawn);
  return drawn;
}

}  // namespace adamant::bugs
