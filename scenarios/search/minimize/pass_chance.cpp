// Seeds and schedules. The default schedule comes first; a recorded one gets shorter and closer to
// it, since after its end the default goes on.
#include <algorithm>
#include <cstddef>

#include "scenarios/search/minimize/passes.h"

namespace adamant::scenarios::passes_of {

namespace {

using Choices = std::vector<std::uint32_t>;

bool all_zero(Choices const& choices, std::size_t begin, std::size_t end) {
  return std::all_of(choices.begin() + static_cast<std::ptrdiff_t>(begin),
                     choices.begin() + static_cast<std::ptrdiff_t>(end),
                     [](std::uint32_t choice) { return choice == 0; });
}

void shorten(Choices const& choices, Candidates& candidates) {
  std::size_t const size = choices.size();
  std::size_t used = size;
  while (used > 0 && choices[used - 1] == 0) --used;
  for (std::size_t length : {used / 2, used - used / 4, used - used / 8, used - 1, used})
    if (length < size) candidates.offer([&](Scenario& s) { s.schedule.choices->resize(length); });
  for (std::size_t length = size / 2; length >= 1; length /= 2) {
    for (std::size_t begin = 0; begin < size; begin += length) {
      std::size_t const end = std::min(begin + length, size);
      if (all_zero(choices, begin, end)) continue;
      candidates.offer([&](Scenario& s) {
        std::fill(s.schedule.choices->begin() + static_cast<std::ptrdiff_t>(begin),
                  s.schedule.choices->begin() + static_cast<std::ptrdiff_t>(end), 0U);
      });
    }
  }
  for (std::size_t i = 0; i < size; ++i)
    if (choices[i] > 1) candidates.offer([&](Scenario& s) { (*s.schedule.choices)[i] = 1; });
}

}  // namespace

void simplify_schedule(Scenario const& scenario, Candidates& candidates) {
  candidates.offer([](Scenario& s) { s.schedule = {}; });
  if (scenario.schedule.choices) return shorten(*scenario.schedule.choices, candidates);
  for (std::uint64_t seed = 0; seed < small_seeds; ++seed) {
    candidates.offer(
        [&](Scenario& s) { s.schedule = {.strategy = Schedule::Strategy::random, .seed = seed}; });
  }
}

void smaller_seed(Scenario const&, Candidates& candidates) {
  for (std::uint64_t seed = 0; seed < small_seeds; ++seed)
    candidates.offer([&](Scenario& s) { s.seed = seed; });
}

}  // namespace adamant::scenarios::passes_of
