#include "properties/mutants/mutants.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "scenarios/bugs/selected_in_harness.h"

namespace adamant::properties {

namespace {

constexpr std::size_t name_bytes = 256;
constexpr long pages_max = (3L << 30) / 4096;
constexpr double rounds_seconds[] = {0.3, 2, 10, 1e9};  // of tests

class Teller : public testing::EmptyTestEventListener {
 public:
  explicit Teller(char* running) : running_(running) {}
  void OnTestStart(testing::TestInfo const& info) override {
    if (testing::UnitTest::GetInstance()->Failed()) return;  // those behind a failure are left out
    std::string const name = std::string(info.test_suite_name()) + "." + info.name();
    std::strncpy(running_, name.c_str(), name_bytes - 1);
  }

 private:
  char* running_;
};

void silence() {
  int const nowhere = ::open("/dev/null", O_RDWR);
  for (int const stream : {0, 1, 2}) ::dup2(nowhere, stream);
}

void limit(double expected_seconds) {
  auto const most = static_cast<rlim_t>(20 + 8 * expected_seconds);
  rlimit const processor{.rlim_cur = most, .rlim_max = RLIM_INFINITY};
  rlimit const none{.rlim_cur = 0, .rlim_max = 0};
  static_cast<void>(::setrlimit(RLIMIT_CPU, &processor));
  static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
  static_cast<void>(::alarm(static_cast<unsigned>(120 + 40 * expected_seconds)));  // it may sleep
}

long resident_pages(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/statm");
  long all = 0;
  long resident = 0;
  in >> all >> resident;
  return resident;
}

/// Does one of them fail?
bool fails(std::vector<Test const*> const& tests) {
  std::string filter;
  for (Test const* const test : tests) filter += test->name + ":";
  GTEST_FLAG_SET(filter, filter);
  return RUN_ALL_TESTS() != 0;
}

}  // namespace

std::size_t place_of(bugs::Bug const& mutant) {
  auto const after = [&](std::string_view mark) {
    std::size_t const begin = mutant.diff.find(mark) + mark.size();
    return std::string(mutant.diff.substr(begin, mutant.diff.find('\n', begin) - begin));
  };
  return bugs::place_in_harness(after("\n--- ") + " " + after("\n@@ "));
}

Trial::Trial(bugs::Bug const& mutant, std::vector<Test const*> tests)
    : mutant_(&mutant), tests_(std::move(tests)) {
  running_ = static_cast<char*>(
      ::mmap(nullptr, name_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (running_ == MAP_FAILED) throw std::runtime_error("no memory can be shared with a trial");
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("no process can be started for a trial");
  if (process_ == 0) run();
}

Trial::Trial(Trial&& other) noexcept
    : mutant_(other.mutant_),
      tests_(std::move(other.tests_)),
      running_(std::exchange(other.running_, nullptr)),
      process_(std::exchange(other.process_, 0)),
      noticed_by_(std::move(other.noticed_by_)) {}

Trial& Trial::operator=(Trial&& other) noexcept {
  std::swap(mutant_, other.mutant_);
  std::swap(tests_, other.tests_);
  std::swap(running_, other.running_);
  std::swap(process_, other.process_);
  std::swap(noticed_by_, other.noticed_by_);
  return *this;
}

Trial::~Trial() {
  if (process_ != 0) ::kill(-process_, SIGKILL);
  if (running_ != nullptr) ::munmap(running_, name_bytes);
}

double Trial::seconds() const {
  double all = 0;
  for (Test const* const test : tests_) all += test->seconds;
  return all;
}

void Trial::run() const {
  ::setpgid(0, 0);
  silence();
  limit(seconds());
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Teller(running_));
  GTEST_FLAG_SET(fail_fast, true);
  bugs::harness.selected = bugs::key_of(mutant_->id);
  auto next = tests_.begin();
  for (double const most : rounds_seconds) {
    std::vector<Test const*> round;
    double planned = 0;
    while (next != tests_.end() && (round.empty() || planned + (*next)->seconds <= most)) {
      planned += (*next)->seconds;
      round.push_back(*next++);
    }
    if (!round.empty() && fails(round)) std::_Exit(1);
  }
  std::_Exit(0);
}

bool Trial::has_ended() {
  if (process_ == 0) return true;
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) == process_) {
    bool const failed = WIFEXITED(status) && WEXITSTATUS(status) != 0;
    bool const hangs =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM);
    if (WIFSIGNALED(status))
      end(std::string(hangs ? "a hang in " : "a crash in ") + running_);
    else
      end(failed ? running_ : "");
    return true;
  }
  if (resident_pages(process_) <= pages_max) return false;
  ::kill(-process_, SIGKILL);
  ::waitpid(process_, &status, 0);
  end(std::string("too much memory in ") + running_);
  return true;
}

void Trial::end(std::string how) {
  ::kill(-process_, SIGKILL);  // what it started
  process_ = 0;
  noticed_by_ = std::move(how);
}

}  // namespace adamant::properties
