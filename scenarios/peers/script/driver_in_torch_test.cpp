// Scripts as the reader of a bug report runs them: with the class that has a defect and with the
// same class without it, and of PyTorch's own defects in plain PyTorch. The interpreter is
// ADAMANT_PYTHON or python3; without PyTorch and adamant_torch in it the tests are skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>

#include "scenarios/language/yaml/load.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/peers/script/kinds.h"
#include "scenarios/peers/script/testing/read.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"

namespace adamant::scenarios {
namespace {

constexpr std::ptrdiff_t lines_max = 120;  // that people read
constexpr char const* torch_folder = ADAMANT_SOURCE_DIR "/scenarios/peers/torch";

struct Driven {
  int status = -1;
  std::string output;
};

void put(std::string& text, std::string const& what, std::string const& by) {
  auto const at = text.find(what);
  ASSERT_NE(at, std::string::npos) << what << " is not in\n" << text;
  text.replace(at, what.size(), by);
}

std::string text_of_file(std::filesystem::path const& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class DriverInTorch : public testing::Test {
 protected:
  void SetUp() override {
    if (!python_runs("import torch, adamant_torch.driving"))
      GTEST_SKIP() << "no PyTorch with adamant_torch; set ADAMANT_PYTHON to an interpreter with it";
    using std::chrono_literals::operator""s;
    set_peer_bounds({.hello = 120s, .rank = 60s, .reply = 90s});
  }
  void TearDown() override { set_peer_bounds({}); }

  /// Runs a script, which leaves nothing but PyTorch's own cache among temporary files.
  Driven drive(WrittenScript const& written, char const* arguments = "") const {
    std::ofstream(folder_ / "x.py") << written.text;
    if (written.numbers) std::ofstream(folder_ / "x.numbers.pt") << *written.numbers;
    std::filesystem::create_directory(folder_ / "tmp");
    std::string const line = fmt::format("TMPDIR={0}tmp {1} {2} {0}x.py 2>&1",
                                         (folder_ / "").string(), python_program(), arguments);
    std::FILE* const pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) return {};
    Driven ended;
    std::array<char, 4096> part;
    while (std::size_t const count = std::fread(part.data(), 1, part.size(), pipe))
      ended.output.append(part.data(), count);
    int const status = pclose(pipe);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    for (auto const& entry : std::filesystem::directory_iterator(folder_ / "tmp"))
      EXPECT_TRUE(entry.path().filename().string().starts_with("torch")) << entry.path();
    return ended;
  }

  Scratch folder_;
};

// ---- a user's subclass ----

/// The example's optimizer, in a folder of the test's own.
class ExampleInTorch : public DriverInTorch {
 protected:
  void write_example(std::string const& what, std::string const& by) {
    std::string text = text_of_file(fmt::format("{}/examples/sharded_adam.py", torch_folder));
    put(text, what, by);
    std::ofstream(folder_ / "sharded_adam.py") << text;
  }

