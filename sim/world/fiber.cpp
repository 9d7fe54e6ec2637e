#include "sim/world/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

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

// Stacks are mapped once, with a guard page below the first ones, and kept for the next world:
// mapping one costs more than a whole small run.
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
  bool is_below_one(void const* address) const {
    auto const above = bases_.upper_bound(static_cast<char const*>(address));
    return above != bases_.end() && *above - static_cast<char const*>(address) <= page_bytes();
  }
  bool same_stack(void const* a, void const* b) const {
    return contains(a) && contains(b) &&
           bases_.upper_bound(static_cast<char const*>(a)) ==
               bases_.upper_bound(static_cast<char const*>(b));
  }

 private:
  static long page_bytes() { return sysconf(_SC_PAGESIZE); }
  context::stack_context map() {
    auto const page = static_cast<std::size_t>(page_bytes());
    void* base = mmap(nullptr, bytes_ + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    bases_.insert(static_cast<char*>(base) + page);
    if (bases_.size() <= guarded_max) ADAMANT_SIM_ASSERT(mprotect(base, page, PROT_NONE) == 0);
    context::stack_context stack;
    stack.size = bytes_ + page;
    stack.sp = static_cast<char*>(base) + stack.size;
    return stack;
  }

  // A guard page splits a mapping, and a process may have some 65,000 of them.
  static constexpr std::size_t guarded_max = 8192;

  std::size_t bytes_;
  std::set<char const*> bases_;  // the lowest usable byte of each stack that was mapped
  std::vector<context::stack_context> free_;
};

StackPool& pool(Fiber::StackSize size) {
  // Never destroyed: a process may end while a fiber runs.
  static StackPool& ranks = *new StackPool(512 << 10);
  static StackPool& operations = *new StackPool(512 << 10);
  static StackPool& device_threads = *new StackPool(64 << 10);
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

bool Fiber::is_below_a_stack(void const* address) {
  return pool(StackSize::rank).is_below_one(address) ||
         pool(StackSize::operation).is_below_one(address) ||
         pool(StackSize::device_thread).is_below_one(address);
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
