// Any candidate, all alike.
#include "sim/world/strategies/strategy.h"

namespace adamant::sim {

namespace {

class Random : public Answers {
 public:
  explicit Random(Prng prng) : prng_(prng) {}
  std::uint32_t outcome(std::uint32_t count) override { return prng_.below(count); }
  std::uint32_t agent(std::span<Candidate* const> agents) override {
    return prng_.below(static_cast<std::uint32_t>(agents.size()));
  }

 private:
  Prng prng_;
};

}  // namespace

std::unique_ptr<Answers> make_random(Prng prng) {
  return std::make_unique<Random>(prng);
}

}  // namespace adamant::sim
