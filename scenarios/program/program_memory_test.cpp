// How much memory the program takes, however long a scenario is.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool has_addresses_of_its_own = true;
#else
constexpr bool has_addresses_of_its_own = false;
#endif

class ProgramMemory : public ProgramTest {
 protected:
  /// The most that one process of `adamant run FILE` had resident, in KiB.
  static long peak_kib(std::filesystem::path const& scenario) {
    pid_t const child = fork();
    if (child == 0) {
      execl(ADAMANT_PROGRAM, ADAMANT_PROGRAM, "run", scenario.c_str(), "--quiet", nullptr);
      _exit(127);
    }
    int status = -1;
    rusage used = {};
    EXPECT_EQ(wait4(child, &status, 0, &used), child);
    EXPECT_EQ(status, 0) << scenario;
    return used.ru_maxrss;
  }

  std::filesystem::path write_steps(std::string const& engine, int steps) const {
    return write(engine + ".yaml",
                 "adamant: 1\nname: many steps\nseed: 1\nworld: {shard: 2}\n"
                 "params: [{name: w, shape: [8, 4]}, {name: v, shape: [5]}]\n"
                 "program: [{train: " +
                     std::to_string(steps) + "}]\nengine: {name: " + engine + "}\n");
  }
};

/// `count` lines, in which {} stands for the line's number and [] for it modulo 2.
std::string lines(int count, std::string const& line) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string numbered = line;
    for (auto const& [mark, number] : {std::pair("{}", i), std::pair("[]", i % 2)})
      for (auto at = numbered.find(mark); at != std::string::npos; at = numbered.find(mark))
        numbered.replace(at, 2, std::to_string(number));
    text += numbered + "\n";
  }
  return text;
}

struct LargeFile {
  std::string text;
  int status;
  std::string said;
};

