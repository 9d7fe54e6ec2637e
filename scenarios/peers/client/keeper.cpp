#include "scenarios/peers/client/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <system_error>

namespace adamant::scenarios {

namespace {

// What runs in a fork takes no memory and no lock, which a thread of ours may have held.

constexpr int rounds_of_kills = 10'000;  // some 10 s; what is left then no signal ends

[[noreturn]] void run_command(KeptCommand const& command, pid_t keeper) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper) ::_exit(1);  // it died before the line above
  ::setpgid(0, 0);                        // Ctrl-C is for us to answer
  ::dup2(command.input, STDIN_FILENO);
  ::dup2(command.output, STDOUT_FILENO);
  ::dup2(command.errors, STDERR_FILENO);
  for (int const number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
  ::execl("/bin/sh", "sh", "-c", command.text, nullptr);
  ::_exit(127);
}

/// Their own children fall to this process then.
void kill_children() {
  static std::array<char, 1 << 16> list;  // what has no room has its turn later
  int const file = ::open("/proc/thread-self/children", O_RDONLY);
  ssize_t const size = ::read(file, list.data(), list.size() - 1);
  ::close(file);
  list[static_cast<std::size_t>(std::max<ssize_t>(size, 0))] = 0;
  char* rest = list.data();
  while (long const child = std::strtol(rest, &rest, 10))
    ::kill(static_cast<pid_t>(child), SIGKILL);
}

[[noreturn]] void end_all() {
  timespec const nap{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int round = 0; round < rounds_of_kills; ++round) {
    kill_children();
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) continue;
    if (ended < 0 && errno == ECHILD) break;
    ::nanosleep(&nap, nullptr);
  }
  ::_exit(0);
}

void wake(int) {}

/// Tells how the command ended, takes in who falls to this process, and waits for its owner's end.
[[noreturn]] void keep(pid_t command, int line) {
  ::dup2(line, STDIN_FILENO);
  ::close_range(1, ~0U, 0);
  struct sigaction action {};
  action.sa_handler = wake;
  ::sigaction(SIGCHLD, &action, nullptr);
  sigset_t children;
  sigset_t none;
  ::sigemptyset(&none);
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &children, nullptr);
  pollfd owner{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  do {
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0)
      if (ended == command) ::send(STDIN_FILENO, &status, sizeof status, MSG_NOSIGNAL);
  } while (::ppoll(&owner, 1, nullptr, &none) < 0 && errno == EINTR);
  end_all();
}

}  // namespace

int must(int result, char const* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

Keeper::Keeper(KeptCommand const& command) {
  std::array<int, 2> ends{};
  must(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  line_ = ends[0];
  std::fflush(nullptr);
  process_ = must(::fork(), "fork");
  if (process_ == 0) {
    ::setpgid(0, 0);  // who kills our group does not kill this one
    for (int const number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
    ::prctl(PR_SET_NAME, "adamant-keeper");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t const self = ::getpid();
    pid_t const started = ::fork();
    if (started == 0) run_command(command, self);
    if (started < 0) ::_exit(1);
    keep(started, ends[1]);
  }
  ::close(ends[1]);
}

Keeper::~Keeper() {
  ::shutdown(line_, SHUT_RDWR);  // forks of this process may have it as well
  ::close(line_);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::optional<int> Keeper::status() {
  if (status_) return status_;
  int said = SIGKILL;  // without a word the keeper itself was killed, and the command with it
  ssize_t const count = ::recv(line_, &said, sizeof said, MSG_DONTWAIT);
  if (count >= 0) status_ = said;
  return status_;
}

}  // namespace adamant::scenarios
