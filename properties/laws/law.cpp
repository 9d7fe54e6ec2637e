#include "properties/laws/law.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <ostream>
#include <string_view>
#include <utility>

#include "scenarios/language/yaml/write.h"

namespace adamant::scenarios {

void showValue(Scenario const& scenario, std::ostream& out) {
  out << '\n' << write_scenario(scenario);
}

}  // namespace adamant::scenarios

namespace adamant::properties {

namespace {

using scenarios::Feature;

// The same cases on every machine and every day, unless somebody asks for others.
constexpr char const* default_parameters = "seed=20260101 max_success=400";
int const defaults_are_set = setenv("RC_PARAMS", default_parameters, 0);

constexpr std::uint64_t search_seed = 99;
constexpr std::uint64_t search_cases = 400;

}  // namespace

void expect_caught(Law const& law, std::string const& bug,
                   scenarios::GenerateOptions const& options) {
  for (std::uint64_t index = 0; index < search_cases; ++index) {
    auto const scenario = scenarios::generate_scenario(search_seed, index, options);
    if (law(scenario, bug) == no_difference) continue;
    EXPECT_EQ(law(scenario, ""), no_difference) << scenarios::write_scenario(scenario);
    return;
  }
  ADD_FAILURE() << "no generated scenario breaks the law with " << bug;
}

void add(scenarios::Scenario& scenario, scenarios::Action action) {
  scenario.program.push_back({.action = std::move(action), .line = {}});
}

void classify(scenarios::Scenario const& scenario) {
  auto const features = scenarios::features_of(scenario);
  for (Feature const corner : {Feature::empty_shard, Feature::ragged_end, Feature::idle_rank,
                               Feature::group, Feature::accumulated_backward}) {
    RC_CLASSIFY(scenarios::has(features, corner), std::string(scenarios::label_of(corner)));
  }
}

scenarios::GenerateOptions one_world() {
  return {.off = scenarios::set_of(Feature::save)};
}

scenarios::GenerateOptions exact_gradients() {
  return {.off = scenarios::set_of(Feature::gradients_normal) |
                 scenarios::set_of(Feature::gradients_wild) |
                 scenarios::set_of(Feature::loss_scale_rounds)};
}

scenarios::GenerateOptions exact_in_any_world() {
  auto options = exact_gradients();
  options.off |= scenarios::set_of(Feature::local_scale);
  return options;
}

scenarios::GenerateOptions uncoupled_parameters() {
  auto options = exact_gradients();
  for (Feature const feature :
       {Feature::clip, Feature::loss_scale_fixed, Feature::loss_scale_dynamic, Feature::overflow})
    options.off |= scenarios::set_of(feature);
  return options;
}

scenarios::GenerateOptions exact_that_can_save() {
  auto options = exact_gradients();
  options.off |= scenarios::set_of(Feature::capturable);
  return options;
}

}  // namespace adamant::properties
