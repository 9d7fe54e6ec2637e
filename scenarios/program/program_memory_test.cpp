// How much memory the program takes, however long a scenario is.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "scenarios/program/testing/program.h"

namespace adamant::scenarios {
namespace {

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

}  // namespace
}  // namespace adamant::scenarios
