#include "scenarios/bugs/mutants/sample.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace adamant::bugs {

namespace {

class Draw {
 public:
  explicit Draw(std::vector<Stratum> const& mutants) : mutants_(mutants) {
    for (std::size_t i = 0; i < mutants.size(); ++i) left_[mutants[i].operator_index].push_back(i);
  }

  std::vector<std::size_t> draw(std::size_t wanted) {
    while (drawn_.size() < wanted && !left_.empty()) {
      for (auto one = left_.begin(); one != left_.end() && drawn_.size() < wanted;) {
        take_best(one->second);
        one = one->second.empty() ? left_.erase(one) : std::next(one);
      }
    }
    std::ranges::sort(drawn_);
    return drawn_;
  }

 private:
  void take_best(std::vector<std::size_t>& candidates) {
    auto const best = std::ranges::min_element(candidates, {},
                                               [&](std::size_t i) { return rank_of(mutants_[i]); });
    Stratum const& taken = mutants_[*best];
    ++of_function_[taken.function];
    ++of_file_[taken.file];
    drawn_.push_back(*best);
    candidates.erase(best);
  }

  std::tuple<int, int, std::uint64_t> rank_of(Stratum const& mutant) {
    return {of_function_[mutant.function], of_file_[mutant.file], mutant.lot};
  }

  std::vector<Stratum> const& mutants_;
  std::map<std::size_t, std::vector<std::size_t>> left_;  // by operator
  std::map<std::size_t, int> of_function_;
  std::map<std::size_t, int> of_file_;
  std::vector<std::size_t> drawn_;
};

}  // namespace

std::vector<std::size_t> draw_sample(std::vector<Stratum> const& mutants, std::size_t wanted) {
  return Draw(mutants).draw(wanted);
}

}  // namespace adamant::bugs
