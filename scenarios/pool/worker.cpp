#include "scenarios/pool/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "scenarios/pool/interrupt.h"

namespace adamant::scenarios {

namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  return {.read_end = ends[0], .write_end = ends[1]};
}

bool write_fully(int descriptor, char const* data, std::size_t size) {
  while (size > 0) {
    ssize_t const written = ::write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_job(int descriptor, std::uint64_t& job) {
  for (;;) {
    ssize_t const count = ::read(descriptor, &job, sizeof job);
    if (count < 0 && errno == EINTR) continue;
    return count == static_cast<ssize_t>(sizeof job);
  }
}

/// A worker never outlives its parent, leaves no core file, and takes no part in Ctrl-C.
void settle_in_child(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
  ignore_interrupts();
  std::signal(SIGPIPE, SIG_IGN);
  rlimit const none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) {
    int const signal = WTERMSIG(status);
    return "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

// What an answer's line begins with.
constexpr char goes_on = '+';
constexpr char is_last = '-';

}  // namespace

Worker::Worker(Work const& work, std::function<void()> const& in_child) {
  Pipe const jobs = make_pipe();
  Pipe const answers = make_pipe();
  std::fflush(nullptr);  // or both processes would print what is buffered
  pid_t const parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (process_ == 0) {
    settle_in_child(parent);
    in_child();
    ::close(jobs.write_end);
    ::close(answers.read_end);
    serve(work, jobs.read_end, answers.write_end);
  }
  ::close(jobs.read_end);
  ::close(answers.write_end);
  to_child_ = jobs.write_end;
  from_child_ = answers.read_end;
  ::fcntl(from_child_, F_SETFL, O_NONBLOCK);
}

void Worker::serve(Work const& work, int jobs, int answers) {
  std::uint64_t job = 0;
  while (read_job(jobs, job)) {
    Answer const answer = work(job);
    std::string const line = (answer.last ? is_last : goes_on) + answer.text + "\n";
    std::fflush(stdout);
    if (!write_fully(answers, line.data(), line.size()) || answer.last) break;
  }
  ::_exit(0);  // no destructors and no exit handlers: those are the parent's
}

Worker::~Worker() {
  if (process_ > 0) reap();
}

void Worker::give(std::uint64_t job) {
  job_ = job;
  given_at_ = std::chrono::steady_clock::now();
  // If the process has just died the write fails; poll_answer() will see its end.
  write_fully(to_child_, reinterpret_cast<char const*>(&job), sizeof job);
}

void Worker::close_descriptors() const {
  ::close(to_child_);
  ::close(from_child_);
}

std::optional<std::string> Worker::poll_answer() {
  char buffer[1 << 14];
  for (;;) {
    ssize_t const count = ::read(from_child_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) gone_ = true;
    if (count <= 0) break;
    received_.append(buffer, static_cast<std::size_t>(count));
  }
  auto const end = received_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  spent_ = received_.front() == is_last;
  std::string answer = received_.substr(1, end - 1);
  received_.clear();
  job_.reset();
  return answer;
}

std::string Worker::reap() {
  close_descriptors();
  if (!gone_) ::kill(process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = -1;
  return describe_status(status);
}

}  // namespace adamant::scenarios
