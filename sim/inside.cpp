// What a harness may ask inside of a run, but meet() and barrier().
#include "sim/inside.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/cuda/region.h"
#include "sim/nccl/state.h"
#include "sim/sim.h"

namespace adamant::sim {

bool inside() {
  return current_runtime != nullptr && current_runtime->world.host() != nullptr;
}

int current_rank() {
  return inside_or_abort().world.host()->rank;
}

void settle() {
  Unwatched const unwatched;
  inside_or_abort().world.wait_for_quiet();
}

void parallel_for(int chunks, std::function<void(int chunk)> const& body) {
  Watch* const watch = active_watch;
  Unwatched const unwatched;
  World& world = inside_or_abort().world;
  if (!world.options().checked) return world.share_chunks(chunks, body);
  world.run_chunks(chunks, [&](int chunk) {
    active_watch = watch;
    body(chunk);
    active_watch = nullptr;
  });
}

void end_world() {
  Unwatched const unwatched;
  inside_or_abort().world.end();
}

void note_operation(int index, std::string_view name) {
  Unwatched const unwatched;
  World& world = inside_or_abort().world;
  Host& host = *world.host();
  world.advance_host();
  host.program_operation = index;
  world.timeline().announce(host, index, name);
  host.record = world.add_record(
      {.rank = host.rank, .program_operation = index, .agent = host.index, .name = "host code"});
  world.advance_host();
}

void name_buffer(void const* address, std::string_view name) {
  Unwatched const unwatched;
  if (Allocation* const allocation = inside_or_abort().memory.find_live(address)) {
    allocation->name = name;
  }
}

void name_stream(void const* stream, std::string_view name) {
  Unwatched const unwatched;
  auto* const handle = static_cast<cudaStream_t>(const_cast<void*>(stream));
  if (Stream* const named = stream_of(inside_or_abort(), handle)) named->name = name;
}

void note_result(std::uint64_t value) {
  World& world = inside_or_abort().world;
  world.mix(value);
  world.learn(value);
}

void note_event(std::string_view name, std::uint64_t value) {
  World& world = inside_or_abort().world;
  for (char const c : name) world.mix(static_cast<unsigned char>(c));
  world.mix(value);
  world.timeline().note(*world.host(), name);
}

std::uint32_t choose(std::uint32_t count) {
  return inside_or_abort().world.choices().pick(count);
}

bool yield() {
  Unwatched const unwatched;
  return inside_or_abort().world.yield();
}

void note_setting(std::string_view name, float value) {
  Unwatched const unwatched;
  Runtime& runtime = inside_or_abort();
  Host const& host = *runtime.world.host();
  Setting setting{.rank = host.rank,
                  .name = std::string(name),
                  .bits = std::bit_cast<std::uint32_t>(value),
                  .program_operation = host.program_operation};
  for (Setting& known : runtime.settings) {
    if (known.rank != setting.rank || known.name != setting.name) continue;
    known = std::move(setting);
    return;
  }
  runtime.settings.push_back(std::move(setting));
}

void report(Violation violation) {
  Unwatched const unwatched;
  inside_or_abort().world.add_violation(std::move(violation));
}

std::vector<LiveAllocation> live_allocations() {
  Unwatched const unwatched;
  auto const live = inside_or_abort().memory.live();
  std::vector<LiveAllocation> result;
  result.reserve(live.size());
  for (Allocation const* allocation : live) {
    result.push_back({region_address(allocation->begin), allocation->bytes, allocation->rank,
                      allocation->kind == AllocationKind::pinned});
  }
  return result;
}

LiveHandles live_handles() {
  Unwatched const unwatched;
  Runtime& runtime = inside_or_abort();
  auto const count = [](auto const& objects) {
    return std::count_if(objects.begin(), objects.end(),
                         [](auto const& object) { return object.destroyed_by == 0; });
  };
  // An aborted communicator is gone as well. Default streams are nobody's.
  auto const& members = nccl_state().members;
  return {.streams = std::count_if(
              runtime.world.streams().begin(), runtime.world.streams().end(),
              [](Stream const& stream) { return stream.made_by_call && stream.destroyed_by == 0; }),
          .events = count(runtime.events),
          .graphs = count(runtime.graphs),
          .executable_graphs = count(runtime.execs),
          .communicators =
              std::count_if(members.begin(), members.end(),
                            [](ncclComm const& member) { return member.destroyed_by == 0; })};
}

}  // namespace adamant::sim
