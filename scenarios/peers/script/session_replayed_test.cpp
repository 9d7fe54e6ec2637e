// Recorded sessions as the reader of a bug report plays them: with the engine that has a defect,
// and with one that has none. Engines in Python are started by ADAMANT_PYTHON or python3.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <utility>

#include "scenarios/language/yaml/load.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/testing/processes.h"
#include "scenarios/peers/script/kinds.h"
#include "scenarios/peers/script/testing/read.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"

namespace adamant::scenarios {
namespace {

constexpr char const* numpy = "scenarios/peers/numpy";
constexpr char const* hostile = "scenarios/peers/client/testing/hostile_engine.py";
constexpr char const* stub = "scenarios/peers/client/testing/stub_engine.py";
constexpr char const* refusing = "scenarios/peers/script/testing/refusing_engine.py";
constexpr char const* unsteady = "scenarios/peers/script/testing/unsteady_engine.py";
constexpr char const* ignoring = "scenarios/program/testing/ignoring_engine.py";
constexpr char const* defective = "scenarios/program/testing/defective_engine.py";

// A session waits as long as its engine may take to say hello.
constexpr PeerBounds bounds{.hello = std::chrono::seconds(20),
                            .rank = std::chrono::seconds(1),
                            .reply = std::chrono::seconds(2)};

std::string command_of(std::string const& program) {
  return fmt::format("{} {}/{}", python_program(), ADAMANT_SOURCE_DIR, program);
}

/// A scenario, a command whose engine shows a defect in it, and one that shows none.
struct SessionCase {
  char const* name;
  std::string defective;
  std::string right;
  char const* text;
  char const* actual;  // of what is printed
  bool needs_numpy = true;
};

std::ostream& operator<<(std::ostream& out, SessionCase const& at) {
  return out << at.name;
}

Scenario scenario_of(SessionCase const& at) {
  Scenario scenario =
      load_scenario_text(std::string("adamant: 1\nname: test\nseed: 3\n") + at.text, "test");
  scenario.engine.name = "exec:" + command_of(at.defective);
  return scenario;
}

struct Recorded {
  std::string session;
  std::string why_not;
};

Recorded record(Scenario const& scenario) {
  try {
    WrittenScript written = script_of_run(scenario);
    EXPECT_EQ(written.kind, ScriptKind::session);
    EXPECT_EQ(written.why_session, "the engine names nothing that makes a script of it");
    return {.session = std::move(written.text), .why_not = ""};
  } catch (NoScript const& reason) {
    return {.session = "", .why_not = reason.what()};
  }
}

struct Played {
  int status = -1;
  std::string output;
  bool left_nothing = false;
};

Played play(std::string const& session, std::string const& command = "") {
  Scratch const scratch;
  std::ofstream(scratch / "x.session.json") << session;
  std::filesystem::create_directory(scratch / "tmp");
  std::string const line =
      fmt::format("TMPDIR={0}tmp {1} {2}/scenarios/peers/replay.py {0}x.session.json {3} 2>&1",
                  (scratch / "").string(), python_program(), ADAMANT_SOURCE_DIR,
                  command.empty() ? "" : "'" + command + "'");
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return {};
  Played ended;
  std::array<char, 4096> part;
  while (std::size_t const count = std::fread(part.data(), 1, part.size(), pipe))
    ended.output.append(part.data(), count);
  int const status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ended.left_nothing = std::filesystem::is_empty(scratch / "tmp");
  return ended;
}

class SessionReplayed : public testing::TestWithParam<SessionCase> {
 protected:
  void SetUp() override {
    if (!python_runs("import sys; assert sys.version_info >= (3, 10)"))
      GTEST_SKIP() << "there is no Python 3.10 in ADAMANT_PYTHON or python3";
    if (GetParam().needs_numpy && !has_numpy()) GTEST_SKIP() << "there is no NumPy";
    set_peer_bounds(bounds);
  }
  void TearDown() override { set_peer_bounds({}); }
};

TEST_P(SessionReplayed, ShowsTheDefectWithTheEngineThatHasIt) {
  Recorded const recorded = record(scenario_of(GetParam()));
  ASSERT_EQ(recorded.why_not, "");
  Played const shown = play(recorded.session);
  EXPECT_EQ(shown.status, 1) << shown.output << recorded.session;
  EXPECT_NE(shown.output.find(GetParam().actual), std::string::npos) << shown.output;
  EXPECT_TRUE(shown.left_nothing);
  Played const right = play(recorded.session, command_of(GetParam().right));
  EXPECT_EQ(right.status, 0) << right.output << recorded.session;
  EXPECT_EQ(right.output.find(GetParam().actual), std::string::npos) << right.output;
  EXPECT_TRUE(right.left_nothing);
  Played const other = play(recorded.session, "exec false");
  EXPECT_EQ(other.status, 2) << "what does not even start is another failure: " << other.output;
}

std::string bug(char const* name) {
  return fmt::format("{} --bug {}", numpy, name);
}

std::string hostile_at(char const* how) {
  return fmt::format("{} {}", hostile, how);
}

INSTANTIATE_TEST_SUITE_P(
    OfA, SessionReplayed,
    testing::Values(
        SessionCase{"Value", bug("no_bias_correction"), numpy,
                    "world: {shard: 2}\nparams: [{name: w, shape: [4, 3]}]\nprogram: [train: 2]\n",
                    "w[0]: actual   0x1.f"},
        SessionCase{"Interval", ignoring, numpy,
                    "engine: {name: torch, options: {order: any}}\nworld: {shard: 2}\n"
                    "params: [{name: w, shape: [4, 3]}]\nprogram: [train: 2]\n",
                    "w[0]: actual   0x1.ff"},
        SessionCase{"StepCounterAfterALoad", bug("stale_step"), numpy,
                    "world: {shard: 1}\nparams: [{name: w, shape: [2]}]\n"
                    "program: [train: 1, save: a, train: 1, load: a]\n",
                    "w/step: actual   2"},
        SessionCase{"StepCounterAfterACrash", bug("stale_step"), numpy,
                    "world: {shard: 2}\nparams: [{name: w, shape: [2]}]\n"
                    "program: [train: 1, save: a, train: 1, save: a, load: a]\n"
                    "faults: [{at: save, nth: 2, rank: 1, after_bytes: 2, then: crash}]\n",
                    "w/step: of the older save: False, of the newer: False"},
        // Each row is of one of the saves.
        SessionCase{"MixAfterACrash", bug("saves_in_place"), numpy,
                    "world: {shard: 2}\nparams: [{name: w, shape: [2]}]\n"
                    "program: [train: 1, save: a, train: 1, save: a, load: a]\n"
                    "faults: [{at: save, nth: 2, rank: 1, after_bytes: 0, then: crash}]\n",
                    "w: of the older save: False, of the newer: False"},
        SessionCase{
            "MomentAfterACrash", bug("load_drops_scale"), numpy,
            "world: {shard: 2}\nparams: [{name: w, shape: [2]}]\n"
            "precision: {exp_avg: fp8}\n"
            "program: [train: 1, save: a, train: 1, save: a, load: {from: a, world: {shard: 1}}]\n"
            "faults: [{at: save, nth: 2, rank: 1, after_bytes: 2, then: crash}]\n",
            "w/exp_avg/scale: of the older save: False, of the newer: False"},
        SessionCase{"Setting", defective, numpy,
                    "world: {shard: 1}\nparams: [{name: w, shape: [2]}]\n"
                    "program: [set: {lr: 0.25}]\n",
                    "lr of group 0: actual   0.5"},
        SessionCase{"FlippedBit", bug("no_checksums"), numpy,
                    "world: {shard: 2}\nparams: [{name: w, shape: [4, 3]}]\n"
                    "program: [save: a, load: a]\n"
                    "faults: [{at: load, file: 0, byte: 38, then: flip_byte}]\n",
                    "load: actual   no failure"},
        SessionCase{"DisagreementOfRanks", bug("scale_of_own_rows"), numpy,
                    "world: {shard: 2}\nparams: [{name: w, shape: [1]}]\n"
                    "precision: {exp_avg: fp8}\nprogram: [train: 1]\n",
                    "rank 1 has 0x1.0000000000000p+0"},
        SessionCase{"OtherWorld", bug("tail_rounds_otherwise"), numpy,
                    "worlds: [2, 1]\nparams: [{name: w, shape: [37]}]\nprogram: [train: 2]\n",
                    "w/exp_avg_sq[32]: actual   0x1.09d4960"},
        SessionCase{"Resumption", bug("loads_change_order"), numpy,
                    "world: {shard: 2}\nparams: [{name: w, shape: [7, 5]}]\n"
                    "program: [train: 1, train: 1]\nagain: [{resumed_after: 1}]\n",
                    "w/exp_avg_sq[3]: actual   0x1.1318ee0"},
        SessionCase{"ValueAmongMany", bug("no_bias_correction"), numpy,
                    "world: {shard: 2}\nparams: [{name: w, shape: [30, 4]}]\nprogram: [train: 1]\n",
                    "w[0]: actual   0x1.f"},
        SessionCase{"ValueAmongThousands", bug("no_bias_correction"), numpy,
                    "world: {shard: 1}\nparams: [{name: w, shape: [2000]}]\nprogram: [train: 1]\n",
                    "w[0]: actual   0x1.ff52ae0"},
        SessionCase{
            "ValueAfterManySteps", bug("scale_of_own_rows"), numpy,
            "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprecision: {exp_avg: fp8}\n"
            "gradients: exact\nprogram: [train: 12]\n",
            "rank 1 has 0x1.0000000000000p+0"},
        SessionCase{"MomentThatWasNotMade", bug("shard_as_whole"), numpy,
                    "world: {shard: 2}\nparams: [{name: w, shape: [4]}]\n"
                    "program: [train: 1, save: a, load: {from: a, world: {shard: 1}}]\n",
                    "w/exp_avg[3]: actual   0x0.0p+0"},
        SessionCase{
            "Code", bug("codes_too_small"), numpy,
            "world: {shard: 2}\nparams: [{name: w, shape: [4, 4]}]\n"
            "precision: {param: fp8_current, main: fp32, grad: bf16}\nprogram: [train: 1]\n",
            "actual   code 0xe6"},
        SessionCase{"FurtherRunThatIsRefused", refusing, numpy,
                    "world: {shard: 1}\nparams: [{name: w, shape: [2]}]\n"
                    "program: [train: 1, train: 1]\nagain: [{resumed_after: 1}]\n",
                    "damaged_checkpoint"},
        SessionCase{"RunThatDiffersWhenItIsRepeated", unsteady, stub,
                    "world: {shard: 2}\nparams: [{name: w, shape: [4]}]\nprogram: [step, step]\n"
                    "expect: {violates: determinism.digest}\n",
                    "rank 0 after open, local/w[0]: actual   ", false},
        SessionCase{"FailureOfARank", hostile_at("one_error step"), stub,
                    "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprogram: [step]\n",
                    "step: actual   RuntimeError: ", false},
        SessionCase{"DeathOfARank", hostile_at("one_died step"), stub,
                    "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprogram: [step]\n",
                    "step: actual   died, signal 11\n", false},
        SessionCase{"RankThatIsLate", hostile_at("one_late step"), stub,
                    "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprogram: [step]\n",
                    "timed_out", false},
        SessionCase{"FailureToShowAState", hostile_at("one_error state"), stub,
                    "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprogram: [step]\n",
                    "RuntimeError", false},
        SessionCase{"SilentEngine", hostile_at("never step"), stub,
                    "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprogram: [step]\n",
                    "actual   none", false},
        SessionCase{"EngineThatEnds", hostile_at("exits step"), stub,
                    "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprogram: [step]\n",
                    "actual   none", false},
        SessionCase{"Nonsense", hostile_at("nonsense step"), stub,
                    "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprogram: [step]\n",
                    "actual   none", false}),
    testing::PrintToStringParamName());

// Names of files have the number of a process in them, so what is printed is never the same.
TEST(SessionOfFiles, ShowsThatTwoRunsWriteOthers) {
  if (!has_numpy()) GTEST_SKIP() << "there is no NumPy";
  Recorded const recorded =
      record(scenario_of({.name = "",
                          .defective = bug("saves_count_processes"),
                          .right = "",
                          .text = "world: {shard: 2}\nparams: [{name: w, shape: [2]}]\n"
                                  "program: [train: 1, save: a, train: 1]\nagain: [{}]\n",
                          .actual = ""}));
  ASSERT_EQ(recorded.why_not, "");
  Played const shown = play(recorded.session);
  EXPECT_EQ(shown.status, 1) << shown.output << recorded.session;
  EXPECT_NE(recorded.session.find("\"second_run\": \"again: {}\""), std::string::npos)
      << recorded.session;
  EXPECT_NE(shown.output.find("files of a: actual   {'rank-0-of-2."), std::string::npos)
      << shown.output;
  Played const right = play(recorded.session, command_of(numpy));
  EXPECT_EQ(right.status, 0) << right.output;
}

/// A fault, and what its damage is called in a session.
struct DamageDone {
  char const* name;
  char const* fault;
  char const* then;
};

std::ostream& operator<<(std::ostream& out, DamageDone const& at) {
  return out << at.name;
}

class SessionWithDamage : public testing::TestWithParam<DamageDone> {
 protected:
  void SetUp() override {
    if (!has_numpy()) GTEST_SKIP() << "there is no NumPy";
  }
};

// The right engine reports it, which a scenario that expects to pass takes for a failure.
TEST_P(SessionWithDamage, DoesItAgain) {
  std::string const text = fmt::format(
      "world: {{shard: 1}}\nparams: [{{name: w, shape: [2]}}]\n"
      "program: [save: a, train: 1, save: a, load: a]\nfaults: [{{at: load, {}}}]\n",
      GetParam().fault);
  Recorded const recorded = record(scenario_of(
      {.name = "", .defective = numpy, .right = "", .text = text.c_str(), .actual = ""}));
  ASSERT_EQ(recorded.why_not, "");
  Played const shown = play(recorded.session);
  EXPECT_EQ(shown.status, 1) << shown.output << recorded.session;
  EXPECT_NE(shown.output.find("damaged_checkpoint"), std::string::npos) << shown.output;
  auto const then = recorded.session.find(fmt::format("{{\"then\":\"{}\"", GetParam().then));
  ASSERT_NE(then, std::string::npos) << recorded.session;
  std::string without = recorded.session;
  without.replace(without.rfind("\"damage\"", then), 8, "\"undone\"");
  Played const whole = play(without);
  EXPECT_EQ(whole.status, 0) << whole.output << without;
}

INSTANTIATE_TEST_SUITE_P(
    By, SessionWithDamage,
    testing::Values(DamageDone{"Flip", "file: 1, byte: 200, then: flip_byte", "flip_byte"},
                    DamageDone{"Truncation", "file: 1, byte: 30, then: truncate", "truncate"},
                    DamageDone{"Removal", "file: 1, then: remove_file", "remove_file"},
                    DamageDone{"StaleFile", "file: 0, then: stale_file", "stale_file"}),
    testing::PrintToStringParamName());

// An engine need not show a moment that was not made yet.
TEST(SessionOfAMoment, CountsOneThatIsNotThereAsZeros) {
  if (!has_numpy()) GTEST_SKIP() << "there is no NumPy";
  Recorded const recorded = record(scenario_of(
      {.name = "",
       .defective = bug("shard_as_whole"),
       .right = "",
       .text = "world: {shard: 2}\nparams: [{name: w, shape: [4]}]\n"
               "program: [train: 1, save: a, train: 1, load: {from: a, world: {shard: 1}}]\n",
       .actual = ""}));
  ASSERT_EQ(recorded.why_not, "");
  std::string const shown = "\"of\":\"local/w/exp_avg\"";
  std::string missing = recorded.session;
  auto const at = missing.find(shown);
  ASSERT_NE(at, std::string::npos) << missing;
  missing.replace(at, shown.size(), "\"of\":\"local/w/nothing\"");
  Played const played = play(missing);
  EXPECT_EQ(played.status, 1) << played.output;
  EXPECT_NE(played.output.find(": actual   0x0.0p+0 = 0.0\n"), std::string::npos) << played.output;
  std::string const allowed = ",\"may_be_missing\":true";
  auto const said = missing.find(allowed);
  ASSERT_NE(said, std::string::npos) << missing;
  EXPECT_EQ(play(missing.erase(said, allowed.size())).status, 2);
}

// Each has an engine that fails at the same request, and in another way.
TEST(SessionOfAFailure, IsNoneOfAnother) {
  if (!python_runs("import sys; assert sys.version_info >= (3, 10)"))
    GTEST_SKIP() << "there is no Python 3.10 in ADAMANT_PYTHON or python3";
  set_peer_bounds(bounds);
  for (auto const& [wrong, other] : {std::pair("one_error step", "one_died step"),
                                     std::pair("one_died step", "one_error step")}) {
    Recorded const recorded = record(scenario_of(
        {.name = "",
         .defective = hostile_at(wrong),
         .right = "",
         .text = "world: {shard: 2}\nparams: [{name: w, shape: [3]}]\nprogram: [step]\n",
         .actual = ""}));
    ASSERT_EQ(recorded.why_not, "");
    Played const played = play(recorded.session, command_of(hostile_at(other)));
    EXPECT_EQ(played.status, 2) << played.output << recorded.session;
  }
  set_peer_bounds({});
}

TEST(SessionOfADeafEngine, LeavesNoProcess) {
  if (!python_runs("import sys; assert sys.version_info >= (3, 10)"))
    GTEST_SKIP() << "there is no Python 3.10 in ADAMANT_PYTHON or python3";
  auto const file =
      std::filesystem::temp_directory_path() / fmt::format("adamant-deaf-{}", ::getpid());
  setenv("DEAF", file.c_str(), 1);
  set_peer_bounds(bounds);
  Recorded const recorded =
      record(scenario_of({.name = "",
                          .defective = hostile_at("deaf step"),
                          .right = "",
                          .text = "world: {shard: 1}\nparams: [{name: w, shape: "
                                  "[2]}]\nprogram: [step]\n",
                          .actual = ""}));
  set_peer_bounds({});
  ASSERT_EQ(recorded.why_not, "");
  std::filesystem::remove(file);  // of the run that was recorded
  EXPECT_EQ(play(recorded.session).status, 1) << recorded.session;
  unsetenv("DEAF");
  std::ifstream deaf(file);
  int count = 0;
  for (pid_t id = 0; deaf >> id; ++count) EXPECT_FALSE(is_running(id)) << id;
  EXPECT_EQ(count, 2);
  std::filesystem::remove(file);
}

TEST(SessionReasons, AreThatItDoesNotFailOnceMore) {
  if (!has_numpy()) GTEST_SKIP() << "there is no NumPy";
  Scenario scenario = scenario_of(
      {.name = "",
       .defective = bug("no_bias_correction"),
       .right = "",
       .text = "world: {shard: 1}\nparams: [{name: w, shape: [2]}]\nprogram: [train: 1]\n",
       .actual = ""});
  RunResult const result = run_scenario(scenario);
  ASSERT_FALSE(result.violations.empty());
  scenario.engine.name = "exec:" + command_of(numpy);
  try {
    write_any_script(scenario, result, &result.violations.front());
    ADD_FAILURE() << "the engine has no defect now";
  } catch (NoScript const& reason) {
    EXPECT_STREQ(reason.what(), "the scenario did not fail in this way once more");
  }
}

}  // namespace
}  // namespace adamant::scenarios
