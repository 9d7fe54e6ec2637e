#include "scenarios/search/mutant_search.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "scenarios/language/json_text.h"
#include "scenarios/language/laws.h"
#include "scenarios/report/json.h"
#include "scenarios/seam/engine.h"
#include "scenarios/search/search.h"

namespace adamant::scenarios {

namespace {

using Clock = std::chrono::steady_clock;
using Json = StrictJson;

// A mistake in a loop may take forever, or all memory there is. No limit of the system does: what a
// simulated world reserves is far above it.
constexpr std::int64_t resident_bytes_max = std::int64_t{4} << 30;

volatile sig_atomic_t seconds_left = 0;

std::int64_t resident_bytes() {
  char text[64] = {};
  int const file = ::open("/proc/self/statm", O_RDONLY);
  ssize_t const size = ::read(file, text, sizeof text - 1);
  ::close(file);
  char const* const second = size > 0 ? std::strchr(text, ' ') : nullptr;
  return second == nullptr ? 0 : std::atoll(second) * ::sysconf(_SC_PAGESIZE);
}

// Once a second of processor time.
void on_tick(int) {
  seconds_left = seconds_left - 1;
  if (seconds_left > 0 && resident_bytes() < resident_bytes_max) return;
  static_cast<void>(::signal(SIGPROF, SIG_DFL));
  static_cast<void>(::raise(SIGPROF));  // ends the process when this returns
}

void watch_time_and_memory() {
  static_cast<void>(::signal(SIGPROF, on_tick));
  timeval const second = {.tv_sec = 1, .tv_usec = 0};
  itimerval const timer = {.it_interval = second, .it_value = second};
  static_cast<void>(::setitimer(ITIMER_PROF, &timer, nullptr));
}

/// The law that was broken; what came instead where none was.
std::string first_law_of(RunResult const& result) {
  if (result.met) return "";
  if (!result.violations.empty()) return std::string(id_of(result.violations.front().law));
  if (result.outcome == Outcome::pass) return "refusal missing";
  if (result.outcome == Outcome::refused) return "refused: " + result.reason;
  return "error: " + result.reason;
}

class OneMutant {
 public:
  OneMutant(bugs::Bug const& mutant, MutantLimits const& limits)
      : mutant_(mutant), limits_(limits) {}

  MutantEnd run(std::vector<MutantTrial> const& trials) {
    auto const begin = Clock::now();
    for (MutantTrial const& trial : trials)
      if (end_.law.empty()) try_one(trial.scenario, trial.options, trial.name);
    for (std::uint64_t i = 0; end_.law.empty() && i < limits_.cases_max; ++i) try_case(i);
    for (std::string const& program : limits_.engine_tests)
      if (end_.law.empty()) try_tests(program);
    end_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(end_);
  }

 private:
  void try_case(std::uint64_t index) {
    RunOptions options;
    options.repeat = search_repeats(index);
    try_one(search_case(limits_.seed, index), options, fmt::format("case {}", index));
  }

  void try_tests(std::string const& program) {
    seconds_left = limits_.case_seconds_max;  // the tests have a process and limits of their own
    EngineTestsEnd const tests = run_engine_tests(program, mutant_.id);
    if (!tests.failed) return;
    end_.law = tests.death.empty() ? "engine test" : law_of_death(tests.death);
    end_.by = tests.test;
  }

  void try_one(Scenario scenario, RunOptions const& options, std::string const& name) {
    scenario.bug = std::string(mutant_.id);
    ++end_.cases;
    seconds_left = limits_.case_seconds_max;
    end_.law = first_law_of(run_scenario(scenario, options));
    if (!end_.law.empty()) end_.by = name;
  }

  bugs::Bug const& mutant_;
  MutantLimits const& limits_;
  MutantEnd end_;
};

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

MutantEnd try_mutant(bugs::Bug const& mutant, std::vector<MutantTrial> const& trials,
                     MutantLimits const& limits) {
  watch_time_and_memory();
  try {
    return OneMutant(mutant, limits).run(trials);
  } catch (MachineLacks const& error) {
    MutantEnd end;
    end.lacking = error.what();
    return end;
  } catch (std::exception const& error) {
    MutantEnd end;
    end.law = "crash";
    end.by = error.what();
    return end;
  }
}

std::string to_line(MutantEnd const& end) {
  return to_line(Json{{"law", end.law},
                      {"by", end.by},
                      {"cases", end.cases},
                      {"seconds", end.seconds},
                      {"lacking", end.lacking}});
}

MutantEnd mutant_end_from_line(std::string const& line) {
  Json const json = parse_json<Json>(line);
  MutantEnd end;
  json.at("law").get_to(end.law);
  json.at("by").get_to(end.by);
  json.at("cases").get_to(end.cases);
  json.at("seconds").get_to(end.seconds);
  json.at("lacking").get_to(end.lacking);
  return end;
}

std::string law_of_death(std::string const& death) {
  if (death.starts_with("no answer")) return "hang";
  for (int const signal : {SIGPROF, SIGXCPU, SIGALRM})
    if (death.find(fmt::format("signal {}", signal)) != std::string::npos) return "hang";
  return "crash";
}

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
