#include "sim/broken_off.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

AtBreakOff* innermost = nullptr;
bool is_registered = false;  // a process calls what it has registered once
// Of these a process dies that cannot go on: by itself, or by an instruction that it may not
// execute.
constexpr int signals[] = {SIGABRT, SIGFPE, SIGILL, SIGTRAP};
struct sigaction before[std::size(signals)];

// Whoever aborts may hold a lock that telling needs: then the process ends by this.
constexpr unsigned telling_seconds_max = 150;

}  // namespace

void tell_once() {
  AtBreakOff* const last = std::exchange(innermost, nullptr);
  if (last != nullptr) last->tell_();
}

namespace {

void on_exit() {
  is_registered = false;
  tell_once();
}

void on_signal(int signal) {
  alarm(telling_seconds_max);
  tell_once();
  for (std::size_t i = 0; i < std::size(signals); ++i)
    if (signals[i] == signal) sigaction(signal, &before[i], nullptr);
  raise(signal);
}

void register_all() {
  if (is_registered) return;
  is_registered = true;
  ADAMANT_SIM_ASSERT(std::atexit(on_exit) == 0);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction present;
    ADAMANT_SIM_ASSERT(sigaction(signals[i], &action, &present) == 0);
    if (present.sa_handler != on_signal) before[i] = present;
  }
}

}  // namespace

AtBreakOff::AtBreakOff(std::function<void()> tell)
    : tell_(std::move(tell)), outer_(std::exchange(innermost, this)) {
  register_all();
}

AtBreakOff::~AtBreakOff() {
  innermost = outer_;
}

}  // namespace adamant::sim
