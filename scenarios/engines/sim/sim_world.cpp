#include "scenarios/engines/sim/sim_world.h"

#include <algorithm>
#include <utility>

#include "sim/sim.h"

namespace adamant::scenarios {

std::vector<WorldAllocation> live_allocations() {
  auto const allocations = sim::live_allocations();
  std::vector<WorldAllocation> live;
  live.reserve(allocations.size());
  for (sim::LiveAllocation const& allocation : allocations)
    live.push_back({allocation.address, allocation.bytes, allocation.rank, allocation.on_host});
  return live;
}

std::vector<LiveHandles> live_handles() {
  sim::LiveHandles const live = sim::live_handles();
  std::vector<LiveHandles> kinds = {{"streams", live.streams},
                                    {"events", live.events},
                                    {"graphs", live.graphs},
                                    {"executable graphs", live.executable_graphs},
                                    {"communicators", live.communicators}};
  std::erase_if(kinds, [](LiveHandles const& handles) { return handles.count == 0; });
  return kinds;
}

std::vector<NamedBuffer> SimWorld::note_buffers(int rank) {
  auto& known = buffers_[static_cast<std::size_t>(rank)];
  auto now = named_buffers(at(rank).engine());
  std::vector<NamedBuffer> fresh;
  for (NamedBuffer const& buffer : now) {
    bool const old = std::any_of(known.begin(), known.end(), [&](NamedBuffer const& other) {
      return other.address == buffer.address && other.purpose == buffer.purpose;
    });
    if (!old) fresh.push_back(buffer);
  }
  known = std::move(now);
  return fresh;
}

std::optional<std::vector<WorldAllocation>> SimWorld::allocations() const {
  auto live = live_allocations();
  std::erase_if(live, [&](WorldAllocation const& allocation) {
    return at(allocation.rank).gradients().allocation() == allocation.address;
  });
  return live;
}

}  // namespace adamant::scenarios
