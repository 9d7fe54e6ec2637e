// How much memory the program takes, however long a scenario is.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "scenarios/program/testing/program.h"

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

// What was 1.5 to 5 KiB a rank and step would be 120 MiB and more here.
TEST_F(ProgramMemory, IsBoundedHoweverManyStepsThereAre) {
  for (char const* const engine : {"sim", "sim-unchecked"})
    EXPECT_LT(peak_kib(write_steps(engine, 40'000)), 96 << 10) << engine;
}

// A pipe would be waited for, and the device never ends.
TEST_F(ProgramMemory, TakesNothingOfWhatIsNoPartOfACheckpoint) {
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

TEST_F(ProgramMemory, TooFewAddressesAreASentence) {
  if (has_addresses_of_its_own) GTEST_SKIP() << "the sanitizer reserves addresses, too";
  Called const called =
      shell("ulimit -v 4000000; PROGRAM run " + write("x.yaml", passing_scenario()).string());
  EXPECT_EQ(called.status, 3) << called.out;
  EXPECT_NE(called.out.find("`ulimit -v unlimited`"), std::string::npos) << called.out;
}

}  // namespace
}  // namespace adamant::scenarios
