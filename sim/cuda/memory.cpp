#include "sim/cuda/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "sim/cuda/poison.h"
#include "sim/cuda/region.h"
#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

constexpr std::uint64_t alignment = 512;
// Blocks from here on are used again whenever that is legal, so that a long run stays in memory.
constexpr std::uint64_t large_bytes = 1 << 20;
constexpr std::size_t reuse_candidates_max = 3;
// Where so many blocks would do, it is one of them: a long run goes on with those that it has.
constexpr std::size_t blocks_enough = 8;
// What a finished world may keep resident in each slot for the next one.
constexpr std::uint64_t resident_bytes_max = 1 << 20;
constexpr std::size_t slots_kept_max = 64;
constexpr std::size_t formers_max = 1024;
constexpr std::size_t allocations_kept_max = 32'768;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

void Memory::reset(World& world, int devices) {
  world_ = &world;
  auto const count = static_cast<std::size_t>(devices) + 1;
  std::uint64_t const slot_bytes = region_bytes / std::bit_ceil(count);
  if (slots_.size() < count || slot_bytes_ != slot_bytes) {
    // What many old slots kept resident may lie where no slot would use it again. A few slots come
    // and go with every small world, and then their pages serve again.
    if (slots_.size() > slots_kept_max) {
      for (Slot const& slot : slots_) Region::discard(slot.begin, slot.begin + resident_bytes_max);
    }
    slot_bytes_ = slot_bytes;
    slots_.assign(count, {});
  }
  slots_.resize(count);
  places_.resize(std::max(count, std::min(places_.size(), slots_kept_max)));
  for (std::size_t s = 0; s < count; ++s) {
    Slot& slot = slots_[s];
    slot.begin = s * slot_bytes_;
    slot.first = slot.begin + alignment * (1 + world.addresses().below(64));
    slot.next = slot.first;
    slot.limit = std::min<std::uint64_t>(
        s == 0 ? world.options().pinned_bytes : world.options().device_bytes, slot_bytes_ / 2);
    slot.live = 0;
    slot.peak = 0;
    slot.free.clear();
  }
  allocations_used_ = 0;
  spare_.clear();
  formers_.clear();
  next_number_ = 0;
}

void Memory::clear() {
  bool const maps = world_->options().checked;
  for (Slot const& slot : slots_) {
    if (slot.next == slot.first) continue;
    if (maps) Region::clear_maps(slot.begin, slot.next);
    Region::discard(slot.begin + resident_bytes_max,
                    std::max(slot.next, slot.begin + resident_bytes_max));
  }
  spare_.clear();
  if (allocations_.size() > allocations_kept_max) allocations_.clear();
  for (SlotPlaces& places : places_) {
    places.live.clear();
    places.present.clear();
    places.past.clear();
  }
  last_found_ = nullptr;
  foreign_.clear();
  foreign_span_ = {};
}

Allocation& Memory::new_allocation() {
  bool const again = !spare_.empty();
  if (!again && allocations_used_ == allocations_.size()) allocations_.emplace_back();
  Allocation& allocation = again ? *spare_.back() : allocations_[allocations_used_++];
  if (again) spare_.pop_back();
  allocation.number = next_number_++;
  allocation.rank = world_->host()->rank;
  allocation.flags = 0;
  allocation.lifetime = Lifetime::pending;
  allocation.pool = nullptr;
  allocation.made_by = 0;
  allocation.freed_by = 0;
  allocation.pending_copies = 0;
  allocation.kept = false;
  allocation.copied = {};
  allocation.name.clear();
  return allocation;
}

void Memory::spare(Allocation* allocation) {
  if (allocation != nullptr && !allocation->kept) spare_.push_back(allocation);
}

void Memory::remember(Allocation const& owner) {
  if (formers_.size() == formers_max) formers_.pop_front();
  formers_.push_back({.begin = owner.begin,
                      .bytes = owner.bytes,
                      .number = owner.number,
                      .made_by = owner.made_by,
                      .freed_by = owner.freed_by,
                      .name = owner.name});
}

FormerOwner const* Memory::former_at(std::uint64_t offset, std::uint32_t operation) const {
  auto const found =
      std::find_if(formers_.rbegin(), formers_.rend(), [&](FormerOwner const& former) {
        return offset - former.begin < former.bytes && former.made_by < operation &&
               operation < former.freed_by;
      });
  return found == formers_.rend() ? nullptr : &*found;
}

