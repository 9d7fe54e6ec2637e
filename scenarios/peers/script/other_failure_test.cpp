// What a script ends with where something else than the defect makes it fail. The interpreter is
// ADAMANT_PYTHON or python3.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "scenarios/peers/script/script.h"
#include "scenarios/peers/script/testing/read.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"

namespace adamant::scenarios {
namespace {

struct Failed {
  int status = -1;
  std::string said;
};

Failed run_python(std::string const& script, char const* arguments) {
  Scratch const scratch;
  std::ofstream(scratch / "x.py") << script;
  int const status = std::system(fmt::format("{0} {1} {2}x.py >{2}said 2>&1", python_program(),
                                             arguments, (scratch / "").string())
                                     .c_str());
  std::ostringstream said;
  said << std::ifstream(scratch / "said").rdbuf();
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .said = said.str()};
}

std::string script_of_ranks(int ranks) {
  return write_script(
      read(fmt::format(
          "world: {{shard: {}}}\nparams: [{{name: p0, shape: [2]}}]\nprogram: [train: 1]\n",
          ranks)),
      {.breach = Breach::other_step_count,
       .operation = 0,
       .subject = StepCount{.parameter = "p0"},
       .expected = Count{2},
       .actual = Count{1}});
}

TEST(ScriptWithoutPyTorch, SaysSoAndEndsWithTwo) {
  if (!python_runs("")) GTEST_SKIP() << "there is no Python";
  for (int const ranks : {1, 2}) {
    Failed const ended = run_python(script_of_ranks(ranks), "-S");  // nothing is installed then
    EXPECT_EQ(ended.status, 2) << ended.said;
    EXPECT_TRUE(ended.said.ends_with(": ModuleNotFoundError: No module named 'torch'\n"))
        << ended.said;
    EXPECT_EQ(ended.said.find('\n') + 1, ended.said.size()) << "one line: " << ended.said;
  }
}

TEST(ScriptInTorchThatFails, EndsWithTwo) {
  if (!has_fsdp2()) GTEST_SKIP() << no_fsdp2;
  for (int const ranks : {1, 2}) {
    std::string text = script_of_ranks(ranks);
    EXPECT_EQ(run_python(text, "").status, 1) << text;
    std::string const step = "optimizer.step()";
    text.replace(text.find(step), step.size(), "optimizer.no_step()");
    Failed const ended = run_python(text, "");
    EXPECT_EQ(ended.status, 2) << ended.said << text;
    EXPECT_NE(ended.said.find("no_step"), std::string::npos) << ended.said;
  }
}

}  // namespace
}  // namespace adamant::scenarios
