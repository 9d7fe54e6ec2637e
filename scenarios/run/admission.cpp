#include "scenarios/run/admission.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "scenarios/model/units.h"

namespace adamant::scenarios {

namespace {

// Sums of exact gradients stay exact for so many (gradients/values.h); bounds of others for fewer
// (oracle/reduce/sum_bound.h).
constexpr std::int64_t exact_microbatches_max = 1 << 24;
constexpr std::int64_t other_microbatches_max = 1 << 22;

constexpr double element_bytes = 4;
constexpr double bytes_per_rank = 64 << 10;  // a fiber's stack and an engine without tensors
// The race checker's clocks, for each pair of ranks: measured 207 at 1,024 ranks.
constexpr double clock_bytes_per_pair = 256;

double numel_of(Param const& param) {
  double numel = 1;
  for (std::int64_t const extent : param.shape) numel *= static_cast<double>(extent);
  return numel;
}

/// Elements of the largest unit.
double largest_unit(Scenario const& scenario) {
  std::vector<std::string> names;
  for (Param const& param : scenario.params) names.push_back(param.name);
  auto const units = assign_units(names);
  std::vector<double> numels(units.size() + 1);
  for (std::size_t p = 0; p < units.size(); ++p)
    numels[static_cast<std::size_t>(units[p])] += numel_of(scenario.params[p]);
  return *std::max_element(numels.begin(), numels.end());
}

double bytes_of_this_machine() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GiB", bytes / (1 << 30));
  return text;
}

std::optional<Refusal> refuse_microbatches(Scenario const& scenario) {
  std::int64_t const max =
      scenario.gradients == GradientClass::exact ? exact_microbatches_max : other_microbatches_max;
  if (scenario.microbatch_count() <= max) return std::nullopt;
  return Refusal{.id = "unsupported.microbatches",
                 .message = std::to_string(scenario.microbatch_count()) +
                            " microbatches are asked for; supported: up to " + std::to_string(max),
                 .line = scenario.places[Place::microbatches].value};
}

std::optional<Refusal> refuse_size(Scenario const& scenario) {
  double const needed = bytes_needed(scenario);
  double const there = bytes_of_this_machine();
  if (needed <= there) return std::nullopt;
  return Refusal{.id = "out_of_memory",
                 .message = "the run needs about " + gibibytes(needed) + ", this machine has " +
                            gibibytes(there),
                 .line = scenario.places[Place::world].value};
}

}  // namespace

// The oracle keeps value, gradient and two moments, and the mean of one parameter; ranks keep the
// same four as shards, padded by up to a row each, and while a unit is computed the whole of it
// three times over (its parameters, its gradients, the parameters of the next).
double bytes_needed(Scenario const& scenario) {
  auto const ranks = static_cast<double>(scenario.world.rank_count());
  double total = 0;
  double padding = 0;
  double largest = 0;
  for (Param const& param : scenario.params) {
    double const numel = numel_of(param);
    total += numel;
    largest = std::max(largest, numel);
    auto const rows = param.shape.empty() ? 1.0 : static_cast<double>(param.shape.front());
    if (rows > 0) padding += ranks * (numel / rows);
  }
  double const oracle = element_bytes * (4 * total + largest);
  double const shards = element_bytes * 4 * (total + padding);
  double const units = element_bytes * 3 * ranks * largest_unit(scenario);
  double const clocks = scenario.engine.name == "sim" ? ranks * ranks * clock_bytes_per_pair : 0;
  return oracle + shards + units + clocks + ranks * bytes_per_rank;
}

std::optional<Refusal> refuse_to_run(Scenario const& scenario) {
  if (auto refusal = refuse(scenario)) return refusal;
  if (auto refusal = refuse_microbatches(scenario)) return refusal;
  return refuse_size(scenario);
}

}  // namespace adamant::scenarios