FormerOwner const* Memory::last_former(std::uint64_t offset) const {
  auto const found =
      std::find_if(formers_.rbegin(), formers_.rend(),
                   [&](FormerOwner const& former) { return offset - former.begin < former.bytes; });
  return found == formers_.rend() ? nullptr : &*found;
}

Allocation* Memory::allocate(int slot_index, std::uint64_t bytes, AllocationKind kind,
                             Stream* stream, Ticket** after) {
  ADAMANT_SIM_ASSERT(bytes > 0);
  Slot& slot = slots_[static_cast<std::size_t>(slot_index)];
  if (bytes > slot.limit || slot.live + bytes > slot.limit) return nullptr;
  std::uint64_t block_bytes = 0;
  std::uint64_t const begin = take_block(slot, bytes, stream, after, block_bytes);
  if (begin == 0) return nullptr;
  Allocation& allocation = new_allocation();
  allocation.kind = kind;
  allocation.slot = slot_index;
  allocation.bytes = bytes;
  allocation.begin = begin;
  allocation.block_bytes = block_bytes;
  slot.live += bytes;
  slot.peak = std::max(slot.peak, slot.live);
  places_of(begin).live.put(begin, &allocation);
  return &allocation;
}

std::uint64_t Memory::take_block(Slot& slot, std::uint64_t bytes, Stream* stream, Ticket** after,
                                 std::uint64_t& block_bytes) {
  std::uint64_t const wanted = round_up(bytes, alignment);
  std::array<std::size_t, reuse_candidates_max> fits{};  // most recently freed first
  std::size_t all = 0;
  for (std::size_t i = slot.free.size(); i-- > 0 && all < blocks_enough;) {
    FreeBlock const& block = slot.free[i];
    bool const legal = block.released == nullptr || block.released->done || block.stream == stream;
    bool const fit = legal && block.bytes >= wanted && block.bytes <= wanted + wanted / 4;
    if (fit && all < fits.size()) fits[all] = i;
    if (fit) ++all;
  }
  auto const count = static_cast<std::uint32_t>(std::min(all, fits.size()));
  bool const may_be_new = wanted < large_bytes && all < blocks_enough;
  std::uint32_t const choice = count == 0 || wanted >= large_bytes
                                   ? 0
                                   : world_->choices().pick(count + (may_be_new ? 1 : 0));
  if (choice == count) {
    block_bytes = wanted;
    return new_block(slot, wanted);
  }
  FreeBlock const block = slot.free[fits[choice]];
  slot.free.erase(slot.free.begin() + static_cast<std::ptrdiff_t>(fits[choice]));
  world_->choices().mark(CoverageMark::memory_reused);
  world_->choices().mark(CoverageMark::memory_reused_late,
                         block.released != nullptr && block.stream != stream);
  if (block.released != nullptr && block.stream != stream && after != nullptr)
    *after = block.released;
  block_bytes = block.bytes;
  return block.begin;
}

std::uint64_t Memory::new_block(Slot& slot, std::uint64_t bytes) {
  std::uint64_t const begin = slot.next;
  // At least one unit lies between two blocks, so that running out of one never reaches another.
  // More would let small blocks of many ranks have a page each, which an unchecked world, whose
  // time is that of the caches, has no use for.
  std::uint64_t const more = world_->options().checked ? world_->addresses().below(8) : 0;
  std::uint64_t const next = begin + bytes + alignment * (1 + more);
  if (next > slot.begin + slot_bytes_) return 0;
  slot.next = next;
  if (bytes >= large_bytes) Region::prefer_large_pages(begin, begin + bytes);
  poison(*world_, begin, bytes);
  return begin;
}

void Memory::appear(Allocation& allocation, Touch const& birth) {
  if (allocation.lifetime == Lifetime::gone) return;
  allocation.lifetime = Lifetime::present;
  allocation.made_by = birth.operation;
  SlotPlaces& places = places_of(allocation.begin);
  places.present.put(allocation.begin, &allocation);
  Allocation* const past = places.past.at(allocation.begin);
  if (past != nullptr && world_->options().checked) remember(*past);
  spare(past);
  places.past.remove(allocation.begin);
  if (!world_->options().checked) return;
  allocation.segments.reset(allocation.bytes, birth);
  set_bits(usable_bits, allocation.begin, allocation.begin + allocation.bytes);
}

