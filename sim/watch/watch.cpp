#include "sim/watch/watch.h"

#include <algorithm>
#include <utility>

#include "sim/cuda/graph.h"
#include "sim/watch/host_memory.h"
#include "sim/world/assert.h"

namespace adamant::sim {

constinit thread_local Watch* active_watch = nullptr;

void Watch::reset(bool enabled, bool count_bytes) {
  counts_bytes_ = count_bytes;
  bytes_of_kernel_.clear();
  enabled_ = enabled;
  agent_ = nullptr;
  foreign_ = &memory_.foreign_span();
  close_open_ranges();
  closed_.clear();
  accesses_ = 0;
  peers_.clear();
  reported_.clear();
}

// ---- whose accesses these are ------------------------------------------------------------------

void Watch::begin(Agent& agent, std::uint32_t operation, bool on_device, int device) {
  agent_ = &agent;
  at_operation(operation);
  node_ = nullptr;
  on_device_ = on_device;
  device_ = device;
  block_ = 0;
  several_blocks_ = false;
  in_kernel_ = false;
  runs_code_ = true;
  anywhere_ = false;
  foreign_ = &memory_.foreign_span();
}

void Watch::host_resumes(Host& host) {
  begin(host, host.record, false, 0);
}

void Watch::host_pauses(Host& host) {
  if (agent_ == &host) flush();
  at_operation(host.record);
}

void Watch::at_operation(std::uint32_t operation) {
  operation_ = operation;
  seeking_ = world_.locations().on() && world_.locations().wants_accesses_of(operation);
  looks_closer_ = seeking_ || counts_bytes_;
}

void Watch::chunk_begins(Agent& thread, std::uint32_t record) {
  begin(thread, record, false, 0);
}

void Watch::chunk_ends(Host& host) {
  flush();
  begin(host, host.record, false, 0);
}

void Watch::operation_begins(Stream& stream, StreamOperation& operation) {
  bool const on_host = operation.kind == OperationKind::host_function;
  if (agent_ != nullptr) flush();
  begin(stream, operation.id, !on_host, stream.device);
  node_ = operation.node;
  anywhere_ = operation.kind == OperationKind::copy;
  runs_code_ = on_host || operation.kind == OperationKind::kernel;
  if (operation.kind == OperationKind::kernel) begin_kernel();
}

void Watch::begin_kernel() {
  in_kernel_ = true;
  reach_ = host_memory_span();
  reach_.join(memory_.foreign_span());
  foreign_ = &reach_;
  auto const [first, last] = world_.executor().stack();
  own_stack_ = {reinterpret_cast<std::uintptr_t>(first), reinterpret_cast<std::uintptr_t>(last)};
}

void Watch::operation_ends(Stream& stream, StreamOperation&) {
  if (agent_ == &stream) flush();
}

void Watch::set_block(std::uint32_t block) {
  if (!enabled_ || block == block_) return;
  close_open_ranges();
  block_ = block;
  several_blocks_ = true;
}

void Watch::allow_peer(int device, int peer, bool allowed) {
  auto const from = static_cast<std::size_t>(device);
  auto const to = static_cast<std::size_t>(peer);
  if (peers_.size() <= from) peers_.resize(from + 1);
  if (peers_[from].size() <= to) peers_[from].resize(to + 1);
  peers_[from][to] = allowed;
}

bool Watch::peer_allowed(int device, int peer) const {
  auto const from = static_cast<std::size_t>(device);
  auto const to = static_cast<std::size_t>(peer);
  return from < peers_.size() && to < peers_[from].size() && peers_[from][to];
}

bool Watch::place_allowed(int slot) const {
  if (slot == 0 || anywhere_) return true;
  return on_device_ && (slot - 1 == device_ || peer_allowed(device_, slot - 1));
}

// ---- gathering ranges --------------------------------------------------------------------------

void Watch::note(std::uint64_t offset, std::uint64_t bytes, AccessKind kind) {
  for (std::uint32_t i = 0; i < opened_; ++i) {
    Range& open = open_[i];
    bool const grows = open.end == offset;
    bool const inside = open.begin <= offset && offset + bytes <= open.end;
    if (open.kind != kind || !(grows || inside)) continue;
    if (grows) open.end += bytes;
    grown_ = i;
    cursor_ = i + 1 == opened_ ? 0 : i + 1;
    return;
  }
  judge_place(offset, bytes, kind);
  std::uint32_t at = opened_;
  if (opened_ < open_max) {
    ++opened_;
  } else {
    at = victim_;
    victim_ = (victim_ + 1) % open_max;
    closed_.push_back(open_[at]);
  }
  open_[at] = {offset, offset + bytes, block_, kind};
  grown_ = at;
  cursor_ = at + 1 == opened_ ? 0 : at + 1;
}

void Watch::close_open_ranges() {
  closed_.insert(closed_.end(), open_.begin(), open_.begin() + opened_);
  for (std::uint32_t i = 0; i < opened_; ++i) open_[i] = {};
  opened_ = 0;
  cursor_ = 0;
  grown_ = 0;
  victim_ = 0;
}

void Watch::range(void const* address, std::uint64_t bytes, AccessKind kind) {
  if (!enabled_ || bytes == 0) return;
  std::uint64_t const offset = region_offset(address);
  if (offset >= region_bytes) {
    if (watches_foreign(address, bytes)) foreign_access(address, bytes, kind);
    return;
  }
  if (seeking_) locate(offset, bytes, kind);
  judge_place(offset, bytes, kind);
  closed_.push_back({offset, offset + bytes, block_, kind});
  judge_range_bits(offset, bytes, kind);
}

void Watch::foreign_access(void const* address, std::uint64_t bytes, AccessKind kind) {
  if (own_stack_.meets(reinterpret_cast<std::uintptr_t>(address), bytes)) return;
  if (!enabled_ || agent_ == nullptr) return;
  if (world_.ended()) return;  // copies in flight were dropped; the heap may use their ends again
  auto const begin = reinterpret_cast<std::uintptr_t>(address);
  if (in_kernel_) judge_reach(address, bytes, kind);
  for (Allocation* allocation : memory_.foreign()) {
    std::uint64_t const from = std::max(begin, allocation->begin);
    std::uint64_t const to = std::min(begin + bytes, allocation->begin + allocation->bytes);
    if (from >= to) continue;
    if (seeking_) locate(from - allocation->begin, to - from, kind, allocation->number);
    judge_order(*allocation, from - allocation->begin, to - allocation->begin, kind);
  }
}

// Of the host's memory a kernel reaches only what is pinned, which lies in the region, or
// registered.
void Watch::judge_reach(void const* address, std::uint64_t bytes, AccessKind kind) {
  if (!is_host_memory(address)) return;
  std::uint64_t const at = reinterpret_cast<std::uintptr_t>(address);
  for (Allocation const* allocation : memory_.foreign()) {
    bool const registered = allocation->kind == AllocationKind::registered;
    if (registered && at - allocation->begin < allocation->bytes) return;
  }
  if (!repeated(Breach::of_other_device, nullptr, kind)) report_unreachable(bytes, kind);
}

void Watch::judge_registration(void const* address, std::uint64_t bytes, AccessKind kind) {
  if (!enabled_ || world_.ended() || region_offset(address) < region_bytes) return;
  if (memory_.find_present(address) == nullptr) report_unregistered(bytes, kind);
}

// ---- judging -----------------------------------------------------------------------------------

void Watch::flush() {
  if (opened_ == 0 && closed_.empty()) return;
  close_open_ranges();
  if (closed_.size() == 1) {
    judge_gathered(closed_.front());
  } else {
    judge_closed_ranges();
  }
  closed_.clear();
}

void Watch::count(std::uint32_t bytes, AccessKind kind) {
  bytes_of_kernel_[world_.record(operation_).function][static_cast<std::size_t>(kind)] += bytes;
}

std::vector<KernelBytes> Watch::kernel_bytes() const {
  std::vector<KernelBytes> all;
  for (auto const& [function, bytes] : bytes_of_kernel_)
    all.push_back({.kernel = symbol_name(function),
                   .read = bytes[0],
                   .written = bytes[1],
                   .atomic = bytes[2]});
  std::sort(all.begin(), all.end(),
            [](KernelBytes const& a, KernelBytes const& b) { return a.kernel < b.kernel; });
  return all;
}

void Watch::judge_closed_ranges() {
  std::sort(closed_.begin(), closed_.end(), [](Range const& a, Range const& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  if (several_blocks_) judge_blocks(closed_);
  for (AccessKind const kind : {AccessKind::read, AccessKind::write, AccessKind::atomic}) {
    merged_.clear();
    for (Range const& range : closed_) {
      if (range.kind != kind) continue;
      if (!merged_.empty() && range.begin <= merged_.back().end) {
        merged_.back().end = std::max(merged_.back().end, range.end);
      } else {
        merged_.push_back(range);
      }
    }
    for (Range const& range : merged_) judge_gathered(range);
  }
}

void Watch::judge_gathered(Range const& range) {
  Allocation* const allocation = memory_.find_present(region_address(range.begin));
  if (allocation == nullptr) return;  // reported when it happened
  if (Allocation const* const captured = stale_at(range.begin)) {
    report_stale(*captured, range.begin, range.end - range.begin, range.kind);
  }
  std::uint64_t const begin = range.begin - allocation->begin;
  judge_order(*allocation, begin, std::min(range.end - allocation->begin, allocation->bytes),
              range.kind);
}

void Watch::judge_order(Allocation& allocation, std::uint64_t begin, std::uint64_t end,
                        AccessKind kind) {
  Touch touch = now();
  touch.atomic = kind == AccessKind::atomic;
  conflicts_.clear();
  allocation.segments.access(
      begin, end, kind == AccessKind::write, touch, agent_->clock,
      [&](Touch const& earlier, bool earlier_writes, std::uint64_t from, std::uint64_t to) {
        for (Conflict& known : conflicts_) {  // the past of one operation comes in pieces
          if (known.end != from || known.earlier.operation != earlier.operation ||
              known.earlier_writes != earlier_writes) {
            continue;
          }
          known.end = to;
          return;
        }
        conflicts_.push_back({earlier, earlier_writes, from, to});
      });
  for (Conflict const& found : conflicts_) {
    report_conflict(allocation, {found.earlier, found.earlier_writes},
                    {touch, kind != AccessKind::read}, found.begin, found.end);
  }
}

// Blocks of one kernel are unordered: where two touch the same bytes and one writes, only atomics
// are well defined.
void Watch::judge_blocks(std::vector<Range> const& sorted) {
  // For each kind the range that extends furthest so far, and the furthest one of another block: if
  // any earlier range of another block overlaps, one of these two does.
  struct Reach {
    Range furthest;
    Range of_another;
  };
  std::array<Reach, 3> reaches;
  auto const conflicts = [](AccessKind a, AccessKind b) {
    return a != b || a == AccessKind::write;
  };
  for (Range const& range : sorted) {
    for (Reach const& reach : reaches) {
      Range const& other = reach.furthest.block != range.block ? reach.furthest : reach.of_another;
      if (range.begin >= other.end || !conflicts(range.kind, other.kind)) continue;
      report_blocks(range, other);
    }
    Reach& own = reaches[static_cast<std::size_t>(range.kind)];
    if (range.block == own.furthest.block) {
      if (range.end > own.furthest.end) own.furthest = range;
    } else if (range.end > own.furthest.end) {
      own.of_another = std::exchange(own.furthest, range);
    } else if (range.end > own.of_another.end) {
      own.of_another = range;
    }
  }
}

void Watch::report_blocks(Range const& range, Range const& other) {
  Allocation const* const allocation = memory_.find_present(region_address(range.begin));
  if (allocation == nullptr) return;  // reported when it happened
  report_conflict(*allocation, {now(), other.kind != AccessKind::read, other.block},
                  {now(), range.kind != AccessKind::read, range.block},
                  range.begin - allocation->begin,
                  std::min(range.end, other.end) - allocation->begin);
}

// What a copy or a collective moves, it moves when its stream gets there; only the call that
// enqueued it has a line. A function's accesses have lines of their own.
void Watch::locate(std::uint64_t offset, std::uint64_t bytes, AccessKind kind,
                   std::int64_t allocation) {
  if (!runs_code_) return;
  Touch const touch = now();
  world_.locations().accessed({.operation = touch.operation,
                               .agent = touch.epoch.agent,
                               .moment = touch.epoch.time,
                               .block = block_,
                               .allocation = allocation,
                               .begin = offset,
                               .end = offset + bytes,
                               .write = kind != AccessKind::read,
                               .atomic = kind == AccessKind::atomic});
}

Allocation const* Watch::stale_at(std::uint64_t offset) const {
  if (node_ == nullptr) return nullptr;
  Allocation const* stale = nullptr;
  for (Allocation const* held : node_->holds) {
    if (offset - held->begin >= held->bytes) continue;
    if (held->lifetime != Lifetime::gone) return nullptr;
    stale = held;
  }
  return stale;
}

void Watch::judge_release(Allocation& allocation, std::uint32_t operation) {
  if (!enabled_) return;
  flush();
  std::uint32_t const kept = std::exchange(operation_, operation);
  if (allocation.lifetime == Lifetime::pending) {
    report_early_release(allocation);
    operation_ = kept;
    return;
  }
  judge_order(allocation, 0, allocation.bytes, AccessKind::write);
  operation_ = kept;
}

void Watch::judge_place(std::uint64_t offset, std::uint64_t bytes, AccessKind kind) {
  int const slot = memory_.slot_of(offset);
  if (place_allowed(slot)) return;
  Allocation const* const allocation = memory_.find_present(region_address(offset));
  if (allocation == nullptr) return;  // outside of everything, which is reported as that
  if (repeated(Breach::of_other_device, allocation, kind)) return;
  Violation found = violation(Law::access_place, Breach::of_other_device);
  std::uint64_t const begin = offset - allocation->begin;
  found.accesses.push_back(describe(one(kind), allocation, begin, begin + bytes));
  found.message = on_device_
                      ? "code on device " + std::to_string(device_) + " touches memory of device " +
                            std::to_string(slot - 1) + ", to which it has no peer access"
                      : "host code touches memory of device " + std::to_string(slot - 1);
  world_.add_violation(std::move(found));
}

void Watch::judge_range_bits(std::uint64_t offset, std::uint64_t bytes, AccessKind kind) {
  std::uint64_t const end = offset + bytes;
  if (!all_set(usable_bits, offset, end)) {
    // What comes before the end of a buffer is written all the same.
    std::uint64_t const usable = first_clear(usable_bits, offset, end);
    if (kind != AccessKind::read) set_bits(written_bits, offset, usable);
    return report_outside(offset, bytes, kind);
  }
  if (kind != AccessKind::write) {
    std::uint64_t const unwritten = first_clear(written_bits, offset, end);
    if (unwritten != end) report_unwritten(unwritten, end - unwritten);
  }
  if (kind != AccessKind::read) set_bits(written_bits, offset, end);
}

}  // namespace adamant::sim
