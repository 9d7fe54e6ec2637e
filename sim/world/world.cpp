#include "sim/world/world.h"

#include <algorithm>
#include <utility>

#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

// What a host call costs in simulated time.
constexpr std::uint64_t host_call_ns = 500;

constexpr std::size_t violations_max = 64;

// So often in a row may hosts ask in vain while nothing else happens.
constexpr std::uint64_t polls_in_vain_max = 100'000;

// More operations than this are not kept for the next world.
constexpr std::size_t operations_kept_max = 65'536;

}  // namespace

void World::prepare(Options const& options, Observer& observer) {
  options_ = options;
  observer_ = &observer;
  choices_.reset(options.schedule);
  addresses_ = Prng(mix64(options.seed ^ 0xADD2E55E5ULL));
  streams_.clear();
  tickets_.clear();
  meetings_.clear();
  free_operations_.clear();
  if (operations_.size() > operations_kept_max) operations_.clear();
  for (auto const& operation : operations_) {
    operation->body = nullptr;
    free_operations_.push_back(operation.get());
  }
  hosts_.clear();
  agent_count_ = 0;
  ready_.clear();
  quiet_hosts_.clear();
  host_ = nullptr;
  ended_ = false;
  polls_in_vain_ = 0;
  history_.clear();
  digest_ = mix64(options.seed);
  executed_ = 0;
  simulated_ns_ = 0;
  trace_.clear();
  violations_.clear();
  seen_violations_.clear();
}

void World::run(int ranks, std::function<void(int)> const& main) {
  ADAMANT_SIM_ASSERT(ranks >= 1);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& host = *hosts_.emplace_back(std::make_unique<Host>());
    host.is_host = true;
    host.rank = rank;
    host.index = agent_count_++;
    host.component = options_.checked ? host.index : 0;
    host.clock.advance(host.component);
    host.record = add_record({.rank = rank, .agent = host.index, .name = "host code"});
    host.fiber.start(Fiber::StackSize::rank, [this, &main, &host] {
      try {
        main(host.rank);
      } catch (...) {
        // Later ones are what the end of the world does to the other ranks.
        if (failure_ == nullptr) failure_ = std::current_exception();
        end();
      }
      observer_->host_pauses(host);
    });
    make_ready(host);
  }
  unfinished_hosts_ = ranks;
  schedule();
  for (std::uint32_t const choice : choices_.record()) mix(choice);
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// ---- the scheduler ----------------------------------------------------------------------------

void World::schedule() {
  for (;;) {
    bool const stuck = polls_in_vain_ > polls_in_vain_max;
    if (stuck || (ready_.empty() && !wake_quiet_hosts())) {
      if (unfinished_hosts_ == 0) break;
      ADAMANT_SIM_ASSERT(!ended_);  // an ended world has woken everyone
      report_deadlock();
      end();
      continue;
    }
    std::uint32_t const picked = choices_.pick_agent(ready_);
    auto& agent = static_cast<Agent&>(*ready_[picked]);
    ready_.erase(ready_.begin() + picked);
    agent.ready = false;
    if (agent.is_host) {
      resume(static_cast<Host&>(agent));
    } else {
      execute_head(static_cast<Stream&>(agent));
    }
  }
  if (!ended_) report_left_over();
}

void World::resume(Host& host) {
  host_ = &host;
  observer_->host_resumes(host);
  host.fiber.resume();
  host_ = nullptr;
  if (!host.fiber.alive()) --unfinished_hosts_;
}

void World::make_ready(Agent& agent) {
  if (agent.ready) return;
  agent.ready = true;
  ready_.push_back(&agent);
}

bool World::wake_quiet_hosts() {
  for (Host* host : quiet_hosts_) make_ready(*host);
  quiet_hosts_.clear();
  return !ready_.empty();
}

bool World::suspend() {
  Host& host = *host_;
  observer_->host_pauses(host);
  host.fiber.suspend();
  return !ended_;
}

// ---- what a host waits for ---------------------------------------------------------------------

