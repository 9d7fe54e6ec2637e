// A rank, or a thread of an emulated block, as a fiber: code with a stack of its own that is
// resumed and suspends itself. All fibers of a world share one OS thread.
//
// Not said: who is resumed next (world.h), or what suspending means to the race checker (watch/).
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <functional>
#include <utility>

namespace adamant::sim {

/// 1. A fiber is destroyed only when its function has returned or was left for good: a suspended
///    stack is never dropped.
/// 2. The exception state of the C++ runtime is a fiber's own: two fibers may both be inside catch.
class Fiber {
 public:
  enum class StackSize { rank, operation, device_thread };

  Fiber() = default;
  Fiber(Fiber const&) = delete;  // a suspended stack holds its address
  Fiber& operator=(Fiber const&) = delete;
  ~Fiber();

  /// Prepares `body`; nothing runs yet. REQUIRES: `body` throws nothing.
  void start(StackSize size, std::function<void()> body);
  /// Runs the fiber until it suspends or ends. Called from outside of it.
  void resume();
  /// Returns to whoever resumed this fiber. Called from inside of it.
  void suspend();
  /// Like suspend(), but nothing ever comes back here: the fiber counts as ended, its stack and
  /// what lies on it stay as they are, for ever. For code that cannot go on and cannot be unwound,
  /// as after a bad address. May be called on another stack than the fiber's own, if its code led
  /// there.
  [[noreturn]] void leave();
  /// Does this address belong to the stack of a fiber, of this world or an earlier one?
  static bool is_on_a_stack(void const* address);
  /// Does this address belong to the stack of a rank, of this world or an earlier one?
  static bool is_on_rank_stack(void const* address);
  /// From the lowest to behind the highest byte of all of them.
  static std::pair<void const*, void const*> rank_stacks();
  /// Are both on the stack of one rank, and does `address` lie beyond the frame, where stacks grow?
  static bool is_beyond_frame(void const* address, void const* frame);
  /// From the lowest to behind the highest byte of its own stack. REQUIRES: alive().
  std::pair<void const*, void const*> stack() const {
    return {static_cast<char const*>(stack_.sp) - stack_.size, stack_.sp};
  }
  /// Asks the processor for what resume() will touch first, so that it comes while others run.
  void prefetch() const;
  /// Started and not yet at its end.
  bool alive() const { return alive_; }

 private:
  void enter(boost::context::fiber&& outside);

  boost::context::fiber inside_;
  boost::context::fiber outside_;
  std::function<void()> body_;
  bool alive_ = false;
  void const* suspended_at_ = nullptr;  // the frame of the last suspend()
  // For AddressSanitizer, which has to be told of every change of stacks.
  boost::context::stack_context stack_;
  void const* outside_bottom_ = nullptr;
  std::size_t outside_size_ = 0;
};

}  // namespace adamant::sim
