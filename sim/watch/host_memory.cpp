#include "sim/watch/host_memory.h"

#include <unistd.h>

#include <cstdint>

#include "sim/world/fiber.h"

// The linker's name for the end of the program's own data, above which the heap begins.
extern "C" char const end[];

namespace adamant::sim {
namespace {

bool is_in_heap(void const* address) {
  return address >= end && address < sbrk(0);
}

// A static program keeps its thread-local variables in the heap, and with them shared memory.
bool heap_is_pure() {
  static thread_local char const local = 0;
  static bool const pure = !is_in_heap(&local);
  return pure;
}

}  // namespace

bool is_host_memory(void const* address) {
  if (is_in_heap(address)) return heap_is_pure();
  return Fiber::is_on_rank_stack(address);
}

Span host_memory_span() {
  auto const at = [](void const* address) { return reinterpret_cast<std::uintptr_t>(address); };
  Span span{at(end), at(sbrk(0))};
  auto const [first, last] = Fiber::rank_stacks();
  span.join({at(first), at(last)});
  return span;
}

}  // namespace adamant::sim
