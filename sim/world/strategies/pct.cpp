// Random priorities with a few change points, so that a bug which needs d orderings to come
// together is met with a known probability. Source: Burckhardt et al. 2010.
#include <algorithm>
#include <vector>

#include "sim/world/strategies/strategy.h"

namespace adamant::sim {

namespace {

class Pct : public Answers {
 public:
  Pct(Prng prng, int depth) : prng_(prng) {
    // The length of the run is not known before it; a scale drawn for each run covers short and
    // long ones alike.
    std::uint32_t const scale = 1U << (4 + prng_.below(9));
    for (int i = 1; i < depth; ++i) change_points_.push_back(prng_.below(scale));
  }

  std::uint32_t outcome(std::uint32_t count) override { return prng_.below(count); }

  std::uint32_t agent(std::span<Candidate* const> agents) override {
    std::uint32_t const best = most_urgent(agents);
    // A change point takes the agent that would go on now and puts it behind all others.
    auto const due = std::find(change_points_.begin(), change_points_.end(), step_++);
    if (due == change_points_.end()) return best;
    agents[best]->priority = --lowest_;
    change_points_.erase(due);
    return agent(agents);
  }

  void yielded(Candidate& agent) override { agent = {.priority = --lowest_, .has_priority = true}; }

 private:
  std::uint32_t most_urgent(std::span<Candidate* const> agents) {
    std::uint32_t best = 0;
    for (std::uint32_t i = 0; i < agents.size(); ++i) {
      if (!agents[i]->has_priority) {
        *agents[i] = {.priority = static_cast<std::int64_t>(prng_.next() >> 2) + 1,
                      .has_priority = true};
      }
      if (agents[i]->priority > agents[best]->priority) best = i;
    }
    return best;
  }

  Prng prng_;
  std::vector<std::uint64_t> change_points_;
  std::uint64_t step_ = 0;
  // Priorities above 0 are drawn, those below are handed out at change points, lower each time.
  std::int64_t lowest_ = 0;
};

}  // namespace

std::unique_ptr<Answers> make_pct(Prng prng, int depth) {
  return std::make_unique<Pct>(prng, depth);
}

}  // namespace adamant::sim
