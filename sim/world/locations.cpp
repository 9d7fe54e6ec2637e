#include "sim/world/locations.h"

#include <unwind.h>

#include <cstdint>

namespace adamant::sim {
namespace {

constexpr std::size_t frames_max = 64;

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* result) {
  auto& stack = *static_cast<Stack*>(result);
  // All but a signal's are return addresses, behind the call: that one is made alike.
  int is_before_instruction = 0;
  std::uintptr_t const at = _Unwind_GetIPInfo(context, &is_before_instruction);
  stack.push_back(reinterpret_cast<void const*>(at + (is_before_instruction != 0 ? 1 : 0)));
  return stack.size() < frames_max ? _URC_NO_REASON : _URC_END_OF_STACK;
}

bool is_same_moment(Sought const& a, Sought const& b) {
  bool const same_block = b.block == Sought::any_block || a.block == b.block;
  return a.agent == b.agent && a.moment == b.moment && same_block && a.allocation == b.allocation;
}

}  // namespace

Stack stack_here() {
  Stack stack;
  _Unwind_Backtrace(add_frame, &stack);
  if (!stack.empty()) stack.erase(stack.begin());
  return stack;
}

void Locations::reset(std::vector<Sought> const* sought) {
  on_ = sought != nullptr;
  pending_.clear();
  asked_.clear();
  calls_.clear();
  accesses_.clear();
  named_.clear();
  if (!on_) return;
  for (Sought const& what : *sought) {
    calls_.try_emplace(what.operation);
    if (what.begin < what.end) accesses_.insert({what.operation, {what, {}}});
  }
}

void Locations::settle(bool told) {
  if (told) asked_.insert(asked_.end(), pending_.begin(), pending_.end());
  pending_.clear();
}

void Locations::keep_call(std::uint32_t operation) {
  auto const found = calls_.find(operation);
  if (found != calls_.end()) found->second = stack_here();
}

bool Locations::wants_accesses_of(std::uint32_t operation) const {
  return on_ && accesses_.contains(operation);
}

void Locations::accessed(Sought const& access) {
  auto [found, end] = accesses_.equal_range(access.operation);
  for (; found != end; ++found) {
    Sought const& sought = found->second.sought;
    bool const overlaps = access.begin < sought.end && sought.begin < access.end;
    bool const fits = access.write == sought.write || access.atomic;
    if (!overlaps || !fits || !is_same_moment(access, sought)) continue;
    if (found->second.stack.empty()) found->second.stack = stack_here();
  }
}

Location const& Locations::named(Stack const& stack) const {
  auto const [known, is_new] = named_.try_emplace(stack);
  if (is_new) known->second = location_of(stack);
  return known->second;
}

Location Locations::call(std::uint32_t operation) const {
  auto const found = calls_.find(operation);
  return found == calls_.end() ? Location{} : named(found->second);
}

Location Locations::access(Sought const& access) const {
  auto [found, end] = accesses_.equal_range(access.operation);
  for (; found != end; ++found)
    if (found->second.sought == access) return named(found->second.stack);
  return {};
}

}  // namespace adamant::sim
