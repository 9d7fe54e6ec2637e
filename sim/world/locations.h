// Where in the source the accesses and calls of a violation are. A run that found a violation is
// repeated with its choices, and the repetition keeps the stacks of what the violation is about.
// So nothing is spent on lines while nothing is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/sim.h"

namespace adamant::sim {

/// Return addresses, the innermost first.
using Stack = std::vector<void const*>;

/// The calling code's stack, without this function.
Stack stack_here();

/// The innermost frame of the program itself and those that called it: frames of the simulator, of
/// its headers and of the standard library are passed over, inlined ones are told apart. Without
/// debug information it is empty.
Location location_of(Stack const& stack);

class Locations {
 public:
  /// `sought`: what to watch for; null in a first run.
  void reset(std::vector<Sought> const* sought);
  /// Is this the second run?
  bool on() const { return on_; }

  // ---- the first run notes what a second one has to watch for ----
  void seek(Sought const& what) {
    if (!on_) pending_.push_back(what);
  }
  /// Is the violation that they are about told? One that is folded into another is not, and its
  /// lines need no watching.
  void settle(bool told);
  std::vector<Sought> take_asked() { return std::move(asked_); }

  /// The line of the call that added this record; before the second run, that run is asked for it.
  Location line_of(std::uint32_t record) {
    seek({.operation = record});
    return call(record);
  }

  // ---- the second run ----
  /// An operation is being made: by whom, if anybody asked?
  void made(std::uint32_t operation) {
    if (on_) keep_call(operation);
  }
  bool wants_accesses_of(std::uint32_t operation) const;
  /// An access happens now: is it one that somebody asked for? `allocation` is that of Sought.
  void accessed(Sought const& access);

  Location call(std::uint32_t operation) const;
  Location access(Sought const& access) const;

 private:
  struct Access {
    Sought sought;
    Stack stack;
  };

  void keep_call(std::uint32_t operation);
  Location const& named(Stack const& stack) const;

  bool on_ = false;
  std::vector<Sought> pending_;  // since a violation was told or not
  std::vector<Sought> asked_;
  std::map<std::uint32_t, Stack> calls_;
  std::multimap<std::uint32_t, Access> accesses_;  // by operation
  mutable std::map<Stack, Location> named_;        // a loop's calls have one stack
};

}  // namespace adamant::sim
