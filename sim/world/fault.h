// Accesses that the machine refuses, as those of a null pointer: whoever judges the program hears
// of them before the process dies of them.
#pragma once

#include <cstdint>

namespace adamant::sim {

class Fiber;

/// An access that the machine refused.
struct Fault {
  std::uintptr_t address = 0;  // 0 where it is not told, as of a misaligned vector
  bool address_known = false;
  char const* kind = "access";       // "read" or "write" where the machine tells
  std::uintptr_t stack_pointer = 0;  // of who made it; 0 where the machine does not tell
};

/// Returns what cannot go on after `fault` and is left for good, or null: then the fault is
/// nobody's that it knows, and the process dies of it as it would have done. It runs on a stack of
/// its own.
using FaultJudge = Fiber* (*)(Fault const& fault);

/// From now on `judge` hears of the faults of the calling thread. Whatever handled SIGSEGV and
/// SIGBUS before does so where `judge` returns null. Where the address sanitizer is at work,
/// nothing happens: it has a report of its own.
void watch_faults(FaultJudge judge);

}  // namespace adamant::sim