void Memory::mark_freed(Allocation& allocation) {
  slots_[static_cast<std::size_t>(allocation.slot)].live -= allocation.bytes;
  places_of(allocation.begin).live.remove(allocation.begin);
}

void Memory::vanish(Allocation& allocation, std::uint32_t operation) {
  allocation.freed_by = operation;
  bool const appeared = std::exchange(allocation.lifetime, Lifetime::gone) == Lifetime::present;
  if (!appeared) return;
  SlotPlaces& places = places_of(allocation.begin);
  places.present.remove(allocation.begin);
  if (last_found_ == &allocation) last_found_ = nullptr;
  places.past.put(allocation.begin, &allocation);
  poison(*world_, allocation.begin, allocation.bytes);
  if (!world_->options().checked) return;
  clear_bits(usable_bits, allocation.begin, allocation.begin + allocation.bytes);
  clear_bits(written_bits, allocation.begin, allocation.begin + allocation.bytes);
}

void Memory::recycle(Allocation& allocation, Stream* stream, Ticket* released) {
  slots_[static_cast<std::size_t>(allocation.slot)].free.push_back(
      {allocation.begin, allocation.block_bytes, stream, released});
}

Allocation* Memory::register_host(std::uint64_t address, std::uint64_t bytes, AllocationKind kind) {
  Allocation& allocation = new_allocation();
  allocation.kind = kind;
  allocation.slot = 0;
  allocation.begin = address;
  allocation.bytes = bytes;
  allocation.lifetime = Lifetime::present;
  foreign_.push_back(&allocation);
  foreign_span_.join({address, address + bytes});
  return &allocation;
}

void Memory::unregister_host(Allocation& allocation) {
  allocation.lifetime = Lifetime::gone;
  std::erase(foreign_, &allocation);
  foreign_span_ = {};
  for (Allocation const* left : foreign_) {
    foreign_span_.join({left->begin, left->begin + left->bytes});
  }
  spare(&allocation);
}

namespace {

Allocation* containing(Places const& places, std::uint64_t offset) {
  Allocation* const allocation = places.at_or_below(offset);
  bool const inside = allocation != nullptr && offset < allocation->begin + allocation->bytes;
  return inside ? allocation : nullptr;
}

}  // namespace

Memory::SlotPlaces const& Memory::places_at(std::uint64_t offset) const {
  static SlotPlaces const& nothing = *new SlotPlaces;
  auto const slot = offset / slot_bytes_;
  return slot < slots_.size() ? places_[slot] : nothing;
}

std::vector<Allocation*> Memory::live() const {
  std::size_t count = 0;
  for (SlotPlaces const& places : places_) count += places.live.size();
  std::vector<Allocation*> live;
  live.reserve(count);
  for (SlotPlaces const& places : places_)
    for (Places::Entry const& entry : places.live) live.push_back(entry.allocation);
  return live;
}

Allocation* Memory::find_live(void const* address) {
  std::uint64_t const offset = region_offset(address);
  return containing(places_at(offset).live, offset);
}

Allocation* Memory::find_live_base(void const* address) {
  std::uint64_t const offset = region_offset(address);
  return places_at(offset).live.at(offset);
}

Allocation* Memory::find_present(void const* address) {
  std::uint64_t const offset = region_offset(address);
  if (last_found_ != nullptr && offset - last_found_->begin < last_found_->bytes) {
    return last_found_;
  }
  if (offset < region_bytes) {
    Allocation* const found = containing(places_at(offset).present, offset);
    if (found != nullptr) last_found_ = found;
    return found;
  }
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  for (Allocation* allocation : foreign_) {
    if (at >= allocation->begin && at < allocation->begin + allocation->bytes) return allocation;
  }
  return nullptr;
}

Allocation* Memory::find_past(void const* address) {
  std::uint64_t const offset = region_offset(address);
  return containing(places_at(offset).past, offset);
}

Allocation* Memory::nearest_below(void const* address) {
  std::uint64_t const offset = region_offset(address);
  return places_at(offset).present.at_or_below(offset);
}

Allocation* Memory::nearest_above(void const* address) {
  std::uint64_t const offset = region_offset(address);
  return places_at(offset).present.above(offset);
}

}  // namespace adamant::sim
