// What several suites measure over.
#pragma once

#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {

/// The 148 tensors of GPT-2 124M. Throws BadInput where its model file is not found.
inline std::vector<ParameterSpec> parameters_of_gpt2() {
  return parameter_specs(load_scenario_text(
      "adamant: 1\nname: m\nworld: {shard: 1}\nparams: {model: gpt2-124m}\nprogram: [step]\n",
      "bench"));
}

}  // namespace adamant::scenarios
