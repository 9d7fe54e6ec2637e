#include "sim/second_run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "sim/broken_off.h"
#include "sim/describe.h"
#include "sim/watch/debug_lines.h"

namespace adamant::sim {
namespace {

// A second run ends if the first did, unless the program's own state makes it another one.
constexpr unsigned seconds_max = 120;

// What threads call that are no rank's has its lines already, and need not happen again.
void add_locations(Violation& violation, std::vector<Location*>& all) {
  if (violation.law == Law::error_thread) return;
  all.push_back(&violation.at);
  for (Related& related : violation.related) all.push_back(&related.at);
  for (Waiting& waiting : violation.waiting) all.push_back(&waiting.at);
  for (Access& access : violation.accesses) {
    all.insert(all.end(), {&access.at, &access.enqueued_at, &access.captured_at,
                           &access.allocated_at, &access.freed_at});
  }
}

// Of all violations and warnings, in one order.
std::vector<Location*> locations_in(Report& report) {
  std::vector<Location*> all;
  for (Violation& violation : report.violations) add_locations(violation, all);
  for (Violation& warning : report.warnings) add_locations(warning, all);
  return all;
}

void write(std::ostream& text, Location const& location) {
  text << location.line << ' ' << location.callers.size() << ' ' << location.function << '\n'
       << location.file << '\n';
  for (Location const& caller : location.callers) write(text, caller);
}

// The inverse of write().
Location read_location(std::istream& text) {
  Location location;
  std::size_t callers = 0;
  text >> location.line >> callers;
  text.get();
  std::getline(text, location.function);
  std::getline(text, location.file);
  for (std::size_t i = 0; i < callers && text; ++i) location.callers.push_back(read_location(text));
  return location;
}

// What the child tells: its digest, how many locations its violations have room for, and those.
std::string text_of(Report& report) {
  std::ostringstream text;
  std::vector<Location*> const all = locations_in(report);
  text << report.digest << ' ' << all.size() << '\n';
  for (Location const* location : all) write(text, *location);
  return text.str();
}

void take_text(Report& report, std::string const& told) {
  std::istringstream text(told);
  std::uint64_t digest = 0;
  std::size_t count = 0;
  text >> digest >> count;
  text.get();
  std::vector<Location*> const all = locations_in(report);
  if (digest != report.digest || count != all.size()) {
    report.unlocated =
        "the program did not do the same again with the same choices, so something in it "
        "outlives a run or is no function of the seed";
    return;
  }
  for (Location* location : all) *location = read_location(text);
  if (std::none_of(all.begin(), all.end(), [](Location* location) { return location->known(); }))
    report.unlocated = why_no_lines();
  for (Violation& found : report.violations)
    if (found.host_did_not_wait) found.missing = missing_wait(found.accesses[0], found.accesses[1]);
}

[[noreturn]] void send(Report report, int descriptor) {
  std::string const text = text_of(report);
  for (std::size_t done = 0; done < text.size();) {
    ssize_t const count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count <= 0) _exit(EXIT_FAILURE);
    done += static_cast<std::size_t>(count);
  }
  _exit(EXIT_SUCCESS);
}

[[noreturn]] void tell(std::function<Report()> const& again, std::function<Report()> const& so_far,
                       int descriptor) {
  alarm(seconds_max);
  int const nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  AtBreakOff const broken_off([&] { send(so_far(), descriptor); });
  send(again(), descriptor);
}

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    ssize_t const count = ::read(descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace

void locate_in_child(Report& report, std::function<Report()> const& again,
                     std::function<Report()> const& so_far) {
  if (locations_in(report).empty()) return;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    report.unlocated = "the system has no pipe left";
    return;
  }
  std::fflush(nullptr);  // else the child's buffers would be written a second time
  pid_t const child = fork();
  if (child == 0) tell(again, so_far, ends[1]);
  close(ends[1]);
  std::string const text = child > 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) {
    take_text(report, text);
  } else {
    report.unlocated = child > 0 ? "the second run, which names them, did not end by itself"
                                 : "the system has no process left for the second run";
  }
}

}  // namespace adamant::sim
