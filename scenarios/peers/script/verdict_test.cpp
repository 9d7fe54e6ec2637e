// What scripts of errors, hangs and crashes compare, and what they read of a checkpoint.
#include <gtest/gtest.h>

#include <string>

#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/script.h"
#include "scenarios/peers/script/testing/read.h"

namespace adamant::scenarios {
namespace {

using Words = std::vector<std::string>;

bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

Violation failed(Call call, std::string text = "") {
  return {.law = Law::error_clean,
          .breach = Breach::failed,
          .operation = 9,  // behind the last of these programs
          .subject = std::move(call),
          .text = std::move(text)};
}

Violation not_loaded(Law law, std::string text) {
  return {.law = law,
          .breach = Breach::not_loaded,
          .operation = 9,
          .reason = "damaged_checkpoint",
          .text = std::move(text)};
}

Violation wrong_value(Value expected = Number(1.0F), Value actual = Number(2.0F)) {
  return {.law = Law::checkpoint_atomic,
          .operation = 9,
          .subject = Tensor{.parameter = "p0", .kind = TensorKind::exp_avg},
          .index = 0,
          .expected = std::move(expected),
          .actual = std::move(actual)};
}

constexpr char const* two_ranks =
    "world: {shard: 2}\nparams: [{name: p0, shape: [2]}]\nprogram: [train: 1]\n";

constexpr char const* torn_save =
    "world: {shard: 1}\nparams: [{name: p0, shape: [1]}]\n"
    "faults: [{at: save, nth: 2, after_bytes: 1, then: crash}]\n"
    "program: [train: 1, save: a, train: 1, save: a, load: a]\n";

constexpr char const* torn_then_in_one_process =
    "world: {shard: 1}\nparams: [{name: p0, shape: [1]}]\n"
    "faults: [{at: save, nth: 2, after_bytes: 1, then: crash}]\n"
    "program: [save: b, save: a, load: b, load: {from: b, world: {shard: 2}}]\n";

TEST(ErrorWords, AreTheInnermostTypeAndTheFirstPlainWords) {
  EXPECT_EQ(script::error_words(not_loaded(Law::checkpoint_roundtrip,
                                           "CheckpointException: RuntimeError: "
                                           "Missing key in checkpoint state_dict: optim.x.")),
            (Words{"RuntimeError", "Missing key in"}));
  EXPECT_EQ(
      script::error_words(not_loaded(Law::checkpoint_atomic, "CheckpointException: EOFError")),
      Words{"EOFError"});
  EXPECT_EQ(script::error_words(failed({.verb = "step"}, "TypeError: 'x' is no y")),
            Words{"TypeError"});
  EXPECT_EQ(script::error_words(failed({})), Words{});
}

TEST(ScriptVerdict, OnAnErrorTakesNoOtherErrorForIt) {
  std::string const text =
      write_script(read(two_ranks), failed({.verb = "step"}, "ValueError: bad step"));
  EXPECT_TRUE(
      has(text, "sys.exit(1 if \"ValueError\" in actual and \"bad step\" in actual else 2 if "))
      << text;
}

TEST(ScriptVerdict, OnAnErrorWithoutATypeTakesAny) {
  std::string const text = write_script(read(two_ranks), failed({}));
  EXPECT_TRUE(has(text, "sys.exit(actual != \"no error\")")) << text;
}

TEST(ScriptVerdict, OnADeathTellsASignalFromAnExit) {
  std::string const by_signal =
      write_script(read(two_ranks), failed({.ending = Ending::signal, .status = "11"}));
  EXPECT_TRUE(has(by_signal, "sys.exit(1 if \"terminated with signal\" in actual else 2 if "))
      << by_signal;
  std::string const by_exit =
      write_script(read(two_ranks), failed({.ending = Ending::exit, .status = "1"}));
  EXPECT_TRUE(has(by_exit, "sys.exit(1 if \"terminated with exit code\" in actual else 2 if "))
      << by_exit;
}

TEST(ScriptVerdict, OnAnErrorOfDcpInSeveralRanksSeesThatTheirProcessesEnd) {
  Scenario const scenario =
      read("world: {shard: 2}\nparams: [{name: p0, shape: [2]}]\nprogram: [save: a, load: a]\n");
  std::string const text = write_script(
      scenario,
      not_loaded(Law::checkpoint_roundtrip, "CheckpointException: RuntimeError: Missing key"));
  EXPECT_TRUE(has(text, "sys.exit(1 if \"terminated with exit code\" in actual else 2 if "))
      << text;
}

TEST(ScriptVerdict, OnACrashedSaveAsksHowTheRankDied) {
  std::string const opened = write_script(read(torn_save), wrong_value());
  EXPECT_TRUE(has(opened, "process.join(60)")) << opened;
  EXPECT_TRUE(has(opened, "died = ranks.processes[0].exitcode == 3")) << opened;
  Scenario counted = read(torn_save);
  counted.faults.front().after_bytes = 4;
  std::string const text = write_script(counted, wrong_value());
  EXPECT_TRUE(has(text, "died = ranks.processes[0].exitcode in (0, 3)")) << text;
}

TEST(ScriptVerdict, OfAReadingThatHangsIsTheWholeLoad) {
  std::string const text = write_script(
      read(torn_save), not_loaded(Law::checkpoint_atomic,
                                  "CheckpointException: RuntimeError: Timed out waiting 15000ms"));
  EXPECT_TRUE(has(text, "SECONDS = 20")) << text;
  EXPECT_TRUE(has(text, "ended = [")) << text;
  EXPECT_TRUE(has(text, "sd.set_optimizer_state_dict(model, optimizer")) << text;
}

// The world before the one that is read has a single rank in processes of its own.
TEST(ScriptVerdict, OfAReadingReadsTheTensorThatItLooksAt) {
  Scenario scenario = read(torn_then_in_one_process);
  scenario.faults.push_back({.at = Fault::Where::load, .then = Fault::Then::remove_file, .nth = 2});
  std::string const text = write_script(scenario, wrong_value());
  EXPECT_TRUE(has(text, "actual = tensor[0]")) << text;
  EXPECT_TRUE(has(text, "tensor = torch.full(")) << text;
}

TEST(ScriptReading, OfAWholeCheckpointIsTheWholeLoad) {
  Scenario const scenario = read(
      "world: {shard: 1}\nparams: [{name: p0, shape: [2]}]\n"
      "program: [train: 1, save: a, load: {from: a, world: {shard: 2}}]\n");
  std::string const text = write_script(scenario, wrong_value());
  EXPECT_TRUE(has(text, "sd.set_optimizer_state_dict(model, optimizer")) << text;
}

TEST(ScriptReading, DoesNotTakeAStorageTypeForAValue) {
  Violation violation = wrong_value(Elements{.ranges = {{0, 1}}},
                                    Elements{.ranges = {{0, 1}}, .format = NumberFormat::bf16});
  violation.breach = Breach::other_type;
  std::string const text = write_script(read(torn_save), violation);
  EXPECT_TRUE(has(text, ".dtype)")) << text;
}

TEST(ScriptReading, OfAKeyThatDoesNotFitIsTheWholeLoad) {
  std::string const text = write_script(
      read(torn_save), not_loaded(Law::checkpoint_atomic,
                                  "CheckpointException: AssertionError: req "
                                  "MetadataIndex(fqn='optim.state.p0.step') mismatch sizes"));
  EXPECT_TRUE(has(text, "sd.set_optimizer_state_dict(model, optimizer")) << text;
}

TEST(ScriptNames, AvoidWhatAModuleHasAlready) {
  for (std::string const name : {"to", "training", "while", "zero_grad", "unshard", "a-b", "_x"}) {
    Violation violation = wrong_value();
    violation.law = Law::values_bitwise;
    violation.subject = Tensor{.parameter = name};
    std::string const text = write_script(
        read("world: {shard: 1}\nparams: [{name: " + name + ", shape: [1]}]\nprogram: [step]\n"),
        violation);
    EXPECT_TRUE(has(text, "model.p0.")) << text;
  }
}

}  // namespace
}  // namespace adamant::scenarios
