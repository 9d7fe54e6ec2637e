// Simulated memory: which blocks exist where, which address the next one gets, and what is live.
// Addresses and reuse are open questions of real allocators: the first are drawn from the seed, the
// second is asked of Choices.
//
// It does not know who may access what, or in which order (watch/).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/cuda/places.h"
#include "sim/watch/segments.h"
#include "sim/watch/span.h"
#include "sim/world/world.h"

namespace adamant::sim {

enum class AllocationKind : std::uint8_t { device, device_async, pinned, registered, pageable };

/// `pending` until the stream reaches the allocation, `gone` from the moment its release takes
/// effect.
enum class Lifetime : std::uint8_t { pending, present, gone };

struct Allocation {
  std::uint64_t begin = 0;  // offset in the region; address if registered or pageable
  std::uint64_t bytes = 0;  // asked for
  std::uint64_t block_bytes = 0;
  int slot = 0;
  int rank = 0;
  unsigned flags = 0;
  void* pool = nullptr;      // device_async: the runtime's Pool it came from
  std::uint32_t number = 0;  // in the order of allocation: the epoch in reports
  AllocationKind kind = AllocationKind::device;
  Lifetime lifetime = Lifetime::pending;
  bool kept = false;           // somebody will refer to it when it is long gone, as a graph may
  std::uint32_t made_by = 0;   // operation ids: of the allocation, 0 where there is none,
  std::uint32_t freed_by = 0;  // and of the release, once vanished
  std::string name;
  Segments segments;
  // Pageable host memory is watched from the call of a copy until the host has waited for it.
  Touch copied;  // when its own copy ran
  int pending_copies = 0;
};

/// Who had a block before its last owner.
struct FormerOwner {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint32_t number = 0;
  std::uint32_t made_by = 0;  // operation ids, as of an Allocation
  std::uint32_t freed_by = 0;
  std::string name;
};

/// A stretch of a slot that nobody owns now.
struct FreeBlock {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  Stream* stream = nullptr;  // that releases it; null: free for everyone
  Ticket* released = nullptr;
};

class Memory {
 public:
  void reset(World& world, int devices);
  /// Gives back what the last world used.
  void clear();

  /// Returns null when the limit of the slot would be exceeded. `stream` is set for stream-ordered
  /// allocations, which may take over blocks that the same stream has released but not yet reached.
  /// `after`, if the block was released on another stream, is what the new owner must wait for.
  Allocation* allocate(int slot, std::uint64_t bytes, AllocationKind kind, Stream* stream,
                       Ticket** after);
  /// The allocation takes effect: at once, or when its stream reaches it. Does nothing for one that
  /// was released before.
  void appear(Allocation& allocation, Touch const& birth);
  /// The host's call to free: no longer live for the host.
  void mark_freed(Allocation& allocation);
  /// The release takes effect: at once, or when its stream reaches it. Poisons the block.
  void vanish(Allocation& allocation, std::uint32_t operation);
  /// The block may be used again: at once, or by everyone once `released` is done and by `stream`
  /// in its order.
  void recycle(Allocation& allocation, Stream* stream, Ticket* released);
  /// Calls visit(ticket) for what has to be reached before memory is free for everyone; null for
  /// what is.
  template <typename Visit>
  void for_each_release(Visit const& visit) const {
    for (Slot const& slot : slots_)
      for (FreeBlock const& block : slot.free) visit(block.released);
  }

  Allocation* register_host(std::uint64_t address, std::uint64_t bytes, AllocationKind kind);
  void unregister_host(Allocation& allocation);

  // What the host holds: allocated by a call and not yet freed by one.
  Allocation* find_live(void const* address);
  Allocation* find_live_base(void const* address);
  // What the executing operation sees: appeared and not yet vanished. Registered and pageable host
  // memory is always there.
  Allocation* find_present(void const* address);
  /// What was last at a place where nothing is present.
  Allocation* find_past(void const* address);
  /// Of those that had this place before who has it now, or had it last: whose it was when an
  /// operation was enqueued, or the latest of all. Null: nobody, or it is long ago.
  FormerOwner const* former_at(std::uint64_t offset, std::uint32_t operation) const;
  FormerOwner const* last_former(std::uint64_t offset) const;
  /// The nearest present allocation at or below the address in the same slot.
  Allocation* nearest_below(void const* address);
  /// The nearest that begins above it.
  Allocation* nearest_above(void const* address);
  /// All of them, in the order of addresses.
  std::vector<Allocation*> live() const;
  std::vector<Allocation*> const& foreign() const { return foreign_; }
  /// Holds all of foreign().
  Span const& foreign_span() const { return foreign_span_; }

  int slot_of(std::uint64_t offset) const { return static_cast<int>(offset / slot_bytes_); }
  std::uint64_t live_bytes(int slot) const { return slots_[static_cast<std::size_t>(slot)].live; }
  std::uint64_t limit_bytes(int slot) const { return slots_[static_cast<std::size_t>(slot)].limit; }
  std::uint64_t peak_bytes(int slot) const { return slots_[static_cast<std::size_t>(slot)].peak; }
  int slots() const { return static_cast<int>(slots_.size()); }

 private:
  struct Slot {
    std::uint64_t begin = 0;
    std::uint64_t first = 0;  // where this world's addresses begin
    std::uint64_t next = 0;   // never used beyond
    std::uint64_t limit = 0;
    std::uint64_t live = 0;
    std::uint64_t peak = 0;
    std::vector<FreeBlock> free;
  };

  struct SlotPlaces {
    Places live;     // as the host sees it
    Places present;  // as streams see it
    Places past;     // the last that vanished at each place
  };

  std::uint64_t take_block(Slot& slot, std::uint64_t bytes, Stream* stream, Ticket** after,
                           std::uint64_t& block_bytes);
  /// Of an allocation's slot.
  SlotPlaces& places_of(std::uint64_t begin) { return places_[begin / slot_bytes_]; }
  /// Of any offset: where there is no slot, there is nothing.
  SlotPlaces const& places_at(std::uint64_t offset) const;
  /// 0 when the slot's addresses are used up.
  std::uint64_t new_block(Slot& slot, std::uint64_t bytes);
  Allocation& new_allocation();
  /// One that is gone, and that no place names any more: there will be another in its stead.
  void spare(Allocation* allocation);
  void remember(Allocation const& owner);

  World* world_ = nullptr;
  std::uint64_t slot_bytes_ = region_slot_default;
  std::vector<Slot> slots_;
  std::vector<SlotPlaces> places_;    // by slot; some more than there are, for the next world
  Allocation* last_found_ = nullptr;  // of those present: accesses come in runs
  std::vector<Allocation*> foreign_;  // registered and pageable host memory
  Span foreign_span_;
  std::deque<Allocation> allocations_;
  std::size_t allocations_used_ = 0;
  std::vector<Allocation*> spare_;
  std::deque<FormerOwner> formers_;  // the latest, in the order in which others took their places
  std::uint32_t next_number_ = 0;

  static constexpr std::uint64_t region_slot_default = 1ULL << 40;
};

}  // namespace adamant::sim