bool World::yield() {
  polls_in_vain_ = 0;
  host_->now_ns += host_call_ns;
  if (ended_) return false;
  make_ready(*host_);
  return suspend();
}

bool World::yield_polling(char const* call, Stream* stream, Ticket* ticket) {
  if (ended_) return false;
  Host& host = *host_;
  choices_.yielded(host);
  ++polls_in_vain_;
  host.now_ns += host_call_ns;
  host.waits_for_stream = stream;
  host.waits_for_ticket = ticket;
  make_ready(host);
  bool const alive = block(call);
  host.waits_for_stream = nullptr;
  host.waits_for_ticket = nullptr;
  return alive;
}

bool World::block(char const* call) {
  if (ended_) return false;
  Host& host = *host_;
  host.waits_in = call;
  bool const alive = suspend();
  host.waits_in = nullptr;
  return alive;
}

void World::wake(Host& host) {
  make_ready(host);
}

bool World::wait_for_quiet() {
  if (ended_) return false;
  quiet_hosts_.push_back(host_);
  return suspend();
}

bool World::wait_for_stream(Stream& stream, char const* call) {
  Host& host = *host_;
  if (!yield()) return false;
  std::uint64_t const target = stream.enqueued;
  if (stream.completed < target) {
    stream.waiters.push_back({&host, target});
    host.waits_for_stream = &stream;
    bool const alive = block(call);
    host.waits_for_stream = nullptr;
    if (!alive) return false;
  }
  observer_->host_pauses(host);
  host.clock.join(stream.clock);
  host.now_ns = std::max(host.now_ns, stream.now_ns);
  return true;
}

bool World::wait_for_ticket(Ticket& ticket, char const* call) {
  Host& host = *host_;
  if (!yield()) return false;
  if (!ticket.done) {
    ticket.waiting.push_back(&host);
    host.waits_for_ticket = &ticket;
    bool const alive = block(call);
    host.waits_for_ticket = nullptr;
    if (!alive) return false;
  }
  observer_->host_pauses(host);
  host.clock.join(ticket.clock);
  host.now_ns = std::max(host.now_ns, ticket.time_ns);
  return true;
}

void World::advance_host() {
  observer_->host_pauses(*host_);
  host_->clock.advance(host_->component);
}

// ---- operations --------------------------------------------------------------------------------

Stream& World::add_stream(int device, unsigned flags, int cuda_priority) {
  Stream& stream = streams_.emplace_back();
  stream.index = agent_count_++;
  stream.component = options_.checked ? stream.index : 0;
  stream.rank = host_->rank;
  stream.device = device;
  stream.flags = flags;
  stream.cuda_priority = cuda_priority;
  return stream;
}

Meeting& World::add_meeting(std::uint32_t expected) {
  Meeting& meeting = meetings_.emplace_back();
  meeting.expected = expected;
  return meeting;
}

void World::leave_meeting(Stream& stream, Operation& operation) {
  ADAMANT_SIM_ASSERT(operation.meeting != nullptr);
  std::erase(operation.meeting->arrived, &stream);
  operation.meeting = nullptr;
  if (stream.head() == &operation) make_ready(stream);
}

std::uint32_t World::add_record(OperationRecord const& record) {
  history_.push_back(record);
  return static_cast<std::uint32_t>(history_.size() - 1);
}

Operation& World::make(OperationKind kind, char const* name, std::uint64_t bytes,
                       void const* function) {
  if (free_operations_.empty()) {
    free_operations_.push_back(operations_.emplace_back(std::make_unique<Operation>()).get());
  }
  Operation& operation = *free_operations_.back();
  free_operations_.pop_back();
  operation.id = add_record({.kind = kind,
                             .rank = host_->rank,
                             .program_operation = host_->program_operation,
                             .name = name,
                             .function = function,
                             .bytes = bytes});
  operation.kind = kind;
  operation.cost_ns = 0;
  operation.body = nullptr;
  operation.ticket = nullptr;
  operation.meeting = nullptr;
  return operation;
}

