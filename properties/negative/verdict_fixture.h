// A verdict on a world made by hand, for tests that make one thing wrong and expect one law to be
// named.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "properties/negative/handmade_world.h"
#include "scenarios/judge/verdict.h"
#include "scenarios/language/testing/print_law.h"

namespace adamant::properties {

using scenarios::Law;
using Laws = std::set<Law>;
inline Laws const silent = {};

inline scenarios::Primitive const check = {.what = scenarios::Check{}};
inline scenarios::Primitive const step = {.what = scenarios::Step{}};
inline scenarios::Primitive const zero_grad_to_none = {.what = scenarios::ZeroGrad{}};
inline scenarios::Primitive const zero_grad_to_zeros = {.what = scenarios::ZeroGrad{false}};

/// A world and the verdict on it.
class VerdictReports : public testing::Test {
 protected:
  explicit VerdictReports(scenarios::Scenario const& scenario = handmade_scenario())
      : scenario_(scenario),
        program_(scenario_),
        parameters_(scenarios::parameter_specs(scenario_)),
        verdict_(scenario_, program_, parameters_, scenario_.seed.value_or(0)),
        world_(scenario_) {}

  HandmadeRank& rank(std::size_t number) { return world_.ranks[number]; }
  std::vector<float>& values(std::size_t number, TensorKind kind) {
    return rank(number).tensor(kind);
  }

  Laws started() {
    verdict_.started(world_);
    return reported();
  }
  Laws after(scenarios::Primitive const& operation) {
    verdict_.after(operation, world_);
    return reported();
  }
  Laws reported() const {
    Laws laws;
    for (auto const& violation : verdict_.violations()) laws.insert(violation.law);
    return laws;
  }

  scenarios::Scenario scenario_;
  scenarios::Program program_;
  std::vector<ParameterSpec> parameters_;
  scenarios::Verdict verdict_;
  HandmadeWorld world_;
};

}  // namespace adamant::properties
