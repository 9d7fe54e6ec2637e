// The oldest candidate, always.
#include "sim/world/strategies/strategy.h"

namespace adamant::sim {

namespace {

class Fifo : public Answers {
 public:
  std::uint32_t outcome(std::uint32_t /*count*/) override { return 0; }
  std::uint32_t agent(std::span<Candidate* const> /*agents*/) override { return 0; }
};

}  // namespace

std::unique_ptr<Answers> make_fifo() {
  return std::make_unique<Fifo>();
}

}  // namespace adamant::sim