// Each has thousands of two things, and is one of the largest that are read. Without a bound each
// takes minutes, gibibytes or both.
std::vector<LargeFile> large_files() {
  std::string const head = "adamant: 1\nname: x\nseed: 1\n";
  std::string const two = "world: {shard: 2}\n";
  std::string const params = "params:\n" + lines(14'000, "- {name: p{}, shape: [1]}");
  std::string const saved = "program:\n- train: 1\n- save: a\n- save: a\n";
  std::string const capturable = "optimizer: {capturable: true}\n";
  std::string const extent = "unsupported.extent: ";
  std::string const uncounted = "no bytes are counted: ";
  std::string const rows = "params:\n" + lines(20'000, "- {name: p{}, shape: [1{}, 3]}");
  return {{head + two + params + saved + lines(9'000, "- load: {from: a, world: {shard: 1[]}}"), 0,
           uncounted},
          {head + two + params + saved + lines(9'000, "- load: {from: a, world: {shard: 1{}}}"), 2,
           extent},
          {head + two + "precision: {param: bf16, main: fp32}\nparams:\n" +
               lines(8'000, "- {name: p{}, shape: [1], precision: {param: fp16}}") + saved +
               lines(2'500,
                     "- load: {from: a, precision: {state_scale: global, exp_avg: fp32}}\n"
                     "- load: {from: a, precision: {exp_avg: bf16}}"),
           0, uncounted},
          {head + two + capturable + params + "program:\n" +
               lines(5'000, "- capture: [backward: {without: [p1]}, step]"),
           0, "not executed"},
          {head + two + capturable +
               "params: [{name: p, shape: [1]}]\nprogram: " + "[capture: [train: 1000000000000]]\n",
           2, extent},
          {head + two + params + "program: [train: 1]\nagain:\n" +
               lines(20'000, "- {resumed_after: 0}"),
           2, extent},
          {head + two + "params: [{name: p, shape: [1]}]\n" + saved + lines(15'000, "- load: a") +
               "faults:\n" + lines(9'000, "- {at: load, nth: 14000, file: 0, then: stale_file}"),
           0, "not executed"},
          {head + "world: {shard: 1048576}\nlayout: flat\nmicrobatches: 1\n" + rows +
               "program: [train: 1]\n",
           0, uncounted},
          {head + "world: {shard: 1048576}\nmicrobatches: 1\n" + rows + "program: [train: 1]\n", 0,
           uncounted},
          {head + two + "params:\n" + lines(10'000, "- {name: p{}, shape: [1], group: g{}}") +
               "groups:\n" + lines(10'000, "  g{}: {lr: 0.1}") + "program: [train: 1]\n",
           0, "not executed"}};
}

// What was 1.5 to 5 KiB a rank and step would be 120 MiB and more here.
TEST_F(ProgramMemory, IsBoundedHoweverManyStepsThereAre) {
  if (has_addresses_of_its_own) GTEST_SKIP() << "the sanitizer keeps what was freed";
  for (char const* const engine : {"sim", "sim-unchecked"})
    EXPECT_LT(peak_kib(write_steps(engine, 40'000)), 96 << 10) << engine;
}

// A pipe would be waited for, and the device never ends.
TEST_F(ProgramMemory, TakesNothingOfWhatIsNoPartOfACheckpoint) {
  if (has_addresses_of_its_own) GTEST_SKIP() << "the sanitizer keeps what was freed";
  std::string const model =
      "adamant: 1\nname: x\nworld: {shard: 1}\nparams: [{name: w, shape: [2]}]\n";
  write("first.yaml", model + "program: [save: ckpt]\n");
  ASSERT_EQ(call("run first.yaml --dump saved").status, 0);
  ASSERT_EQ(shell("cd saved/ckpt; mkfifo pipe pipe.safetensors; mkdir folder.safetensors; "
                  "ln -s /dev/zero zero.safetensors; ln -s . again; truncate -s 1G notes.bin")
                .status,
            0);
  EXPECT_LT(peak_kib(write("saved/second.yaml", model + "program: [load: ckpt]\n")), 96 << 10);
}

// A setting for each load, and what it changes of each parameter, would be 3 GiB and more here.
TEST_F(ProgramMemory, IsBoundedHoweverManyLoadsThereAre) {
  if (has_addresses_of_its_own) GTEST_SKIP() << "the sanitizer reserves addresses, too";
  std::string loads = "adamant: 1\nname: x\nworld: {shard: 1}\nprogram:\n- save: a\n";
  for (int i = 0; i < 20'000; ++i)
    loads += "- load: {from: a, world: {shard: " + std::to_string(2 - i % 2) + "}}\n";
  write("loads.yaml", loads + "params: [{name: w, shape: [1]}]\n");
  std::string sets = "adamant: 1\nname: x\nworld: {shard: 1}\nparams: [{name: w, shape: [1]}]\n";
  sets += "groups:\n";
  for (int i = 0; i < 10'000; ++i) sets += "  g" + std::to_string(i) + ": {weight_decay: 0}\n";
  sets += "program:\n";
  for (int i = 0; i < 10'000; ++i) sets += "- set: {lr: 0." + std::to_string(i + 1) + "}\n";
  write("sets.yaml", sets);
  for (char const* const file : {"loads.yaml", "sets.yaml"}) {
    Called const called =
        shell("ulimit -v 1048576; PROGRAM run --dry-run --timeout 20 " + std::string(file));
    EXPECT_EQ(called.status, 0) << file << called.err << called.out.substr(0, 1000);
  }
}

TEST_F(ProgramMemory, AndTimeAreBoundedForTheLargestFiles) {
  if (has_addresses_of_its_own) GTEST_SKIP() << "the sanitizer reserves addresses, too";
  for (LargeFile const& file : large_files()) {
    write("large.yaml", file.text);
    Called const called =
        shell("ulimit -v 1048576; ulimit -t 20; PROGRAM run --dry-run large.yaml");
    std::string const what = file.text.substr(0, 300);
    EXPECT_EQ(called.status, file.status) << what << called.err << called.out.substr(0, 1000);
    EXPECT_NE((called.out + called.err).find(file.said), std::string::npos)
        << what << called.err << called.out.substr(0, 1000);
  }
}

TEST_F(ProgramMemory, TooFewAddressesAreASentence) {
  if (has_addresses_of_its_own) GTEST_SKIP() << "the sanitizer reserves addresses, too";
  Called const called =
      shell("ulimit -v 4000000; PROGRAM run " + write("x.yaml", passing_scenario()).string());
  EXPECT_EQ(called.status, 3) << called.out;
  EXPECT_NE(called.out.find("`ulimit -v unlimited`"), std::string::npos) << called.out;
}

}  // namespace
}  // namespace adamant::scenarios