void World::push(Stream& stream, Operation& operation) {
  observer_->host_pauses(*host_);
  history_[operation.id].agent = stream.index;
  operation.issued.assign(host_->clock);
  operation.issued_ns = host_->now_ns;
  host_->clock.advance(host_->component);
  if (ended_) {
    free_operations_.push_back(&operation);
    return;
  }
  stream.queue.push_back(&operation);
  ++stream.enqueued;
  if (operation.kind == OperationKind::record) operation.ticket->stream = &stream;
  if (stream.queue.size() == 1) look_at_head(stream);
}

void World::look_at_head(Stream& stream) {
  Operation* const operation = stream.head();
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
  Operation& operation = *stream.head();
  if (operation.meeting != nullptr) {
    execute_meeting(*operation.meeting);
  } else {
    execute_one(stream, operation);
  }
}

void World::execute_one(Stream& stream, Operation& operation) {
  begin_operation(stream, operation);
  if (operation.kind == OperationKind::wait) {
    stream.clock.join(operation.ticket->clock);
    stream.now_ns = std::max(stream.now_ns, operation.ticket->time_ns);
  }
  if (operation.body) operation.body();
  if (ended_) return;
  end_operation(stream, operation);
  complete(stream, operation);
}

void World::execute_meeting(Meeting& meeting) {
  std::uint64_t start_ns = 0;
  for (Stream* stream : meeting.arrived) {
    begin_operation(*stream, *stream->head());
    start_ns = std::max(start_ns, stream->now_ns);
  }
  meeting.execute(meeting);
  if (ended_) return;
  std::vector<Stream*> const streams = std::move(meeting.arrived);
  for (Stream* stream : streams) {
    stream->now_ns = start_ns;
    Operation& operation = *stream->head();
    end_operation(*stream, operation);
    complete(*stream, operation);
  }
}

void World::begin_operation(Stream& stream, Operation& operation) {
  stream.clock.join(operation.issued);
  stream.clock.advance(stream.component);
  stream.now_ns = std::max(stream.now_ns, operation.issued_ns);
  observer_->operation_begins(stream, operation);
}

void World::end_operation(Stream& stream, Operation& operation) {
  observer_->operation_ends(stream, operation);
  OperationRecord const& record = history_[operation.id];
  std::uint64_t const begin_ns = stream.now_ns;
  stream.now_ns += operation.cost_ns;
  simulated_ns_ = std::max(simulated_ns_, stream.now_ns);
  ++executed_;
  mix((std::uint64_t{stream.index} << 40) ^ (std::uint64_t(record.kind) << 32) ^ record.bytes);
  if (options_.trace) {
    trace_.push_back({begin_ns, stream.now_ns, stream.rank, stream.name, record.name});
  }
}

void World::complete(Stream& stream, Operation& operation) {
  stream.queue.pop_front();
  ++stream.completed;
  if (operation.kind == OperationKind::record) complete(*operation.ticket, stream);
  operation.body = nullptr;
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

// ---- the end -----------------------------------------------------------------------------------

void World::end() {
  if (ended_) return;
  ended_ = true;
  polls_in_vain_ = 0;
  for (Stream& stream : streams_) {
    stream.queue.clear();  // one of them may be running: their bodies go with the next world
    stream.waiters.clear();
  }
  std::erase_if(ready_,
                [](Candidate* candidate) { return !static_cast<Agent*>(candidate)->is_host; });
  quiet_hosts_.clear();
  for (auto const& host : hosts_) {
    if (host.get() != host_ && host->fiber.alive()) make_ready(*host);
  }
}

void World::add_violation(Violation violation) {
  std::string key = violation.law;
  if (violation.accesses.empty()) {
    key += violation.message;
  }
  for (Access const& access : violation.accesses) {
    key += '|' + access.stream + access.operation + access.kind + access.buffer;
  }
  if (violations_.size() >= violations_max || !seen_violations_.insert(key).second) return;
  violations_.push_back(std::move(violation));
}

}  // namespace adamant::sim
