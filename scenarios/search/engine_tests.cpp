#include "scenarios/search/engine_tests.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace adamant::scenarios {

namespace {

/// What stands behind `mark` up to the next blank, bracket or comma, where the line begins so.
std::string_view name_behind(std::string_view mark, std::string_view line) {
  if (!line.starts_with(mark)) return "";
  line.remove_prefix(mark.size());
  return line.substr(0, line.find_first_of(" ,\n"));
}

/// A shell tells of a signal by an exit status above 128.
std::string death_of(int status) {
  int const number = WIFSIGNALED(status)         ? WTERMSIG(status)
                     : WEXITSTATUS(status) > 128 ? WEXITSTATUS(status) - 128
                                                 : 0;
  return number == 0 ? "" : fmt::format("killed by signal {}", number);
}

}  // namespace

EngineTestsEnd run_engine_tests(std::string const& program, std::string_view mutant) {
  std::string const command =
      fmt::format("exec '{}' '{}' --gtest_fail_fast --gtest_color=no 2>/dev/null", program, mutant);
  std::FILE* const out = ::popen(command.c_str(), "r");
  if (out == nullptr) throw std::system_error(errno, std::generic_category(), program);
  EngineTestsEnd end;
  std::array<char, 1024> line;
  while (std::fgets(line.data(), line.size(), out) != nullptr) {
    auto const begun = name_behind("[ RUN      ] ", line.data());
    if (!begun.empty() && !end.failed) end.test = begun;
    if (!name_behind("[  FAILED  ] ", line.data()).empty()) end.failed = true;
  }
  int const status = ::pclose(out);
  end.death = death_of(status);
  end.failed = status != 0;
  return end;
}

}  // namespace adamant::scenarios
