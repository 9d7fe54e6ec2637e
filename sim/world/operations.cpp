// The life of an operation: made and pushed by a host, looked at when it becomes its stream's head,
// executed with the knowledge of whoever issued it, completed for whoever waits.

#include <algorithm>
#include <utility>

#include "sim/world/assert.h"
#include "sim/world/world.h"

namespace adamant::sim {

Stream& World::add_stream(int device, unsigned flags, int cuda_priority) {
  Stream& stream = streams_.emplace_back();
  stream.index = agent_count_++;
  stream.component = component_of(stream.index);
  stream.rank = host_->rank;
  stream.device = device;
  stream.flags = flags;
  stream.cuda_priority = cuda_priority;
  return stream;
}

// Marks what anybody still holds; the rest is free. Where that is less than half, the next look
// comes when as many more were made: so a long run has at most a few times as many as it needs at
// once, and a look costs each of them little.
void World::sweep_tickets() {
  auto const used = tickets_.begin() + static_cast<std::ptrdiff_t>(tickets_used_);
  std::for_each(tickets_.begin(), used, [](Ticket& ticket) { ticket.held = !ticket.done; });
  for (auto const& host : hosts_)
    for (Ticket* const ticket : {host->waits_for_ticket, host->keeps})
      if (ticket != nullptr) ticket->held = true;
  for (Stream const& stream : streams_)
    for (StreamOperation const* const operation : stream.queue)
      if (operation->ticket != nullptr) operation->ticket->held = true;
  holders_();
  std::for_each(tickets_.begin(), used, [&](Ticket& ticket) {
    if (!ticket.held) free_tickets_.push_back(&ticket);
  });
  bool const most = free_tickets_.size() >= tickets_used_ / 2;
  tickets_until_sweep_ = most ? 0 : std::max(tickets_swept_min, tickets_used_);
}

// Those of the last world, and those that nobody needs any more, serve again, and their clocks keep
// their storage.
Ticket& World::add_ticket() {
  if (free_tickets_.empty() && tickets_until_sweep_ == 0) sweep_tickets();
  if (free_tickets_.empty()) {
    if (tickets_used_ == tickets_.size()) tickets_.emplace_back();
    free_tickets_.push_back(&tickets_[tickets_used_++]);
    if (tickets_until_sweep_ > 0) --tickets_until_sweep_;
  }
  Ticket& ticket = *free_tickets_.back();
  free_tickets_.pop_back();
  ticket.done = false;
  ticket.clock.clear();
  ticket.time_ns = 0;
  ticket.operation = 0;
  ticket.stream = nullptr;
  ticket.blocked.clear();
  ticket.waiting.clear();
  return ticket;
}

Meeting& World::add_meeting(std::uint32_t expected) {
  Meeting& meeting = meetings_.emplace_back();
  meeting.expected = expected;
  return meeting;
}

void World::leave_meeting(Stream& stream, StreamOperation& operation) {
  ADAMANT_SIM_ASSERT(operation.meeting != nullptr);
  std::erase(operation.meeting->arrived, &stream);
  operation.meeting = nullptr;
  if (stream.head() == &operation) make_ready(stream);
}

std::uint32_t World::add_record(OperationRecord const& record) {
  std::uint32_t const id = history_.add(record);
  locations_.made(id);
  return id;
}

StreamOperation& World::make(OperationKind kind, char const* name, std::uint64_t bytes,
                             void const* function) {
  return make(add_record({.kind = kind,
                          .rank = host_->rank,
                          .program_operation = host_->program_operation,
                          .name = name,
                          .function = function,
                          .bytes = bytes}));
}

StreamOperation& World::make(std::uint32_t record) {
  if (free_operations_.empty()) {
    free_operations_.push_back(operations_.emplace_back(std::make_unique<StreamOperation>()).get());
  }
  StreamOperation& operation = *free_operations_.back();
  free_operations_.pop_back();
  OperationKind const kind = history_[record].kind;
  operation.id = record;
  operation.kind = kind;
  operation.bytes = history_[record].bytes;
  operation.path = CopyPath::none;
  operation.cost_ns = 0;
  operation.body.clear();
  operation.ticket = nullptr;
  operation.meeting = nullptr;
  operation.node = nullptr;
  operation.may_fault = kind == OperationKind::kernel || kind == OperationKind::host_function;
  return operation;
}

void World::discard(StreamOperation& operation) {
  operation.body.clear();
  free_operations_.push_back(&operation);
}

void World::push(Stream& stream, StreamOperation& operation) {
  observer_->host_pauses(*host_);
  if (OperationRecord* const record = history_.find(operation.id)) record->agent = stream.index;
  operation.issued.assign(host_->clock);
  operation.issued_ns = host_->now_ns;
  host_->advance();
  if (ended_) {
    free_operations_.push_back(&operation);
    return;
  }
  timeline_.enqueue(*host_, operation);
  stream.queue.push_back(&operation);
  ++stream.enqueued;
  if (operation.kind == OperationKind::record) {
    operation.ticket->stream = &stream;
    operation.ticket->operation = operation.id;
  }
  if (stream.queue.size() == 1) look_at_head(stream);
}

void World::look_at_head(Stream& stream) {
  StreamOperation* const operation = stream.head();
  if (operation == nullptr) return;
  if (operation->kind == OperationKind::wait && !operation->ticket->done) {
    operation->ticket->blocked.push_back(&stream);
    return;
  }
  if (Meeting* const meeting = operation->meeting) {
    meeting->arrived.push_back(&stream);
    if (meeting->arrived.size() < meeting->expected) return;
  }
  make_ready(stream);
}

void World::execute_head(Stream& stream) {
  polls_in_vain_ = 0;
  StreamOperation& operation = *stream.head();
  Meeting* const meeting = operation.meeting;
  if (meeting == nullptr) return execute_one(stream, operation);
  // Someone may have left it since this stream completed it: then the others wait for ever.
  if (meeting->arrived.size() == meeting->expected) execute_meeting(*meeting);
}

void World::execute_one(Stream& stream, StreamOperation& operation) {
  begin_operation(stream, operation);
  if (operation.kind == OperationKind::wait) {
    stream.clock.join(operation.ticket->clock);
    stream.now_ns = std::max(stream.now_ns, operation.ticket->time_ns);
  }
  if (operation.body && operation.may_fault) {
    execute_body(operation.body);
  } else if (operation.body) {
    operation.body();
  }
  if (ended_) return;
  end_operation(stream, operation);
  complete(stream, operation);
}

void World::start_executor() {
  executor_.start(Fiber::StackSize::operation, [this] {
    for (; executing_ != nullptr; executor_.suspend()) (*std::exchange(executing_, nullptr))();
  });
}

void World::execute_body(Work& body) {
  if (!executor_.alive()) start_executor();  // an earlier one was left
  executing_ = &body;
  running_ = &executor_;
  executor_.resume();
  running_ = nullptr;
}

void World::execute_meeting(Meeting& meeting) {
  std::uint64_t start_ns = 0;
  for (Stream* stream : meeting.arrived) {
    begin_operation(*stream, *stream->head());
    start_ns = std::max(start_ns, stream->now_ns);
  }
  timeline_.meet(meeting);
  meeting.execute(meeting);
  if (ended_) return;
  std::vector<Stream*> const streams = std::move(meeting.arrived);
  for (Stream* stream : streams) {
    stream->now_ns = start_ns;
    StreamOperation& operation = *stream->head();
    end_operation(*stream, operation);
    complete(*stream, operation);
  }
}

void World::begin_operation(Stream& stream, StreamOperation& operation) {
  stream.clock.join(operation.issued);
  stream.advance();
  stream.now_ns = std::max(stream.now_ns, operation.issued_ns);
  timeline_.begin(stream, operation);
  observer_->operation_begins(stream, operation);
}

void World::end_operation(Stream& stream, StreamOperation& operation) {
  observer_->operation_ends(stream, operation);
  stream.now_ns += operation.cost_ns;
  simulated_ns_ = std::max(simulated_ns_, stream.now_ns);
  ++executed_;
  mix((std::uint64_t{stream.index} << 40) ^ (std::uint64_t(operation.kind) << 32) ^
      operation.bytes);
  timeline_.end(stream, operation);
}

void World::complete(Stream& stream, StreamOperation& operation) {
  stream.queue.pop_front();
  ++stream.completed;
  if (operation.kind == OperationKind::record) complete(*operation.ticket, stream);
  operation.body.clear();
  free_operations_.push_back(&operation);
  std::erase_if(stream.waiters, [&](Stream::Waiter const& waiter) {
    if (waiter.target > stream.completed) return false;
    make_ready(*waiter.host);
    return true;
  });
  look_at_head(stream);
}

void World::complete(Ticket& ticket, Stream& stream) {
  ticket.done = true;
  ticket.clock.assign(stream.clock);
  ticket.time_ns = stream.now_ns;
  for (Stream* blocked : ticket.blocked) make_ready(*blocked);
  ticket.blocked.clear();
  for (Host* waiting : ticket.waiting) make_ready(*waiting);
  ticket.waiting.clear();
}

}  // namespace adamant::sim
