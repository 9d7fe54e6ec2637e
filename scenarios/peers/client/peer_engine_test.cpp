// The engine in NumPy (scenarios/peers/numpy), right and wrong, as any engine outside the process.
#include "scenarios/peers/client/peer_engine.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>
#include <vector>

#include "scenarios/peers/client/process.h"
#include "scenarios/peers/client/testing/processes.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/numpy_engine.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/versions.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""ms;

std::string engine(std::string const& arguments = "") {
  return "exec:exec " + python_program() + " " ADAMANT_SOURCE_DIR "/scenarios/peers/numpy " +
         arguments;
}

class EngineInNumPy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_numpy())
      GTEST_SKIP() << python_program() << " has no NumPy (ADAMANT_PYTHON names another)";
  }

  static RunResult run(Scenario const& scenario, std::string const& arguments = "") {
    RunOptions options;
    options.engine = engine(arguments);
    options.seed = 7;
    return run_scenario(scenario, options);
  }

  /// Three steps, a save between them and its load on another number of ranks.
  static Scenario saving() {
    Scenario scenario = small_scenario();
    scenario.world.shard = 3;
    scenario.program = {operation(Train{.count = 2}), operation(Save{.checkpoint = "a"}),
                        operation(Train{.count = 1}),
                        operation(Load{.from = "a", .world = World{.shard = 2}}),
                        operation(Train{.count = 1})};
    return scenario;
  }
};

std::string laws_of(RunResult const& result) {
  std::string laws;
  for (Violation const& violation : result.violations)
    laws.append(id_of(violation.law)).append(" ");
  return laws + result.reason + message_of(result);
}

TEST_F(EngineInNumPy, SaysItsVersions) {
  std::string const versions = versions_of(engine());
  EXPECT_TRUE(std::regex_match(versions, std::regex("numpy [0-9.]+, python [0-9.]+"))) << versions;
  EXPECT_EQ(versions_of("sim"), "") << "of this program";
}

TEST_F(EngineInNumPy, PassesWhatItIsGiven) {
  EXPECT_EQ(laws_of(run(small_scenario())), "");
  EXPECT_EQ(laws_of(run(saving())), "");
}

std::string anew_requests(std::filesystem::path const& session) {
  std::ifstream file(session);
  std::string verbs;
  for (std::string line; std::getline(file, line);) {
    auto const request = nlohmann::json::parse(line);
    if (request.contains("anew")) verbs += request["request"].get<std::string>() + " ";
  }
  return verbs;
}

TEST_F(EngineInNumPy, IsToldOfANewJobByTheOpenAndTheLoad) {
  Scratch const scratch;
  Scenario scenario = saving();
  scenario.program[3].action = Load{.from = "a", .anew = true};
  RunOptions options;
  auto const requests = [&](char const* session) {
    options.engine = "exec:tee " + (scratch / session).string() + " | " + engine().substr(10);
    EXPECT_EQ(laws_of(run_scenario(scenario, options)), "");
    return anew_requests(scratch / session);
  };
  EXPECT_EQ(requests("anew"), "open load ");
  scenario.program[3].action = Load{.from = "a", .world = World{.shard = 2}};
  EXPECT_EQ(requests("elsewhere"), "");
}

// A run that resumes needs no word for what any engine can: another `open`.
TEST_F(EngineInNumPy, IsToldNothingThatItDoesNotAskFor) {
  Scratch const scratch;
  Scenario scenario = saving();
  scenario.again = {{.resumed_after = 2}};
  RunOptions options;
  options.engine = "exec:tee " + (scratch / "session").string() + " | " + engine().substr(10) +
                   R"( | sed -u 's/"asks": \["anew"\]/"asks": []/')";
  EXPECT_EQ(laws_of(run_scenario(scenario, options)), "");
  EXPECT_EQ(anew_requests(scratch / "session"), "");
  scenario.again.clear();
  scenario.program[3].action = Load{.from = "a", .anew = true};
  EXPECT_EQ(run_scenario(scenario, options).reason, "unsupported.anew");
}

TEST_F(EngineInNumPy, HasTheSameDigestEachTime) {
  auto const digest = run(saving()).digest;
  EXPECT_NE(digest, 0U);
  EXPECT_EQ(run(saving()).digest, digest);
}

