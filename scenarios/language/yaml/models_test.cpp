#include "scenarios/language/yaml/decode.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {
namespace {

struct Model {
  char const* name;
  std::size_t tensors;
  std::int64_t elements;
  int units;
};

// Counts as published with the models; units are their layers and what stands before and after
// them.
Model const models[] = {{"gpt2-124m", 148, 124'439'808, 14},
                        {"llama-3.2-1b", 146, 1'235'814'400, 18},
                        {"llama-3-8b", 291, 8'030'261'248, 34},
                        {"mixtral-8x7b", 995, 46'702'792'704, 34}};

TEST(Models, HaveTheirPublishedNumbersOfTensorsAndElements) {
  for (Model const& model : models) {
    Scenario scenario;
    scenario.params = find_model({}, model.name).value();
    auto const specs = parameter_specs(scenario);
    std::int64_t elements = 0;
    for (ParameterSpec const& spec : specs) elements += spec.numel();
    EXPECT_EQ(specs.size(), model.tensors) << model.name;
    EXPECT_EQ(elements, model.elements) << model.name;
    EXPECT_EQ(specs.back().unit + 1, model.units) << model.name;
  }
}

TEST(Models, AreListedByName) {
  EXPECT_EQ(known_models({}), "gpt2-124m, llama-3-8b, llama-3.2-1b, mixtral-8x7b");
  EXPECT_EQ(known_models("/nonexistent"), "none");
  EXPECT_FALSE(find_model({}, "gpt2"));
}

}  // namespace
}  // namespace adamant::scenarios
