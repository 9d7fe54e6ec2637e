#include "scenarios/peers/doctor/traces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "scenarios/peers/client/process.h"

namespace adamant::scenarios {
namespace {

using Clock = std::chrono::steady_clock;
using Deadline = PeerProcess::Deadline;
using std::chrono_literals::operator""s;

std::string name_of_last(RunTrace const& trace) {
  auto const found = trace.processes();
  if (found.empty()) return "";
  std::ifstream file("/proc/" + std::to_string(found.back()) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

/// In the moment in which a process becomes another program it has no environment to be known by.
bool is_found(RunTrace const& trace, pid_t process) {
  for (auto const until = Clock::now() + 5s; Clock::now() < until;)
    if (std::ranges::count(trace.processes(), process) == 1) return true;
  return false;
}

// A process that left its parent, its session and its group is found all the same.
TEST(RunTrace, FindsWhatWasStartedWhileItIsThere) {
  RunTrace const trace;
  EXPECT_TRUE(trace.processes().empty());
  PeerProcess process("setsid sleep 60 & echo $!; read line; kill $!; wait; echo gone; read line");
  auto const started = std::stoi(process.read_line(Deadline(5s)));
  EXPECT_TRUE(is_found(trace, started));
  process.write_line("", Deadline(5s));
  EXPECT_EQ(process.read_line(Deadline(5s)), "gone");
  EXPECT_EQ(trace.processes().size(), 1U) << "the shell alone";
}

TEST(RunTrace, FindsNothingOfOthers) {
  PeerProcess before("read line");
  RunTrace const trace;
  EXPECT_TRUE(trace.processes().empty());
}

TEST(RunTrace, KillsTheOneInsideTheShell) {
  RunTrace const trace;
  PeerProcess process("sleep 60; echo $?; read line");
  while (name_of_last(trace) != "sleep") continue;  // until then it is one more shell
  trace.kill_launcher();
  EXPECT_EQ(process.read_line(Deadline(5s)), "137");
}

}  // namespace
}  // namespace adamant::scenarios