TEST_F(EngineInNumPy, IsCaughtWithoutBiasCorrection) {
  RunResult const result = run(small_scenario(), "--bug no_bias_correction");
  ASSERT_EQ(result.outcome, Outcome::violated) << result.message;
  EXPECT_EQ(result.violations.front().law, Law::values_bitwise);
}

TEST_F(EngineInNumPy, IsCaughtTakingAShardForTheWhole) {
  RunResult const result = run(saving(), "--bug shard_as_whole");
  ASSERT_EQ(result.outcome, Outcome::violated) << result.message;
  EXPECT_EQ(result.violations.front().law, Law::checkpoint_roundtrip);
}

// What an overflow adds to may be infinite itself, from the other side or from an overflow before:
// then a shard that is overwritten would not be the sum.
TEST_F(EngineInNumPy, MeetsOverflowsAmongWildGradientsAndOneAfterTheOther) {
  Scenario scenario = small_scenario();
  scenario.params = {{.name = "w", .shape = {3}}};
  scenario.world.shard = 1;
  scenario.microbatches = 4;
  scenario.program = {operation(Overflow{}), operation(Backward{}), operation(Overflow{}),
                      operation(Backward{}), operation(Step{})};
  for (auto const kind : {GradientClass::wild, GradientClass::exact}) {
    scenario.gradients = kind;
    for (std::uint64_t seed = 1; seed < 40; seed += 2) {
      RunOptions options;
      options.engine = engine();
      options.seed = seed;
      EXPECT_EQ(laws_of(run_scenario(scenario, options)), "") << seed;
    }
  }
}

// Under a large scale many a wild gradient is infinite before an overflow comes to it.
TEST_F(EngineInNumPy, MeetsOverflowsAmongGradientsThatTheirScaleMakesInfinite) {
  Scenario scenario = small_scenario();
  scenario.params = {{.name = "w", .shape = {1}}};
  scenario.world.shard = 1;
  scenario.microbatches = 64;
  scenario.gradients = GradientClass::wild;
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = 0x1p120F};
  scenario.program = {operation(Overflow{}), operation(Backward{}), operation(Step{})};
  for (std::uint64_t seed = 1; seed < 40; seed += 2) {
    RunOptions options;
    options.engine = engine();
    options.seed = seed;
    EXPECT_EQ(laws_of(run_scenario(scenario, options)), "") << seed;
  }
}

/// A save, and a load of what was damaged between them.
Scenario loading_after(Fault const& damage) {
  Scenario scenario = small_scenario();
  scenario.program = {operation(Train{.count = 1}), operation(Save{.checkpoint = "a"}),
                      operation(Load{.from = "a"})};
  scenario.faults = {damage};
  return scenario;
}

// Its files are in a format of its own, of which a dump has all.
TEST_F(EngineInNumPy, GoesOnFromWhatAnEarlierRunLeft) {
  Scratch const scratch;
  Scenario scenario = saving();
  scenario.optimizer.clip = 0.5F;
  RunOptions options;
  options.engine = engine();
  options.dump = scratch / "dump";
  EXPECT_EQ(laws_of(run_scenario(scenario, options)), "");
  EXPECT_TRUE(std::filesystem::exists(scratch / "dump" / "a" / "index.json"));
  options.dump.reset();
  options.checkpoints = scratch / "dump";
  scenario.optimizer.clip.reset();
  for (std::int64_t const ranks : {3, 2}) {
    Load const load{.from = "a", .world = World{.shard = ranks}};
    scenario.program = {operation(load), operation(Train{1}), operation(Backward{}),
                        operation(ClipNorm{}), operation(Step{})};
    RunResult const result = run_scenario(scenario, options);
    EXPECT_EQ(laws_of(result), "");
    ASSERT_EQ(result.notes.size(), 1U);
    EXPECT_NE(result.notes.front().find("the engine alone reads"), std::string::npos);
  }
  options.engine = engine("--bug no_bias_correction");
  EXPECT_EQ(run_scenario(scenario, options).outcome, Outcome::violated);
}

TEST_F(EngineInNumPy, SaysThatACheckpointIsDamaged) {
  EXPECT_EQ(run(loading_after(harmless_damage())).reason, "damaged_checkpoint");
}

