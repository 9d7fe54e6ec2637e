// Random priorities with a few change points, so that a bug which needs d orderings to come
// together is met with a known probability. Source: Burckhardt et al. 2010.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/sim.h"
#include "sim/world/strategies/strategy.h"

namespace adamant::sim {

namespace {

// The length of the run is not known before it; a scale drawn for each run covers short and long
// ones alike. Change points are drawn below it.
constexpr std::uint32_t scales = 9;
constexpr std::uint32_t scale_of(std::uint32_t drawn) {
  return 1U << (4 + drawn);
}

class Pct : public Answers {
 public:
  Pct(Prng prng, int depth) : prng_(prng) {
    std::uint32_t const scale = scale_of(prng_.below(scales));
    for (int i = 1; i < depth; ++i) {
      std::uint64_t const step = prng_.below(scale);
      change_points_.push_back({.step = step, .priority = --lowest_});
    }
  }

  std::uint32_t outcome(std::uint32_t count) override { return prng_.below(count); }

  std::uint32_t agent(std::span<Candidate* const> agents) override {
    std::uint32_t const best = most_urgent(agents);
    // A change point takes the agent that would go on now and puts it behind those that no change
    // point has met. Which of two agents that were met goes first was drawn, too: the later one
    // may.
    std::uint64_t const now = step_++;
    auto const due = std::find_if(change_points_.begin(), change_points_.end(),
                                  [&](ChangePoint const& point) { return point.step == now; });
    if (due == change_points_.end()) return best;
    agents[best]->priority = due->priority;
    change_points_.erase(due);
    return agent(agents);
  }

  void yielded(Candidate& agent) override { agent = {.priority = --lowest_, .has_priority = true}; }

 private:
  struct ChangePoint {
    std::uint64_t step = 0;
    std::int64_t priority = 0;
  };

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
  std::vector<ChangePoint> change_points_;
  std::uint64_t step_ = 0;
  // Priorities above 0 are drawn, those below belong to change points, then to who asked in vain.
  std::int64_t lowest_ = 0;
};

}  // namespace

double pct_chance(int depth, std::uint32_t agents, std::uint64_t steps) {
  if (agents == 0) return 0;
  if (depth <= 1) return 1.0 / agents;  // there is no change point to place
  // Each change point is a step of its own, at which the agent is chosen again.
  std::uint64_t const length = steps + static_cast<std::uint64_t>(depth) - 1;
  double sum = 0;
  for (std::uint32_t drawn = 0; drawn < scales; ++drawn)
    if (scale_of(drawn) >= length) sum += std::pow(scale_of(drawn), 1 - depth);
  return sum / (scales * agents);
}

std::unique_ptr<Answers> make_pct(Prng prng, int depth) {
  return std::make_unique<Pct>(prng, depth);
}

}  // namespace adamant::sim
