// The words of the judge: which accesses, by whom, and what would have ordered them.

#include <fmt/format.h>

#include <algorithm>

#include "sim/describe.h"
#include "sim/watch/watch.h"

namespace adamant::sim {
namespace {

constexpr std::size_t reported_max = 256;

std::string name_without_size(OperationRecord const& record) {
  bool const is_function =
      record.kind == OperationKind::kernel || record.kind == OperationKind::host_function;
  return is_function ? symbol_name(record.function) : record.name;
}

std::string operation_name(OperationRecord const& record) {
  switch (record.kind) {
    case OperationKind::copy:
    case OperationKind::fill:
    case OperationKind::collective:
      return fmt::format("{} of {} bytes", record.name, record.bytes);
    default:
      return name_without_size(record);
  }
}

// Of a rank, or of a thread that it started.
bool is_host(Touch const& touch, World& world) {
  return touch.epoch.agent < static_cast<std::uint32_t>(world.ranks()) ||
         world.record(touch.operation).kind == OperationKind::host;
}

std::string buffer_name(Allocation const& allocation) {
  std::string const what = allocation.name.empty() ? "buffer" : allocation.name;
  return fmt::format("{} (allocation {}, {} bytes)", what, allocation.number, allocation.bytes);
}

}  // namespace

Violation Watch::violation(Law law, Breach breach) const {
  OperationRecord const& record = world_.record(operation_);
  Violation result;
  result.law = law;
  result.breach = breach;
  result.rank = record.rank;
  result.operation = record.program_operation;
  return result;
}

std::string Watch::stream_of(Touch const& touch) const {
  for (Stream const& stream : world_.streams()) {
    if (stream.index == touch.epoch.agent) return stream.name;
  }
  return "host";
}

Access Watch::describe(Side const& side, Allocation const* allocation, std::uint64_t begin,
                       std::uint64_t end) const {
  OperationRecord const& record = world_.record(side.touch.operation);
  Access access;
  access.rank = record.rank;
  access.stream = stream_of(side.touch);
  access.operation = operation_name(record);
  access.name = name_without_size(record);
  access.kind = side.writes ? "write" : "read";
  if (allocation != nullptr) access.buffer = buffer_name(*allocation);
  access.begin = static_cast<std::int64_t>(begin);
  access.end = static_cast<std::int64_t>(end);
  access.event = world_.timeline().event_of(side.touch.operation, record, side.touch.epoch.time);
  describe_locations(access, side, allocation);
  return access;
}

void Watch::describe_locations(Access& access, Side const& side,
                               Allocation const* allocation) const {
  Locations& locations = world_.locations();
  bool const in_region = allocation != nullptr && allocation->begin < region_bytes;
  std::int64_t const heap =
      allocation == nullptr || in_region ? -1 : std::int64_t{allocation->number};
  std::uint64_t const base = in_region ? allocation->begin : 0;
  Sought const sought{.operation = side.touch.operation,
                      .agent = side.touch.epoch.agent,
                      .moment = side.touch.epoch.time,
                      .block = side.block,
                      .allocation = heap,
                      .begin = base + static_cast<std::uint64_t>(access.begin),
                      .end = base + static_cast<std::uint64_t>(access.end),
                      .write = side.writes};
  locations.seek(sought);
  access.at = locations.access(sought);
  if (world_.record(sought.operation).kind != OperationKind::host) {
    access.enqueued_at = locations.call(sought.operation);
  }
  if (std::uint32_t const captured = world_.record(sought.operation).captured; captured != 0) {
    access.captured_at = locations.line_of(captured);
  }
  if (allocation == nullptr) return;
  for (auto const& [call, location] : {std::pair{allocation->made_by, &access.allocated_at},
                                       std::pair{allocation->freed_by, &access.freed_at}}) {
    if (call != 0) *location = locations.line_of(call);
  }
}

std::string Watch::missing_edge(Touch const& earlier, Touch const& later) const {
  OperationRecord const& first = world_.record(earlier.operation);
  OperationRecord const& second = world_.record(later.operation);
  bool const first_on_host = is_host(earlier, world_);
  bool const second_on_host = is_host(later, world_);
  std::string const a = operation_name(first);
  std::string const b = operation_name(second);
  if (earlier.epoch.agent == later.epoch.agent) return "two blocks of one kernel are never ordered";
  if (first_on_host && second_on_host && first.rank == second.rank)
    return "threads of one parallel loop are not ordered";
  if (first_on_host && second_on_host)
    return "the hosts of two ranks are not ordered by any collective or barrier";
  if (first_on_host && first.rank != second.rank) {
    return fmt::format("no collective or barrier orders the host of rank {} before {} of rank {}",
                       first.rank, b, second.rank);
  }
  std::string const from = stream_of(earlier);
  if (second_on_host) {
    return fmt::format("no synchronisation of rank {}'s host with stream `{}` after {}",
                       second.rank, from, a);
  }
  return fmt::format(
      "no event recorded on stream `{}` of rank {} after {} is waited for by stream `{}` of rank "
      "{} before {}",
      from, first.rank, a, stream_of(later), second.rank, b);
}

// The host enqueued the operation and got to its own access first.
bool Watch::is_too_early(Touch const& earlier, Touch const& later) const {
  bool const of_host = is_host(earlier, world_) && !is_host(later, world_);
  return of_host && world_.record(earlier.operation).rank == world_.record(later.operation).rank;
}

void Watch::report_conflict(Allocation const& allocation, Side const& earlier, Side const& later,
                            std::uint64_t begin, std::uint64_t end) {
  auto const of_allocator = [&](Side const& side) {
    OperationKind const what = world_.record(side.touch.operation).kind;
    return what == OperationKind::allocate || what == OperationKind::release;
  };
  bool const lifetime = of_allocator(earlier) || of_allocator(later);
  Violation found =
      violation(lifetime ? Law::access_lifetime : Law::order_race, Breach::unordered_accesses);
  found.accesses.push_back(describe(earlier, &allocation, begin, end));
  found.accesses.push_back(describe(later, &allocation, begin, end));
  found.host_did_not_wait = is_too_early(earlier.touch, later.touch);
  found.missing = found.host_did_not_wait ? missing_wait(found.accesses[0], found.accesses[1])
                                          : missing_edge(earlier.touch, later.touch);
  found.message = fmt::format("{} and {} touch {} unordered", found.accesses[0].operation,
                              found.accesses[1].operation, found.accesses[0].buffer);
  for (Side const& side : {earlier, later})
    if (lifetime && !of_allocator(side) && !is_host(side.touch, world_))
      found.message += meant_at(allocation.begin + begin, side.touch.operation, allocation);
  world_.add_violation(std::move(found));
}

bool Watch::repeated(Breach breach, Allocation const* allocation, AccessKind kind) {
  Reported const report{operation_, breach, kind, allocation};
  if (std::find(reported_.begin(), reported_.end(), report) != reported_.end()) return true;
  if (reported_.size() < reported_max) reported_.push_back(report);
  return false;
}

void Watch::report_early_release(Allocation const& allocation) {
  Violation found = violation(Law::access_lifetime, Breach::freed_before_allocated);
  found.accesses.push_back(describe(one(AccessKind::write), &allocation, 0, allocation.bytes));
  found.message = fmt::format("{} is freed by {} before its allocation in stream order",
                              buffer_name(allocation), found.accesses[0].operation);
  found.missing = "the stream-ordered allocation must happen before its release";
  world_.add_violation(std::move(found));
}

void Watch::report_stale(Allocation const& captured, std::uint64_t offset, std::uint64_t bytes,
                         AccessKind kind) {
  if (repeated(Breach::freed_since_capture, &captured, kind)) return;
  Violation found = violation(Law::graph_pointer, Breach::freed_since_capture);
  std::uint64_t const begin = offset - captured.begin;
  found.accesses.push_back(describe(one(kind), &captured, begin, begin + bytes));
  Allocation const* const present = memory_.find_present(region_address(offset));
  found.message = fmt::format(
      "{} uses {}, which {} freed since its capture{}", found.accesses[0].operation,
      buffer_name(captured), world_.record(captured.freed_by).name,
      present == nullptr ? "" : fmt::format("; now {} is there", buffer_name(*present)));
  found.missing = "capture again whenever memory that the graph uses moves";
  world_.add_violation(std::move(found));
}

void Watch::report_outside(std::uint64_t offset, std::uint64_t bytes, AccessKind kind) {
  void const* const address = region_address(offset);
  if (Allocation const* const captured = stale_at(offset)) {
    return report_stale(*captured, offset, bytes, kind);
  }
  if (Allocation const* const present = memory_.find_present(address); present != nullptr) {
    if (repeated(Breach::outside, present, kind)) return;
    // Begins inside and runs out of it.
    Violation found = violation(Law::access_bounds, Breach::beyond_end);
    std::uint64_t const begin = offset - present->begin;
    found.accesses.push_back(describe(one(kind), present, begin, begin + bytes));
    found.message =
        fmt::format("{} to {} of {}: {} bytes beyond its end", found.accesses[0].kind,
                    begin + bytes, buffer_name(*present), begin + bytes - present->bytes);
    return world_.add_violation(std::move(found));
  }
  if (Allocation const* const live = memory_.find_live(address); live != nullptr) {
    if (repeated(Breach::used_before_allocated, live, kind)) return;
    Violation found = violation(Law::access_lifetime, Breach::used_before_allocated);
    std::uint64_t const begin = offset - live->begin;
    found.accesses.push_back(describe(one(kind), live, begin, begin + bytes));
    found.message =
        fmt::format("{} is used before its allocation in stream order", buffer_name(*live));
    found.missing = "the stream-ordered allocation must happen before";
    return world_.add_violation(std::move(found));
  }
  if (Allocation const* const past = memory_.find_past(address); past != nullptr) {
    if (repeated(Breach::used_after_free, past, kind)) return;
    Violation found = violation(Law::access_lifetime, Breach::used_after_free);
    std::uint64_t const begin = offset - past->begin;
    OperationRecord const& freed_by = world_.record(past->freed_by);
    found.accesses.push_back(describe(one(kind), past, begin, begin + bytes));
    found.message = fmt::format("{} is used after {} by rank {} freed it{}", buffer_name(*past),
                                freed_by.name, freed_by.rank, meant_at(offset, operation_, *past));
    return world_.add_violation(std::move(found));
  }
  report_nowhere(offset, bytes, kind);
}

// The address is all that an operation has. Whose it was when the operation was enqueued is what
// was meant; one that was enqueued later had an address that was stale already.
std::string Watch::meant_at(std::uint64_t offset, std::uint32_t operation,
                            Allocation const& owner) const {
  auto const name = [](FormerOwner const& former) {
    return fmt::format("{} (allocation {}, {} bytes)", former.name.empty() ? "buffer" : former.name,
                       former.number, former.bytes);
  };
  if (owner.made_by < operation && (owner.freed_by == 0 || operation < owner.freed_by)) return "";
  if (FormerOwner const* const meant = memory_.former_at(offset, operation))
    return fmt::format("; when this was enqueued, {} was there", name(*meant));
  bool const stale = owner.freed_by != 0 && owner.freed_by < operation;
  FormerOwner const* const before = stale ? memory_.last_former(offset) : nullptr;
  return before == nullptr ? "" : fmt::format("; before it, {} was there", name(*before));
}

// In no allocation, nor in one that was or will be: told by the buffer below, or else above.
void Watch::report_nowhere(std::uint64_t offset, std::uint64_t bytes, AccessKind kind) {
  void const* const address = region_address(offset);
  Allocation const* const below = memory_.nearest_below(address);
  Allocation const* const near = below != nullptr ? below : memory_.nearest_above(address);
  if (repeated(Breach::outside, near, kind)) return;
  Violation found = violation(Law::access_bounds, Breach::outside);
  std::uint64_t const base = near != nullptr ? near->begin : 0;
  found.accesses.push_back(describe(one(kind), near, offset - base, offset - base + bytes));
  Access& access = found.accesses.back();
  if (near == nullptr) {
    access.begin = 0;  // addresses are not told
    access.end = static_cast<std::int64_t>(bytes);
    found.message = access.kind + " of memory that nobody allocated";
  } else if (below != nullptr) {
    found.message =
        fmt::format("{} at {} of {}: outside of it", access.kind, access.begin, access.buffer);
  } else {
    found.message = fmt::format("{} {} bytes before {}", access.kind, -access.begin, access.buffer);
  }
  world_.add_violation(std::move(found));
}

void Watch::report_unregistered(std::uint64_t bytes, AccessKind kind) {
  Violation found = violation(node_ != nullptr ? Law::graph_pointer : Law::access_lifetime,
                              Breach::not_registered);
  found.accesses.push_back(describe(one(kind), nullptr, 0, bytes));
  found.accesses.back().buffer = "registered host memory";
  found.message =
      fmt::format("{} uses host memory that is no longer registered", found.accesses[0].operation);
  found.missing = fmt::format("stream `{}` must be waited for before cudaHostUnregister",
                              found.accesses[0].stream);
  world_.add_violation(std::move(found));
}

void Watch::report_unreachable(std::uint64_t bytes, AccessKind kind) {
  Violation found = violation(Law::access_place, Breach::not_reachable);
  found.accesses.push_back(describe(one(kind), nullptr, 0, bytes));
  found.accesses.back().buffer = "host memory";
  if (world_.locations().on()) found.accesses.back().at = location_of(stack_here());
  found.message = fmt::format("{} touches host memory that is neither pinned nor registered",
                              found.accesses[0].operation);
  world_.add_violation(std::move(found));
}

void Watch::report_unwritten(std::uint64_t offset, std::uint64_t bytes) {
  Allocation const* const allocation = memory_.find_present(region_address(offset));
  if (repeated(Breach::not_written, allocation, AccessKind::read)) return;
  Violation found = violation(Law::access_uninitialized, Breach::not_written);
  std::uint64_t const begin = allocation != nullptr ? offset - allocation->begin : 0;
  found.accesses.push_back(describe(one(AccessKind::read), allocation, begin, begin + bytes));
  found.message = fmt::format("{} reads {} from byte {}, which nobody has written",
                              found.accesses[0].operation, found.accesses[0].buffer, begin);
  world_.add_violation(std::move(found));
}

}  // namespace adamant::sim
