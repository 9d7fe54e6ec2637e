#include "scenarios/seam/capabilities.h"

#include <gtest/gtest.h>

#include "scenarios/seam/testing/peer_capabilities.h"

namespace adamant::scenarios {
namespace {

TEST(Capabilities, OfEnginesInTheProcessAreFoundByName) {
  for (char const* const name : {"sim", "sim-unchecked", "cuda"}) {
    auto const* const found = capabilities_in_process(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->engine, name);
    EXPECT_FALSE(found->isolated);
  }
  EXPECT_EQ(capabilities_in_process("torch"), nullptr);
  EXPECT_EQ(capabilities_in_process("exec:sim"), nullptr);
}

TEST(Capabilities, OnGpusLackSchedulesAndFaultsAlone) {
  Capabilities gpus = capabilities_of_gpus();
  Capabilities const& simulation = capabilities_of_simulation();
  EXPECT_FALSE(gpus.schedules || gpus.can_crash || gpus.out_of_memory);
  gpus.engine = simulation.engine;
  gpus.schedules = gpus.can_crash = gpus.out_of_memory = true;
  gpus.pair_bytes = simulation.pair_bytes;
  EXPECT_EQ(gpus, simulation);
}

TEST(PrecisionOffer, AcceptsTypesThatItHasTogether) {
  Precision const mixed{.param = ParamType::bf16, .grad = GradType::fp32, .main = MainType::fp32};
  Capabilities const peer = capable_peer();
  EXPECT_TRUE(accepted(peer.precisions, mixed));
  Precision const torn{.param = ParamType::bf16, .grad = GradType::bf16, .main = MainType::none};
  EXPECT_FALSE(accepted(peer.precisions, torn)) << "moments of fp32 stand in another offer";
  EXPECT_FALSE(accepted({}, Precision{}));
}

TEST(EngineOptions, AreAllThereWhateverIsChosen) {
  Capabilities const peer = capable_peer();
  using Options = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(all_options(peer, {}),
            (Options{{"implementation", "single"}, {"async_save", "false"}}));
  EXPECT_EQ(all_options(peer, {.options = {{"async_save", "true"}}}),
            (Options{{"implementation", "single"}, {"async_save", "true"}}));
  EXPECT_EQ(find_option(peer, "format"), nullptr);
}

}  // namespace
}  // namespace adamant::scenarios