TEST_F(EngineInNumPy, IsCaughtSilentAboutDamageThatItPromisedToReport) {
  RunResult const result = run(loading_after(harmless_damage()), no_checksums);
  ASSERT_EQ(result.outcome, Outcome::violated) << result.message;
  EXPECT_EQ(result.violations.front().law, Law::checkpoint_integrity);
  EXPECT_EQ(
      result.violations.front().subject,
      Subject(DamagedFiles{{.file = "a/index.json", .how = Fault::Then::flip_byte, .at = 3}}));
}

TEST_F(EngineInNumPy, MayBeSilentAboutHarmlessDamageThatItNeverPromisedToReport) {
  RunResult const result = run(loading_after(harmless_damage()), promises_less);
  EXPECT_EQ(result.outcome, Outcome::pass) << laws_of(result);
  RunResult const harmed = run(loading_after(harmful_damage()), promises_less);
  ASSERT_EQ(harmed.outcome, Outcome::violated) << harmed.message;
  EXPECT_EQ(harmed.violations.front().law, Law::checkpoint_integrity);
}

// ---- types with scales, remainders and recipes --------------------------------------------------

/// Weights shrink, so that amaxes do; two steps, a save, and its load on another number of ranks.
Scenario in_types(Precision const& types, bool loads = true) {
  Scenario scenario = small_scenario();
  scenario.params = {parameter("h.0.weight", {128, 128}), parameter("h.0.bias", {5})};
  scenario.world.shard = 3;
  scenario.microbatches = 3;
  scenario.optimizer.adam.weight_decay = 100;
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = 8};
  scenario.precision = types;
  scenario.program = {operation(Train{.count = 2}), operation(Overflow{}),
                      operation(Train{.count = 2}), operation(Save{.checkpoint = "a"}),
                      operation(Train{.count = 1})};
  if (!loads) return scenario;
  scenario.program.push_back(operation(Load{.from = "a"}));
  scenario.program.push_back(operation(Train{.count = 1}));
  scenario.program.push_back(operation(Load{.from = "a", .world = World{.shard = 2}}));
  scenario.program.push_back(operation(Train{.count = 1}));
  return scenario;
}

constexpr Precision of_recipe(ParamType recipe) {
  return {.param = recipe, .main = MainType::fp32};
}
constexpr Precision beside_bf16(MainType main) {
  return {.param = ParamType::bf16, .main = main};
}
constexpr Precision of_moments(StateType type, StateScale scale = StateScale::global) {
  return {.exp_avg = type, .exp_avg_sq = type, .state_scale = scale};
}

constexpr Precision with_parts[] = {
    of_recipe(ParamType::fp8_delayed),
    of_recipe(ParamType::fp8_current),
    of_recipe(ParamType::fp8_block),
    of_recipe(ParamType::mxfp8),
    of_recipe(ParamType::nvfp4),
    beside_bf16(MainType::fp16),
    beside_bf16(MainType::remainder),
    of_moments(StateType::bf16),
    of_moments(StateType::fp16),
    of_moments(StateType::fp8),
    of_moments(StateType::fp16, StateScale::local),
    of_moments(StateType::fp8, StateScale::local),
};

TEST_F(EngineInNumPy, PassesInTypesThatAreReadWithScales) {
  for (Precision const& types : with_parts)
    EXPECT_EQ(laws_of(run(in_types(types))), "") << &types - with_parts;
}

TEST_F(EngineInNumPy, LoadsAnyOfItsTypesFromAnyOther) {
  for (Precision const& from : with_parts) {
    Scenario scenario = in_types(from, false);
    for (Precision const& to : with_parts)
      scenario.program.push_back(
          operation(Load{.from = "a",
                         .precision = PrecisionOverride{.param = to.param,
                                                        .main = to.main,
                                                        .exp_avg = to.exp_avg,
                                                        .exp_avg_sq = to.exp_avg_sq,
                                                        .state_scale = to.state_scale}}));
    scenario.program.push_back(operation(Train{.count = 1}));
    EXPECT_EQ(laws_of(run(scenario)), "") << &from - with_parts;
  }
}

/// A defect of the engine, the types that it is one of, and the tensor in which it shows.
struct Planted {
  char const* bug;
  Precision types;
  Law law;
  Breach breach;
};

