#include "sim/world/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "sim/world/assert.h"
#include "sim/world/prefetch.h"

#if defined(__SANITIZE_ADDRESS__)
#define ADAMANT_SIM_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADAMANT_SIM_ASAN
#endif
#endif
#ifdef ADAMANT_SIM_ASAN
#include <sanitizer/common_interface_defs.h>
#else
static void __sanitizer_start_switch_fiber(void**, void const*, std::size_t) {}
static void __sanitizer_finish_switch_fiber(void*, void const**, std::size_t*) {}
#endif

namespace adamant::sim {
namespace {

namespace context = boost::context;

// So much of a stack as is never used costs nothing: memory comes page by page, and small pages, as
// a huge one would be filled for the sake of a few frames. A large local variable may reach over a
// single page, so that the guard is wider.
constexpr std::size_t guard_bytes = 1 << 20;

// Stacks are mapped once, with a guard below the first ones, and kept for the next world: mapping
// one costs more than a whole small run.
class StackPool {
 public:
  explicit StackPool(std::size_t bytes) : bytes_(bytes) {}

  context::stack_context take() {
    if (free_.empty()) return map();
    context::stack_context stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void give(context::stack_context const& stack) { free_.push_back(stack); }
  bool contains(void const* address) const {
    auto const after = bases_.upper_bound(static_cast<char const*>(address));
    return after != bases_.begin() &&
           static_cast<char const*>(address) < *std::prev(after) + bytes_;
  }
  std::pair<void const*, void const*> span() const {
    if (bases_.empty()) return {};
    return {*bases_.begin(), *bases_.rbegin() + bytes_};
  }
  bool same_stack(void const* a, void const* b) const {
    return contains(a) && contains(b) &&
           bases_.upper_bound(static_cast<char const*>(a)) ==
               bases_.upper_bound(static_cast<char const*>(b));
  }

 private:
  context::stack_context map() {
    std::size_t const all = bytes_ + guard_bytes;
    void* base = mmap(nullptr, all, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    static_cast<void>(madvise(base, all, MADV_NOHUGEPAGE));  // there may be none
    bases_.insert(static_cast<char*>(base) + guard_bytes);
    if (bases_.size() <= guarded_max)
      ADAMANT_SIM_ASSERT(mprotect(base, guard_bytes, PROT_NONE) == 0);
    context::stack_context stack;
    stack.size = all;
    stack.sp = static_cast<char*>(base) + stack.size;
    return stack;
  }

  // A guard splits a mapping, and a process may have some 65,000 of them.
  static constexpr std::size_t guarded_max = 8192;

  std::size_t bytes_;
  std::set<char const*> bases_;  // the lowest usable byte of each stack that was mapped
  std::vector<context::stack_context> free_;
};

// What a program may rely on elsewhere: a process has 8 MiB, and a thread of a device may have 512
// KiB of local memory; what runs it here has frames of its own.
constexpr std::size_t host_bytes = 8 << 20;
constexpr std::size_t device_thread_bytes = (512 + 64) << 10;

StackPool& pool(Fiber::StackSize size) {
  // Never destroyed: a process may end while a fiber runs.
  static StackPool& ranks = *new StackPool(host_bytes);
  static StackPool& operations = *new StackPool(host_bytes);
  static StackPool& device_threads = *new StackPool(device_thread_bytes);
  switch (size) {
    case Fiber::StackSize::rank:
      return ranks;
    case Fiber::StackSize::operation:
      return operations;
    case Fiber::StackSize::device_thread:
      break;
  }
  return device_threads;
}

struct PooledStack {
  Fiber::StackSize size;
  void deallocate(context::stack_context& stack) { pool(size).give(stack); }
};

// libstdc++ keeps the caught exceptions and the count of uncaught ones of the OS thread here.
class ExceptionState {
 public:
  ExceptionState() { std::memcpy(bytes_, abi::__cxa_get_globals(), sizeof bytes_); }
  void restore() const {
    std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), bytes_, sizeof bytes_);
  }
  static void clear() {
    std::memset(static_cast<void*>(abi::__cxa_get_globals()), 0, sizeof bytes_);
  }

 private:
  unsigned char bytes_[2 * sizeof(void*)];
};

// A context that is destroyed unwinds its stack, which one that was left for good cannot.
void keep_for_ever(context::fiber left) {
  static auto& all = *new std::vector<context::fiber>;
  all.push_back(std::move(left));
}

}  // namespace

bool Fiber::is_on_a_stack(void const* address) {
  return pool(StackSize::rank).contains(address) || pool(StackSize::operation).contains(address) ||
         pool(StackSize::device_thread).contains(address);
}

bool Fiber::is_on_rank_stack(void const* address) {
  return pool(StackSize::rank).contains(address);
}

std::pair<void const*, void const*> Fiber::rank_stacks() {
  return pool(StackSize::rank).span();
}

bool Fiber::is_beyond_frame(void const* address, void const* frame) {
  return address < frame && pool(StackSize::rank).same_stack(address, frame);
}

Fiber::~Fiber() {
  ADAMANT_SIM_ASSERT(!alive_);
}

void Fiber::start(StackSize size, std::function<void()> body) {
  ADAMANT_SIM_ASSERT(!alive_);
  alive_ = true;
  body_ = std::move(body);
  stack_ = pool(size).take();
  inside_ =
      context::fiber(std::allocator_arg, context::preallocated(stack_.sp, stack_.size, stack_),
                     PooledStack{size}, [this](context::fiber&& outside) {
                       enter(std::move(outside));
                       return std::move(outside_);
                     });
}

void Fiber::enter(context::fiber&& outside) {
  __sanitizer_finish_switch_fiber(nullptr, &outside_bottom_, &outside_size_);
  outside_ = std::move(outside);
  ExceptionState::clear();
  body_();
  body_ = nullptr;
  alive_ = false;
  __sanitizer_start_switch_fiber(nullptr, outside_bottom_, outside_size_);
}

void Fiber::resume() {
  ADAMANT_SIM_ASSERT(alive_);
  ExceptionState const kept;
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, static_cast<char*>(stack_.sp) - stack_.size,
                                 stack_.size);
  inside_ = std::move(inside_).resume();
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
  if (!alive_ && inside_) keep_for_ever(std::move(inside_));
  kept.restore();
}

void Fiber::suspend() {
  ExceptionState const kept;
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, outside_bottom_, outside_size_);
  suspended_at_ = __builtin_frame_address(0);
  outside_ = std::move(outside_).resume();
  __sanitizer_finish_switch_fiber(fake_stack, &outside_bottom_, &outside_size_);
  kept.restore();
}

// Below the frame lie the registers that are restored, above it the frames that return.
void Fiber::prefetch() const {
  constexpr std::size_t below = 320;
  constexpr std::size_t above = 512;
  if (suspended_at_ == nullptr) return;
  adamant::sim::prefetch(static_cast<char const*>(suspended_at_) - below, below + above);
}

void Fiber::leave() {
  alive_ = false;
  __sanitizer_start_switch_fiber(nullptr, outside_bottom_, outside_size_);
  outside_ = std::move(outside_).resume();
  std::abort();  // nobody resumes what has ended
}

}  // namespace adamant::sim
