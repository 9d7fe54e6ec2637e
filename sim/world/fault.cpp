#include "sim/world/fault.h"

#include <csignal>
#include <cstddef>

#include "sim/world/assert.h"
#include "sim/world/fiber.h"

namespace adamant::sim {
namespace {

#ifdef ADAMANT_SIM_UNCHECKED_ONLY
constexpr bool handles_faults = false;
#else
constexpr bool handles_faults = true;
#endif

constexpr int signals[] = {SIGSEGV, SIGBUS};

// The judge describes what happened, with the stack that led there.
constexpr std::size_t stack_bytes = 1 << 20;

struct sigaction before[2];  // in the order of `signals`
FaultJudge judge_of_process = nullptr;
constinit thread_local bool is_watched = false;
constinit thread_local bool is_judging = false;

Fault fault_of(siginfo_t const& information, [[maybe_unused]] void const* context) {
  Fault fault;
  // The kernel tells no address of what is misaligned or no address at all.
  fault.address_known = information.si_code != SI_KERNEL;
  if (fault.address_known) fault.address = reinterpret_cast<std::uintptr_t>(information.si_addr);
#if defined(__x86_64__)
  constexpr auto was_write = 2;
  auto const& machine = static_cast<ucontext_t const*>(context)->uc_mcontext;
  fault.stack_pointer = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
  if (fault.address_known) fault.kind = machine.gregs[REG_ERR] & was_write ? "write" : "read";
#endif
  return fault;
}

// Leaving a signal handler by another stack is what siglongjmp does: nothing is blocked meanwhile,
// and the alternate stack is free again as soon as nobody runs on it.
void on_fault(int signal, siginfo_t* information, void* context) {
  bool const of_access = information->si_code > 0;  // else somebody sent it
  if (of_access && is_watched && !is_judging) {
    is_judging = true;
    Fiber* const left = judge_of_process(fault_of(*information, context));
    is_judging = false;
    if (left != nullptr) left->leave();
  }
  // The instruction runs again, and meets what would have handled it.
  sigaction(signal, &before[signal == signals[0] ? 0 : 1], nullptr);
  if (!of_access) raise(signal);
}

void install() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < 2; ++i) {
    ADAMANT_SIM_ASSERT(sigaction(signals[i], &action, &before[i]) == 0);
  }
}

}  // namespace

void watch_faults(FaultJudge judge) {
  if (!handles_faults || is_watched) return;
  // Never given back: the thread's last act may be a fault.
  stack_t const alternate = {
      .ss_sp = new std::byte[stack_bytes], .ss_flags = 0, .ss_size = stack_bytes};
  ADAMANT_SIM_ASSERT(sigaltstack(&alternate, nullptr) == 0);
  is_watched = true;
  if (judge_of_process == nullptr) install();
  judge_of_process = judge;
}

}  // namespace adamant::sim