TEST_F(EngineInNumPy, IsCaughtWrongInEachOfThePartsOfItsTypes) {
  constexpr Law bits = Law::values_bitwise;
  constexpr Law roundtrip = Law::checkpoint_roundtrip;
  Planted const planted[] = {
      {"scale_of_own_rows", of_moments(StateType::fp8), bits, Breach::other_scale},
      {"scale_of_own_rows", beside_bf16(MainType::fp16), bits, Breach::other_scale},
      {"states_too_small", of_moments(StateType::fp16), bits, Breach::other_value},
      {"states_too_small", of_moments(StateType::fp8), bits, Breach::other_value},
      {"cast_from_stored", beside_bf16(MainType::fp16), bits, Breach::other_value},
      {"remainder_cut_off", beside_bf16(MainType::remainder), bits, Breach::other_value},
      {"codes_too_small", of_recipe(ParamType::fp8_current), bits, Breach::other_code},
      {"codes_too_small", of_recipe(ParamType::nvfp4), bits, Breach::other_code},
      {"scales_of_before", of_recipe(ParamType::fp8_current), bits, Breach::other_scale},
      {"scales_of_before", of_recipe(ParamType::fp8_block), bits, Breach::other_scale},
      {"scales_of_before", of_recipe(ParamType::mxfp8), bits, Breach::other_scale},
      {"amax_of_before", of_recipe(ParamType::nvfp4), bits, Breach::other_amax},
      {"history_stands", of_recipe(ParamType::fp8_delayed), bits, Breach::other_history},
      {"next_by_newest", of_recipe(ParamType::fp8_delayed), bits, Breach::other_next_scale},
      {"load_quantises", of_recipe(ParamType::fp8_delayed), roundtrip, Breach::other_scale},
      {"load_drops_scale", of_moments(StateType::fp8), roundtrip, Breach::other_scale},
  };
  for (auto const& [bug, types, law, breach] : planted) {
    RunResult const result = run(in_types(types), std::string("--bug ") + bug);
    ASSERT_EQ(result.outcome, Outcome::violated) << bug << result.message;
    EXPECT_EQ(result.violations.front().law, law) << bug;
    EXPECT_EQ(result.violations.front().breach, breach) << bug;
  }
}

// What contradicts itself is no answer that could be judged.
TEST_F(EngineInNumPy, MayNotShowOtherValuesThanReadingGives) {
  try {
    run(in_types(of_moments(StateType::fp8)), "--bug values_before_rounding");
    FAIL() << "expected an error";
  } catch (PeerError const& error) {
    EXPECT_NE(std::string(error.what()).find("/exp_avg` is 0x1."), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("expected raw times scale"), std::string::npos);
  }
}

TEST_F(EngineInNumPy, IsRefusedWhatItDoesNotOffer) {
  Scenario scenario = small_scenario();
  scenario.layout = Layout::flat;
  EXPECT_EQ(run(scenario).reason, "unsupported.layout");
}

template <typename Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(5ms);
  return condition();
}

// What a killed process leaves: no engine, no rank and no file.
TEST_F(EngineInNumPy, GoesWithTheProcessThatDrivesIt) {
  Scratch const scratch;
  auto const room = scratch / "room";
  std::filesystem::create_directories(room);
  pid_t const driver = ::fork();
  ASSERT_GE(driver, 0);
  if (driver == 0) {
    ::setenv("TMPDIR", room.c_str(), 1);
    run(saving());
    std::filesystem::create_directory(scratch / "ready");
    ::pause();
  }
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(scratch / "ready"); }));
  EXPECT_FALSE(std::filesystem::is_empty(room));
  auto const children = children_of(driver);
  EXPECT_EQ(children.size(), 2U) << "the engine's keeper, and who removes its files";
  std::vector<pid_t> engines;
  for (pid_t const child : children)
    std::ranges::copy(children_of(child), std::back_inserter(engines));
  ASSERT_EQ(engines.size(), 1U);
  ::kill(driver, SIGKILL);
  ::waitpid(driver, nullptr, 0);
  EXPECT_TRUE(comes_true([&] { return std::filesystem::is_empty(room); })) << "a file is left";
  for (pid_t const child : children)
    EXPECT_TRUE(comes_true([&] { return !is_running(child); })) << "a process is left";
  // It leads a group of its own, with its ranks in it.
  EXPECT_TRUE(comes_true([&] { return !has_members(engines.front()); })) << "a rank is left";
}

}  // namespace
}  // namespace adamant::scenarios