  WrittenScript script_of(std::string const& text) const {
    Scenario scenario = load_scenario_text("adamant: 1\nname: test\nseed: 3\n" + text, "test");
    scenario.engine.name =
        fmt::format("exec:cd {} && {} -m adamant_torch --engine {}", (folder_ / "").string(),
                    python_program(), "sharded_adam:MyEngine");
    return script_of_run(scenario);
  }
};

TEST_F(ExampleInTorch, HasAScriptThatImportsIt) {
  std::string const right = "v / (1 - beta2**t)";
  write_example(right, "v");
  WrittenScript const written = script_of(
      "world: {shard: 2}\nparams: [{name: w, shape: [3, 2]}, {name: b, shape: [2], group: g}]\n"
      "groups: {g: {weight_decay: 0}}\noptimizer: {step_counter: parameter, clip: 1}\n"
      "program: [train: 3]\n");
  EXPECT_EQ(written.kind, ScriptKind::rendered);
  EXPECT_LE(std::count(written.text.begin(), written.text.end(), '\n'), lines_max) << written.text;
  EXPECT_NE(written.text.find("from sharded_adam import MyEngine\n"), std::string::npos);
  Driven const shown = drive(written);
  EXPECT_EQ(shown.status, 1) << shown.output << written.text;
  EXPECT_NE(shown.output.find(": actual   0x1."), std::string::npos) << shown.output;

  write_example(right, right);
  Driven const whole = drive(written);
  EXPECT_EQ(whole.status, 0) << whole.output << written.text;
  EXPECT_NE(whole.output.find(": actual   0x1."), std::string::npos) << whole.output;

  write_example("state[\"step\"] += 1", "raise KeyError(\"another\")");
  Driven const other = drive(written);
  EXPECT_EQ(other.status, 2) << other.output << written.text;
  std::filesystem::remove(folder_ / "sharded_adam.py");
  EXPECT_EQ(drive(written).status, 2) << "nothing to import is another failure";
  Driven const bare = drive(written, "-S");  // without `site` nothing is installed
  EXPECT_EQ(bare.status, 2) << bare.output;
  EXPECT_NE(bare.output.find("ModuleNotFoundError: No module named '"), std::string::npos)
      << bare.output;
}

TEST_F(ExampleInTorch, HasALoopWhereIterationsAreAlike) {
  write_example("v / (1 - beta2**t)", "v / (1 - beta2 ** min(t, 2))");
  WrittenScript const written = script_of(
      "world: {shard: 1}\nparams: [{name: w, shape: [2]}]\n"
      "optimizer: {step_counter: parameter}\nprogram: [train: 3]\n");
  EXPECT_NE(written.text.find("    for gradients in (GRADIENTS, GRADIENTS_2):\n"
                              "        driver.backward(gradients)\n        driver.step()\n"),
            std::string::npos)
      << written.text;
  Driven const shown = drive(written);
  EXPECT_EQ(shown.status, 1) << shown.output << written.text;
}

TEST_F(ExampleInTorch, HasAScriptOfAFailure) {
  std::string const right = "state[\"step\"] += 1";
  write_example(right, "raise KeyError(\"paper is out\")");
  WrittenScript const written = script_of(
      "world: {shard: 2}\nparams: [{name: w, shape: [2]}]\n"
      "optimizer: {step_counter: parameter}\nprogram: [train: 1]\n");
  EXPECT_EQ(written.kind, ScriptKind::rendered);
  Driven const shown = drive(written);
  EXPECT_EQ(shown.status, 1) << shown.output << written.text;
  EXPECT_NE(shown.output.find("step: actual   KeyError: 'paper is out', at /"), std::string::npos)
      << shown.output;
  write_example(right, "raise ValueError(\"another\")");
  EXPECT_EQ(drive(written).status, 2);
  write_example(right, right);
  EXPECT_EQ(drive(written).status, 0);
}

// A rank that ends by itself is no end of the script.
TEST_F(ExampleInTorch, HasAScriptOfADeath) {
  std::string const right = "state[\"step\"] += 1";
  write_example(right, "__import__(\"os\").kill(__import__(\"os\").getpid(), 11)");
  WrittenScript const written = script_of(
      "world: {shard: 2}\nparams: [{name: w, shape: [2]}]\n"
      "optimizer: {step_counter: parameter}\nprogram: [train: 1]\n");
  Driven const shown = drive(written);
  EXPECT_EQ(shown.status, 1) << shown.output << written.text;
  EXPECT_NE(shown.output.find("step: actual   died, signal 11\n"), std::string::npos)
      << shown.output;
  write_example(right, right);
  EXPECT_EQ(drive(written).status, 0);
}

TEST_F(ExampleInTorch, LaysNumbersThatNobodyReadsBesideIt) {
  std::string const right = "v / (1 - beta2**t)";
  write_example(right, "v");
  WrittenScript const written = script_of(
      "world: {shard: 2}\nparams: [{name: w, shape: [150, 4]}]\n"
      "optimizer: {step_counter: parameter}\nprogram: [train: 1]\n");
  ASSERT_EQ(written.kind, ScriptKind::rendered);
  EXPECT_LE(std::count(written.text.begin(), written.text.end(), '\n'), lines_max) << written.text;
  EXPECT_TRUE(written.numbers.has_value());
  Driven const shown = drive(written);
  EXPECT_EQ(shown.status, 1) << shown.output << written.text;
  write_example(right, right);
  Driven const whole = drive(written);
  EXPECT_EQ(whole.status, 0) << whole.output << written.text;
}

// What its Python cannot make a script of is recorded all the same.
TEST_F(ExampleInTorch, HasASessionOfItsEnd) {
  write_example("state[\"step\"] += 1", "__import__(\"os\").kill(__import__(\"os\").getppid(), 9)");
  WrittenScript const written = script_of(
      "world: {shard: 2}\nparams: [{name: w, shape: [2]}]\n"
      "optimizer: {step_counter: parameter}\nprogram: [train: 1]\n");
  EXPECT_EQ(written.kind, ScriptKind::session);
  EXPECT_EQ(written.why_session,
            "the engine ends, does not answer, or differs when it is run again");
}

// ---- PyTorch's own engine ----

/// A scenario of what is known, and a change of its script after which nothing is wrong.
struct KnownCase {
  char const* file;
  char const* what;
  char const* by;
};

std::ostream& operator<<(std::ostream& out, KnownCase const& at) {
  return out << at.file;
}

class KnownInTorch : public DriverInTorch, public testing::WithParamInterface<KnownCase> {};

TEST_P(KnownInTorch, ShowsInPlainPyTorch) {
  std::string text =
      text_of_file(fmt::format("{}/adamant_torch/known/{}.yaml", torch_folder, GetParam().file));
  put(text, "name: torch", fmt::format("name: \"exec:{} -m adamant_torch\"", python_program()));
  Scenario const scenario = load_scenario_text(text, GetParam().file);
  WrittenScript const written = script_of_run(scenario);
  ASSERT_EQ(written.kind, ScriptKind::rendered);
  EXPECT_EQ(written.words, "plain PyTorch");
  Driven const shown = drive(written);
  EXPECT_EQ(shown.status, 1) << shown.output << written.text;

  WrittenScript without = written;
  ASSERT_NO_FATAL_FAILURE(put(without.text, GetParam().what, GetParam().by));
  Driven const whole = drive(without);
  EXPECT_EQ(whole.status, 0) << whole.output << without.text;
}

INSTANTIATE_TEST_SUITE_P(
    Of, KnownInTorch,
    testing::Values(KnownCase{"flipped_bit_in_a_weight", "    flip(f", "    print(f"},
                    KnownCase{"shard_of_another_save", "    shutil.copy(f", "    print(f"},
                    KnownCase{"fused_depends_on_world", "fused=True", "fused=False"},
                    KnownCase{"partial_sums_of_other_parameters", "    model(GRADIENTS",
                              "    model.set_requires_all_reduce(True)\n    model(GRADIENTS"}),
    [](auto const& given) { return std::string(given.param.file); });

}  // namespace
}  // namespace adamant::scenarios
