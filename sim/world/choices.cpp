#include "sim/world/choices.h"

#include "sim/world/assert.h"
#include "sim/world/prng.h"

namespace adamant::sim {

void Choices::reset(ScheduleOptions const& schedule) {
  answers_ = make_answers(schedule);
  replay_.clear();
  if (schedule.choices) replay_ = *schedule.choices;
  position_ = 0;
  record_.clear();
  forgotten_ = false;
  forgotten_digest_ = 0;
  steps_ = 0;
  marks_.reset();
}

std::uint32_t Choices::note(std::uint32_t answer) {
  if (record_.size() == kept_max && replay_.empty()) forget();
  if (forgotten_)
    forgotten_digest_ = mix64(forgotten_digest_ ^ answer);
  else
    record_.push_back(answer);
  return answer;
}

void Choices::forget() {
  forgotten_ = true;
  for (std::uint32_t const answer : record_) forgotten_digest_ = mix64(forgotten_digest_ ^ answer);
  record_ = {};
}

std::uint32_t Choices::pick(std::uint32_t count) {
  ADAMANT_SIM_ASSERT(count >= 1);
  if (count == 1) return 0;
  return note(replaying() ? replayed(count) : answers_->outcome(count));
}

std::uint32_t Choices::pick_agent(std::span<Candidate* const> agents) {
  ADAMANT_SIM_ASSERT(!agents.empty());
  auto const count = static_cast<std::uint32_t>(agents.size());
  if (count == 1) return 0;
  ++steps_;
  return note(replaying() ? replayed(count) : answers_->agent(agents));
}

}  // namespace adamant::sim
