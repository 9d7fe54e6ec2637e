#include "sim/world/strategies/strategy.h"

#include "sim/world/assert.h"

namespace adamant::sim {

std::unique_ptr<Answers> make_answers(ScheduleOptions const& schedule) {
  Prng const prng(mix64(schedule.seed ^ 0x5C4ED01EULL));
  switch (schedule.strategy) {
    case Strategy::fifo:
      return make_fifo();
    case Strategy::random:
      return make_random(prng);
    case Strategy::pct:
      return make_pct(prng, schedule.depth);
  }
  ADAMANT_SIM_ASSERT(false);
  return nullptr;
}

}  // namespace adamant::sim
