#include "sim/meetings.h"

#include <algorithm>
#include <vector>

#include "sim/inside.h"
#include "sim/sim.h"

namespace adamant::sim {
namespace {

// The ranks that have arrived at meet() or barrier().
struct Meetings {
  std::vector<Host*> arrived;
  VectorClock known;
};
Meetings meetings;

std::vector<Awaited> missing(World const& world) {
  std::vector<Awaited> all;
  for (auto const& host : world.hosts()) {
    bool const is_there = std::find(meetings.arrived.begin(), meetings.arrived.end(), host.get()) !=
                          meetings.arrived.end();
    if (!is_there) all.push_back({.host = host.get()});
  }
  return all;
}

// Waits for all ranks; true for the one that arrives last, which the others then wait for.
bool gather(Runtime& runtime, char const* where) {
  World& world = runtime.world;
  if (meetings.arrived.size() + 1 == world.hosts().size()) return true;
  meetings.arrived.push_back(world.host());
  world.block(where, {.describe = {}, .whom = [&world] { return missing(world); }});
  return false;
}

void release(Runtime& runtime) {
  for (Host* host : meetings.arrived) runtime.world.wake(*host);
  meetings.arrived.clear();
}

}  // namespace

void forget_meetings() {
  meetings.arrived.clear();
  meetings.known.clear();
}

void meet(std::function<void()> const& once) {
  Unwatched const unwatched;
  Runtime& runtime = inside_or_abort();
  if (runtime.world.ended() || !gather(runtime, "meet()")) return;
  if (!runtime.world.wait_for_quiet()) return;
  if (once) once();
  release(runtime);
}

void barrier() {
  Unwatched const unwatched;
  Runtime& runtime = inside_or_abort();
  if (runtime.world.ended()) return;
  meetings.known.join(runtime.world.host()->clock);
  runtime.world.advance_host();
  if (gather(runtime, "barrier()")) {
    for (Host* host : meetings.arrived) host->clock.join(meetings.known);
    runtime.world.host()->clock.join(meetings.known);
    meetings.known.clear();
    release(runtime);
  }
}

}  // namespace adamant::sim
