// What a fault says of the program: the access, by whom, and what its address may be.

#include <fmt/format.h>

#include <algorithm>

#include "sim/cuda/shared_memory.h"
#include "sim/watch/watch.h"
#include "sim/world/fault.h"

namespace adamant::sim {
namespace {

// No program has memory below: what lies here is a null pointer and an offset.
constexpr std::uint64_t null_page_bytes = 64 << 10;

// Who has used up a stack points below it, wherever the access itself went: frames of large local
// variables reach far.
bool has_used_up_stack(Fault const& fault) {
  return fault.stack_pointer != 0 &&
         !Fiber::is_on_a_stack(reinterpret_cast<void const*>(fault.stack_pointer));
}

// Addresses themselves differ from process to process, so that only small ones are told.
std::string place_of(Fault const& fault) {
  if (has_used_up_stack(fault))
    return "the end of its stack: local variables or recursion need more than there is";
  if (!fault.address_known) {
    return "an address that is not aligned as the type asks, or that no memory can have";
  }
  if (fault.address < null_page_bytes)
    return fmt::format("address {:#x}: its pointer is null", fault.address);
  if (auto const behind = bytes_behind_shared(fault.address)) {
    return fmt::format("byte {} behind the {} bytes of dynamic shared memory", *behind,
                       dynamic_shared_bytes());
  }
  return "an address where no memory is";
}

}  // namespace

void Watch::report_fault(Fault const& fault) {
  flush();
  Violation found = violation(Law::access_bounds, Breach::bad_address);
  Access access = describe(one(AccessKind::read), nullptr, fault.address, fault.address);
  access.kind = fault.kind;
  if (world_.locations().on()) access.at = location_of(stack_here());
  found.message = fmt::format("{} touches {}", access.operation, place_of(fault));
  found.accesses.push_back(std::move(access));
  world_.add_violation(std::move(found));
}

void Watch::report_index(std::int64_t index, std::string_view array) {
  flush();
  Violation found = violation(Law::access_bounds, Breach::beyond_end);
  Access access = describe(one(AccessKind::read), nullptr, 0, 0);
  access.kind = "access";
  if (world_.locations().on()) access.at = location_of(stack_here());
  std::string type(array);  // g++ writes float [4] where clang++ writes float[4]
  if (auto const blank = type.find(" ["); blank != type.npos) type.erase(blank, 1);
  found.message =
      fmt::format("{} takes element {} of an array `{}`", access.operation, index, type);
  found.accesses.push_back(std::move(access));
  world_.add_violation(std::move(found));
  world_.end();
}

void Watch::report_alignment(std::uint64_t offset, std::uint32_t alignment, AccessKind kind,
                             std::string_view type) {
  if (!in_kernel_) return;
  Allocation const* const allocation = memory_.find_present(region_address(offset));
  if (repeated(Breach::misaligned, allocation, kind)) return;
  if (seeking_) locate(offset, alignment, kind);  // which comes with the access itself, after this
  Violation found = violation(Law::access_bounds, Breach::misaligned);
  std::uint64_t const begin = allocation != nullptr ? offset - allocation->begin : 0;
  found.accesses.push_back(describe(one(kind), allocation, begin, begin + alignment));
  found.message =
      fmt::format("{} takes a `{}` at byte {} of {}, which {} does not divide",
                  found.accesses[0].operation, type, begin, found.accesses[0].buffer, alignment);
  world_.add_violation(std::move(found));
}

}  // namespace adamant::sim
