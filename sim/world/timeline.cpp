#include "sim/world/timeline.h"

#include <algorithm>
#include <string>

#include "sim/world/assert.h"
#include "sim/world/world.h"

namespace adamant::sim {
namespace {

constexpr EventKind kind_of(OperationKind kind) {
  return static_cast<EventKind>(kind);
}
static_assert(kind_of(OperationKind::kernel) == EventKind::kernel);
static_assert(kind_of(OperationKind::copy) == EventKind::copy);
static_assert(kind_of(OperationKind::fill) == EventKind::fill);
static_assert(kind_of(OperationKind::host_function) == EventKind::host_function);
static_assert(kind_of(OperationKind::record) == EventKind::record);
static_assert(kind_of(OperationKind::wait) == EventKind::wait);
static_assert(kind_of(OperationKind::allocate) == EventKind::allocate);
static_assert(kind_of(OperationKind::release) == EventKind::release);
static_assert(kind_of(OperationKind::collective) == EventKind::collective);

}  // namespace

void Timeline::reset(bool on, int ranks) {
  on_ = on;
  events_.clear();
  operations_.clear();
  event_of_.clear();
  call_of_.clear();
  last_of_.clear();
  chunk_ns_.clear();
  meetings_ = 0;
  hosts_.assign(on ? static_cast<std::size_t>(ranks) : 0, {});
}

Timeline::OfHost& Timeline::of(Host const& host) {
  return hosts_[static_cast<std::size_t>(host.rank)];
}

Event& Timeline::add(EventKind kind, Agent const& agent, std::uint64_t at_ns,
                     std::uint32_t operation) {
  Event& event = events_.emplace_back();
  operations_.push_back(operation);
  event.kind = kind;
  event.track = agent.index;
  event.begin_ns = at_ns;
  event.end_ns = at_ns;
  event.unfinished = true;
  return event;
}

void Timeline::come_after(Event& event,
                          std::unordered_map<std::uint32_t, std::uint32_t> const& events,
                          std::uint32_t key) {
  if (auto const found = events.find(key); found != events.end())
    event.after.push_back(found->second);
}

// ---- a host ------------------------------------------------------------------------------------

void Timeline::announce(Host const& host, int operation, std::string_view name) {
  if (!on_) return;
  std::uint32_t const before =
      std::exchange(of(host).announced, static_cast<std::uint32_t>(events_.size()));
  if (before != none) {
    events_[before].end_ns = host.now_ns;
    events_[before].unfinished = false;
  }
  if (operation < 0) return static_cast<void>(of(host).announced = none);
  Event& event = add(EventKind::program_operation, host, host.now_ns, none);
  event.rank = host.rank;
  event.operation = operation;
  event.name = name;
}

void Timeline::keep_moment(Host const& host) {
  of(host).since.emplace_back(host.clock.of(host.component), host.now_ns);
}

void Timeline::begin_call(Host const& host, char const* name) {
  of(host).calls.push_back(static_cast<std::uint32_t>(events_.size()));
  Event& event = add(EventKind::call, host, host.now_ns, none);
  event.rank = host.rank;
  event.operation = host.program_operation;
  event.name = name;
}

void Timeline::end_call(Host const& host, bool ended) {
  std::uint32_t const number = of(host).calls.back();
  of(host).calls.pop_back();
  keep_moment(host);
  Event& event = events_[number];
  event.end_ns = host.now_ns;
  event.unfinished = ended;
  bool const is_last = number + 1 == events_.size();
  bool const enqueued = event.enqueues;
  if (!is_last || enqueued || event.end_ns > event.begin_ns) return;
  events_.pop_back();
  operations_.pop_back();
}

void Timeline::note(Host const& host, std::string_view name) {
  if (!on_) return;
  Event& event = add(EventKind::note, host, host.now_ns, none);
  event.rank = host.rank;
  event.operation = host.program_operation;
  event.name = name;
  event.unfinished = false;
}

void Timeline::begin_chunk(Host const& host, std::uint32_t record) {
  if (on_) chunk_ns_[record] = host.now_ns;
}

void Timeline::waited(Host const& host, Ticket const& ticket) {
  if (!on_ || of(host).calls.empty()) return;
  come_after(events_[of(host).calls.back()], event_of_, ticket.operation);
}

void Timeline::waited(Host const& host, Stream const& stream) {
  if (!on_ || of(host).calls.empty()) return;
  come_after(events_[of(host).calls.back()], last_of_, stream.index);
}

// ---- a stream ----------------------------------------------------------------------------------

void Timeline::enqueue(Host const& host, StreamOperation const& operation) {
  if (!on_ || of(host).calls.empty()) return;
  call_of_[operation.id] = of(host).calls.back();
  events_[of(host).calls.back()].enqueues = true;
}

void Timeline::begin(Stream const& stream, StreamOperation const& operation) {
  if (!on_) return;
  auto const number = static_cast<std::uint32_t>(events_.size());
  Event& event = add(kind_of(operation.kind), stream, stream.now_ns, operation.id);
  event.rank = stream.rank;
  event.device = stream.device;
  event.path = operation.path;
  come_after(event, call_of_, operation.id);
  event_of_[operation.id] = number;
  last_of_[stream.index] = number;
}

void Timeline::end(Stream const& stream, StreamOperation const& operation) {
  if (!on_) return;
  Event& event = events_[event_of_.at(operation.id)];
  event.end_ns = stream.now_ns;
  event.unfinished = false;
  if (operation.kind == OperationKind::wait)
    come_after(event, event_of_, operation.ticket->operation);
}

void Timeline::meet(Meeting const& meeting) {
  if (!on_) return;
  for (Stream const* const stream : meeting.arrived)
    events_[event_of_.at(stream->head()->id)].meeting = meetings_;
  ++meetings_;
}

void Timeline::stuck(Stream const& stream) {
  if (!on_ || stream.head() == nullptr) return;
  begin(stream, *stream.head());
  Event& event = events_.back();
  event.begin_ns = event.end_ns = std::max(stream.now_ns, stream.head()->issued_ns);
}

// ---- a violation -------------------------------------------------------------------------------

std::uint64_t Timeline::time_of(std::uint32_t operation, int rank, std::uint32_t moment) const {
  if (auto const chunk = chunk_ns_.find(operation); chunk != chunk_ns_.end()) return chunk->second;
  auto const& since = hosts_[static_cast<std::size_t>(rank)].since;
  auto const later =
      std::upper_bound(since.begin(), since.end(), moment,
                       [](std::uint32_t sought, auto const& each) { return sought < each.first; });
  return later == since.begin() ? 0 : std::prev(later)->second;
}

std::int64_t Timeline::event_of(std::uint32_t operation, OperationRecord const& record,
                                std::uint32_t moment) {
  if (!on_) return -1;
  if (auto const found = event_of_.find(operation); found != event_of_.end()) return found->second;
  Event& event = events_.emplace_back();
  operations_.push_back(operation);
  event.kind = EventKind::host_access;
  event.rank = record.rank;
  event.track = static_cast<std::uint32_t>(record.rank);  // hosts are the first agents
  event.begin_ns = event.end_ns = time_of(operation, record.rank, moment);
  return static_cast<std::int64_t>(events_.size()) - 1;
}

std::int64_t Timeline::mark(Host const& host, std::string_view law) {
  if (!on_) return -1;
  note(host, law);
  events_.back().kind = EventKind::violation;
  return static_cast<std::int64_t>(events_.size()) - 1;
}

std::vector<Event> Timeline::take(
    std::uint64_t end_ns, std::function<void(Event&, std::uint32_t operation)> const& describe) {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    Event& event = events_[i];
    if (event.unfinished) event.end_ns = std::max(event.end_ns, end_ns);
    if (event.kind == EventKind::program_operation) event.unfinished = false;
    if (operations_[i] != none) describe(event, operations_[i]);
  }
  return std::move(events_);
}

// ---- TracedCall --------------------------------------------------------------------------------

TracedCall::TracedCall(World& world, char const* name)
    : world_(world.timeline().on() ? &world : nullptr) {
  if (world_ != nullptr) world_->timeline().begin_call(*world_->host(), name);
}

TracedCall::~TracedCall() {
  if (world_ != nullptr) world_->timeline().end_call(*world_->host(), world_->ended());
}

}  // namespace adamant::sim
