// Who waits for whom, in words: the report of a world that cannot go on.

#include <fmt/format.h>

#include <utility>

#include "sim/world/circle.h"
#include "sim/world/world.h"

namespace adamant::sim {
namespace {

std::string name_of(Stream const& stream) {
  return fmt::format("stream `{}` of rank {}", stream.name, stream.rank);
}

// Follows what `host` waits for until it ends at something that will never come, or closes a cycle.
std::string chain_of(World& world, Host const& host) {
  std::string text = fmt::format("rank {}", host.rank);
  if (host.held_back_by != 0)
    text += fmt::format(", inside of what {} opened,", world.record(host.held_back_by).name);
  text += fmt::format(" waits in {}", host.waits_in);
  if (host.wait.describe) text += " " + host.wait.describe();
  Stream const* stream = host.waits_for_stream;
  if (host.waits_for_ticket != nullptr) stream = host.waits_for_ticket->stream;
  std::vector<Stream const*> seen;
  while (stream != nullptr) {
    text += " for " + name_of(*stream);
    for (Stream const* earlier : seen) {
      if (earlier == stream) return text + " (a cycle)";
    }
    seen.push_back(stream);
    StreamOperation const* head = stream->head();
    if (head == nullptr) return text;
    text += fmt::format(", whose next operation {}", world.record(head->id).name);
    if (head->meeting != nullptr) return text + " " + head->meeting->describe_missing();
    if (head->kind != OperationKind::wait) return text;
    text += " waits";
    stream = head->ticket->stream;
  }
  return text;
}

std::string told_circle(World& world) {
  std::string const circle = describe_circle(world);
  return circle.empty() ? "" : "\n  the circle: " + circle;
}

}  // namespace

void World::report_deadlock() {
  for (Stream const& stream : streams_) timeline_.stuck(stream);
  Violation violation;
  violation.law = Law::order_deadlock;
  violation.breach = Breach::deadlock;
  violation.message = "no rank and no stream can go on:";
  bool first = true;
  for (auto const& host : hosts_) {
    if (!host->fiber.alive() || host->waits_in == nullptr) continue;
    if (first) {
      violation.rank = host->rank;
      violation.operation = host->program_operation;
      violation.about = host->waits_in;
      violation.at = location_of(host->waits_at);
      first = false;
    }
    violation.waiting.push_back({host->rank, location_of(host->waits_at)});
    if (host->held_back_by != 0) violation.related.push_back(related("opened", host->held_back_by));
    violation.message += "\n  " + chain_of(*this, *host);
  }
  violation.message += told_circle(*this);
  add_violation(std::move(violation));
}

void World::report_left_over() {
  bool is_first = true;
  for (Stream const& stream : streams_) {
    StreamOperation const* head = stream.head();
    if (head == nullptr) continue;
    timeline_.stuck(stream);
    Violation violation;
    violation.law = Law::order_deadlock;
    violation.breach = Breach::left_over;
    violation.rank = stream.rank;
    violation.operation = record(head->id).program_operation;
    violation.about = record(head->id).name;
    violation.at = locations_.line_of(head->id);
    if (std::uint32_t const captured = record(head->id).captured; captured != 0)
      violation.related.push_back(related("captured", captured));
    violation.message =
        fmt::format("all ranks have ended, but {} still has {} operations; the next, {}, ",
                    name_of(stream), stream.queue.size(), record(head->id).name);
    violation.message += head->meeting != nullptr ? head->meeting->describe_missing()
                                                  : "waits for what nobody will complete";
    if (std::exchange(is_first, false)) violation.message += told_circle(*this);
    add_violation(std::move(violation));
  }
}

}  // namespace adamant::sim
