#include "scenarios/peers/doctor/traces.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

constexpr char const* variable = "ADAMANT_DOCTOR_RUN";

/// A number, of a process's directory; 0 for any other.
pid_t process_of(std::filesystem::path const& directory) {
  std::string const name = directory.filename();
  pid_t process = 0;
  auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc{} && end == name.data() + name.size() ? process : 0;
}

/// Empty for a process that has ended, and for another user's.
std::string environment_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_shell(pid_t process) {
  std::error_code gone;
  return std::filesystem::equivalent(fmt::format("/proc/{}/exe", process), "/bin/sh", gone);
}

}  // namespace

RunTrace::RunTrace() {
  static int count = 0;
  mark_ = fmt::format("{}-{}", ::getpid(), count++);
  ::setenv(variable, mark_.c_str(), 1);
}

RunTrace::~RunTrace() {
  ::unsetenv(variable);
}

std::vector<pid_t> RunTrace::processes() const {
  std::string const entry = fmt::format("{}={}", variable, mark_) + '\0';
  std::vector<pid_t> found;
  std::error_code gone;  // between two looks
  for (auto const& directory : std::filesystem::directory_iterator("/proc", gone)) {
    pid_t const process = process_of(directory.path());
    if (process != 0 && environment_of(process).find(entry) != std::string::npos)
      found.push_back(process);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void RunTrace::kill_launcher() const {
  auto const found = processes();
  ADAMANT_RUN_ASSERT(!found.empty());
  auto const launcher = std::find_if_not(found.begin(), found.end(), is_shell);
  ::kill(launcher == found.end() ? found.front() : *launcher, SIGKILL);
}

}  // namespace adamant::scenarios
