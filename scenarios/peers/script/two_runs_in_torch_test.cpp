// Scripts of what differs between two runs, on real PyTorch. Of each the runs agree, and where the
// second one is made to differ by a line in the script, it shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <string>

#include <sys/wait.h>

#include "scenarios/peers/script/script.h"
#include "scenarios/peers/script/testing/read.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"

namespace adamant::scenarios {
namespace {

struct RanInTorch {
  int status = -1;
  std::string output;
};

RanInTorch run_in_torch(std::string const& script) {
  Scratch const scratch;
  std::ofstream(scratch / "x.py") << script;
  std::string const line = python_program() + " " + (scratch / "x.py").string() + " 2>&1";
  std::FILE* const pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return {};
  RanInTorch ended;
  std::array<char, 4096> part;
  while (std::size_t const count = std::fread(part.data(), 1, part.size(), pipe))
    ended.output.append(part.data(), count);
  int const status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

Violation other_in_run_of(std::string const& run, Law law) {
  return {.law = law,
          .breach = Breach::other_in_run,
          .operation = 1,
          .subject = Tensor{.parameter = "p0", .kind = TensorKind::exp_avg},
          .index = 1,
          .expected = Number(1.0F),
          .actual = Number(2.0F),
          .run = run};
}

/// A further run, and a line of the script that only this run has, with what is put in its place.
struct TwoRuns {
  char const* name;
  char const* text;
  Law law;
  char const* run;
  char const* line;
  char const* wrong;
};

std::ostream& operator<<(std::ostream& out, TwoRuns const& at) {
  return out << at.name;
}

class ScriptOfTwoRuns : public testing::TestWithParam<TwoRuns> {};

std::string script_of(TwoRuns const& at, Violation violation) {
  violation.law = at.law;
  return write_script(read(at.text), violation);
}

TEST_P(ScriptOfTwoRuns, ComparesThem) {
  if (!has_fsdp2()) GTEST_SKIP() << no_fsdp2;
  std::string text = script_of(GetParam(), other_in_run_of(GetParam().run, GetParam().law));
  EXPECT_LE(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), script_lines_max)
      << text;
  EXPECT_NE(text.find(std::string("The second run is the first one with `") + GetParam().run),
            std::string::npos)
      << text;
  RanInTorch const alike = run_in_torch(text);
  EXPECT_EQ(alike.status, 0) << alike.output << text;
  EXPECT_NE(alike.output.find("p0/exp_avg[1]: expected "), std::string::npos) << alike.output;
  EXPECT_EQ(alike.output.find("nan"), std::string::npos) << alike.output;

  std::string const line = GetParam().line;
  auto const at = text.rfind(line);
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, line.size(), GetParam().wrong);
  RanInTorch const apart = run_in_torch(text);
  EXPECT_EQ(apart.status, 1) << apart.output << text;
  EXPECT_NE(apart.output.find("p0/exp_avg[1]: actual   "), std::string::npos) << apart.output;
}

constexpr char const* in_two_worlds =
    "worlds: [2, {shard: 1, replicate: 3}]\nparams: [{name: p0, shape: [3]}]\n"
    "program: [train: 1, train: 2]\n";
constexpr char const* of_two_ranks =
    "world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\nprogram: [train: 1, train: 1]\n"
    "again: [{}, {resumed_after: 1, through: [1]}, {options: {implementation: foreach, "
    "offload_policy: cpu}}]\n";
constexpr char const* of_one_rank =
    "world: {shard: 1}\nparams: [{name: p0, shape: [3]}]\n"
    "program: [train: 1, train: 1]\nagain: [{resumed_after: 1, order: reversed}]\n";

INSTANTIATE_TEST_SUITE_P(
    In, ScriptOfTwoRuns,
    testing::Values(TwoRuns{"OtherWorlds", in_two_worlds, Law::runs_worlds,
                            "worlds: [{shard: 1, replicate: 3}]", "GRADIENTS[3:])",
                            "GRADIENTS[4:] + GRADIENTS[3:])"},
                    TwoRuns{"Repetition", of_two_ranks, Law::runs_repeated, "again: {}",
                            "model(GRADIENTS[1][rank])",
                            "model(GRADIENTS[side == \"expected\"][rank])"},
                    TwoRuns{"OtherOptions", of_two_ranks, Law::runs_options,
                            "again: {options: {implementation: foreach, offload_policy: cpu}}",
                            "dict(foreach=True)", "dict(foreach=True, maximize=True)"},
                    TwoRuns{"Resumption", of_two_ranks, Law::runs_resumed,
                            "again: {resumed_after: 1, through: [1]}", "dcp.load(state, ",
                            "dict(state=state, "},
                    TwoRuns{"ResumptionInOneProcess", of_one_rank, Law::runs_resumed,
                            "again: {resumed_after: 1, order: reversed}", "dcp.load(state, ",
                            "dict(state=state, "}),
    testing::PrintToStringParamName());

TEST(ScriptOfTwoRunsAlone, ComparesFilesByWhatIsInThem) {
  if (!has_fsdp2()) GTEST_SKIP() << no_fsdp2;
  Violation violation = other_in_run_of("again: {}", Law::runs_repeated);
  violation.breach = Breach::other_file_in_run;
  violation.subject = {};
  violation.index = -1;
  violation.expected = violation.actual = {};
  violation.text = "a/__0_0.distcp";
  std::string text = write_script(
      read("world: {shard: 2}\nparams: [{name: p0, shape: [3]}]\nprogram: [train: 1, save: a]\n"
           "again: [{}]\n"),
      violation);
  RanInTorch const alike = run_in_torch(text);
  EXPECT_EQ(alike.status, 0) << alike.output << text;
  EXPECT_NE(alike.output.find("files of a: actual   ['"), std::string::npos) << alike.output;
  text.insert(text.find("    paths = "),
              "    model.p0.detach().to_local().add_(side == \"actual\")\n"
              "    dcp.save({\"model\": model.state_dict()}, "
              "checkpoint_id=f\"{directory}/{side}-a\")\n");
  RanInTorch const apart = run_in_torch(text);
  EXPECT_EQ(apart.status, 1) << apart.output << text;
}

TEST(ScriptOfTwoRunsAlone, ComparesAllThatARunShowsWhereItDiffersWhenItIsRepeated) {
  if (!has_fsdp2()) GTEST_SKIP() << no_fsdp2;
  Violation const violation{.law = Law::determinism_digest,
                            .breach = Breach::other_digest,
                            .expected = Digest{1},
                            .actual = Digest{2}};
  std::string text = write_script(read(of_two_ranks), violation);
  EXPECT_LE(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), script_lines_max)
      << text;
  RanInTorch const alike = run_in_torch(text);
  EXPECT_EQ(alike.status, 0) << alike.output << text;
  std::string const step = "    optimizer.step()\n";
  text.insert(text.find(step), "    model.p0.grad.mul_(1 + (side == \"actual\"))\n");
  RanInTorch const apart = run_in_torch(text);
  EXPECT_EQ(apart.status, 1) << apart.output << text;
  EXPECT_NE(apart.output.find("rank 0, "), std::string::npos) << apart.output;
  EXPECT_NE(apart.output.find(" of p0[0]: actual   "), std::string::npos) << apart.output;
}

TEST(ScriptOfAFurtherRun, IsOfThatRunWhereItIsWrongByItself) {
  Violation violation =
      other_in_run_of("again: {resumed_after: 1, through: [1]}", Law::values_bitwise);
  violation.breach = Breach::other_value;
  violation.operation = 1;
  std::string const text = write_script(read(of_two_ranks), violation);
  EXPECT_NE(text.find("EXPECTED = \"0x1.0"), std::string::npos) << text;
  EXPECT_NE(text.find("GRADIENTS[1:2]"), std::string::npos) << "the operation behind: " << text;
  EXPECT_NE(text.find("dcp.load("), std::string::npos) << text;
}

TEST(ScriptOfTwoRunsReasons, AreThatNobodyKnowsTheRun) {
  auto const why_not = [](Violation const& violation) -> std::string {
    try {
      write_script(read(of_two_ranks), violation);
      return "";
    } catch (NoScript const& reason) {
      return reason.what();
    }
  };
  EXPECT_EQ(why_not(other_in_run_of("again: {resumed_after: 2}", Law::runs_resumed)),
            "the scenario has no further run with again: {resumed_after: 2}");
}

}  // namespace
}  // namespace adamant::scenarios
