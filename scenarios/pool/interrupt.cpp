#include "scenarios/pool/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace adamant::scenarios {

namespace {

volatile std::sig_atomic_t seen = 0;
auto last_moment = std::chrono::steady_clock::time_point::max();
int pipe_ends[2] = {-1, -1};

void on_signal(int) {
  int const saved = errno;
  seen = 1;
  [[maybe_unused]] auto const written = ::write(pipe_ends[1], "x", 1);
  errno = saved;
}

void react(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

void watch_for_interrupts() {
  if (pipe_ends[0] < 0 && ::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  react(on_signal);
  // A file that outgrows its limit is then an error of writing, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
}

void ignore_interrupts() {
  react(SIG_IGN);
  stop_waiting_at({});
}

bool interrupted() {
  return seen != 0;
}

void stop_waiting_at(std::optional<std::chrono::steady_clock::time_point> when) {
  last_moment = when.value_or(std::chrono::steady_clock::time_point::max());
}

std::chrono::steady_clock::time_point waiting_ends() {
  return last_moment;
}

bool must_stop() {
  return interrupted() || std::chrono::steady_clock::now() >= last_moment;
}

int interrupt_descriptor() {
  return pipe_ends[0];
}

}  // namespace adamant::scenarios
