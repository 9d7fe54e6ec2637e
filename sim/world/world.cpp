#include "sim/world/world.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "sim/describe.h"
#include "sim/world/assert.h"
#include "sim/world/mistakes.h"
#include "sim/world/prefetch.h"

namespace adamant::sim {
namespace {

// What a host call costs in simulated time.
constexpr std::uint64_t host_call_ns = 500;

// So often in a row may hosts ask in vain while nothing else happens.
constexpr std::uint64_t polls_in_vain_max = 100'000;

// More operations than this are not kept for the next world.
constexpr std::size_t operations_kept_max = 65'536;

}  // namespace

void World::prepare(Options const& options, WorldObserver& observer) {
  options_ = options;
  crew_.emplace(options.threads);
  observer_ = &observer;
  choices_.reset(options.schedule);
  addresses_ = Prng(mix64(options.seed ^ 0xADD2E55E5ULL));
  streams_.clear();
  if (tickets_.size() > operations_kept_max) tickets_.clear();
  tickets_used_ = 0;
  free_tickets_.clear();
  tickets_until_sweep_ = tickets_swept_min;
  meetings_.clear();
  free_operations_.clear();
  if (operations_.size() > operations_kept_max) operations_.clear();
  for (auto const& operation : operations_) {
    operation->body.clear();
    free_operations_.push_back(operation.get());
  }
  hosts_.clear();
  agent_count_ = 0;
  ready_.clear();
  takes_oldest_ = options.schedule.strategy == Strategy::fifo && !options.schedule.choices;
  quiet_hosts_.clear();
  host_ = nullptr;
  ended_ = false;
  polls_in_vain_ = 0;
  history_.clear(options_.trace);
  digest_ = mix64(options.seed);
  executed_ = 0;
  simulated_ns_ = 0;
  violations_.clear();
  warnings_.clear();
  learned_ = 0;
  seen_violations_.clear();
  locations_.reset(options_.sought ? &*options_.sought : nullptr);
}

void World::run(int ranks, std::function<void(int)> const& main) {
  ADAMANT_SIM_ASSERT(ranks >= 1);
  start_executor();
  timeline_.reset(options_.trace, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& host = *hosts_.emplace_back(std::make_unique<Host>());
    host.is_host = true;
    host.rank = rank;
    host.index = agent_count_++;
    host.component = component_of(host.index);
    host.advance();
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
  if (executor_.alive()) executor_.resume();  // without work it ends
  for (std::uint32_t const choice : choices_.record()) mix(choice);
  if (choices_.forgotten()) mix(choices_.forgotten_digest());
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void World::learn(int rank, void const* bytes, std::size_t count) {
  std::uint64_t hash = mix64(static_cast<std::uint64_t>(rank) ^ (std::uint64_t{count} << 16));
  auto const* const from = static_cast<unsigned char const*>(bytes);
  for (std::size_t at = 0; at < count; at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, std::min(sizeof word, count - at));
    hash = mix64(hash ^ word);
  }
  learn(hash);
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
    auto& agent = static_cast<Agent&>(ready_.take(choices_.pick_agent(ready_.all())));
    if (takes_oldest_) look_ahead();
    agent.ready = false;
    if (agent.is_host) {
      resume(static_cast<Host&>(agent));
    } else {
      execute_head(static_cast<Stream&>(agent));
    }
  }
  if (!ended_) report_left_over();
}

// Between two turns of a rank all others have theirs, and of a thousand ranks none finds its lines
// in a cache again. Who comes next is known, though: first that it is a host or a stream is
// fetched, then the rest of it, then its stack or its operation. A few ranks are in the cache
// anyway.
void World::look_ahead() const {
  constexpr std::size_t few = 64;
  std::span<Candidate* const> const next = ready_.all();
  if (next.size() < few) return;
  prefetch(next[2], sizeof(Agent));
  auto const& second = static_cast<Agent const&>(*next[1]);
  prefetch(&second, second.is_host ? sizeof(Host) : sizeof(Stream));
  auto const& first = static_cast<Agent const&>(*next[0]);
  if (first.is_host) return static_cast<Host const&>(first).fiber.prefetch();
  StreamOperation const* const head = static_cast<Stream const&>(first).head();
  if (head != nullptr) prefetch(head, sizeof *head);
}

void World::resume(Host& host) {
  host_ = &host;
  observer_->host_resumes(host);
  running_ = &host.fiber;
  host.fiber.resume();
  running_ = nullptr;
  host_ = nullptr;
  if (!host.fiber.alive()) --unfinished_hosts_;
}

void World::make_ready(Agent& agent) {
  if (agent.ready) return;
  agent.ready = true;
  ready_.add(agent);
}

bool World::wake_quiet_hosts() {
  for (Host* host : quiet_hosts_) make_ready(*host);
  quiet_hosts_.clear();
  return !ready_.empty();
}

bool World::suspend() {
  Host& host = *host_;
  observer_->host_pauses(host);
  if (locations_.on()) host.waits_at = stack_here();
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

bool World::block(char const* call, HostWait wait) {
  if (ended_) return false;
  Host& host = *host_;
  host.waits_in = call;
  host.wait = std::move(wait);
  bool const alive = suspend();
  host.waits_in = nullptr;
  host.wait = {};
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
  timeline_.waited(host, stream);
  return true;
}

bool World::wait_for_ticket(Ticket& ticket, char const* call) {
  Host& host = *host_;
  host.keeps = &ticket;
  if (!yield()) return false;
  if (!ticket.done) {
    ticket.waiting.push_back(&host);
    host.waits_for_ticket = &ticket;
    bool const alive = block(call);
    host.waits_for_ticket = nullptr;
    if (!alive) return false;
  }
  host.keeps = nullptr;
  observer_->host_pauses(host);
  host.clock.join(ticket.clock);
  host.now_ns = std::max(host.now_ns, ticket.time_ns);
  timeline_.waited(host, ticket);
  return true;
}

void World::advance_host() {
  observer_->host_pauses(*host_);
  host_->advance();
}

// ---- parallel loops ----------------------------------------------------------------------------

Agent& World::thread_of(Host& host, std::size_t number) {
  while (host.threads.size() <= number) {
    Agent& thread = *host.threads.emplace_back(std::make_unique<Agent>());
    thread.index = agent_count_++;
    thread.component = thread.index;
  }
  return *host.threads[number];
}

// No chunk makes a call, so that no other agent learns anything before all are done: which of them
// runs first shows in values alone, and one after the other is as good as side by side.
void World::run_chunks(int count, std::function<void(int)> const& body) {
  Host& host = *host_;
  observer_->host_pauses(host);
  VectorClock const known = host.clock;
  std::vector<int> left;
  for (int chunk = 0; chunk < count; ++chunk) left.push_back(chunk);
  host_ = nullptr;  // refuses calls
  while (!left.empty()) {
    auto const next = left.begin() + choices_.pick(static_cast<std::uint32_t>(left.size()));
    int const chunk = *next;
    choices_.mark(CoverageMark::threads_reordered, next != left.begin());
    left.erase(next);
    Agent& thread = thread_of(host, static_cast<std::size_t>(chunk));
    thread.clock.assign(known);
    thread.advance();
    std::uint32_t const record = add_record({.rank = host.rank,
                                             .program_operation = host.program_operation,
                                             .agent = thread.index,
                                             .name = "a thread of host code"});
    timeline_.begin_chunk(host, record);
    observer_->chunk_begins(thread, record);
    body(chunk);
    observer_->chunk_ends(host);
    host.clock.join(thread.clock);
  }
  host_ = &host;
}

void World::share_chunks(int count, std::function<void(int)> const& body) {
  Host* const host = std::exchange(host_, nullptr);  // refuses calls, whichever thread makes them
  crew_->share(static_cast<std::size_t>(std::max(count, 0)),
               [&](std::size_t chunk, std::size_t) { body(static_cast<int>(chunk)); });
  host_ = host;
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
  ready_.erase_if([](Candidate* candidate) { return !static_cast<Agent*>(candidate)->is_host; });
  quiet_hosts_.clear();
  for (auto const& host : hosts_) {
    if (host.get() != host_ && host->fiber.alive()) make_ready(*host);
  }
}

namespace {

void announce(Violation const& violation) {
  std::string const text = "adamant: " + heading_of(violation) + "\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace

void World::add_violation(Violation violation) {
  auto& found = is_warning(violation.law) && !options_.strict ? warnings_ : violations_;
  bool const is_apart = stands_apart(found, violation);
  if (violation.law == Law::memory_leak && !is_apart)
    violation = further_leak(std::move(violation));
  auto const [known, is_first] = seen_violations_.try_emplace(mistake_of(violation), found.size());
  bool const is_told = is_apart || (is_first && !full(found, violation));
  locations_.settle(is_told);
  bool const of_rank = violation.rank != Violation::no_rank;
  if (of_rank) violation.ranks = {violation.rank};
  if (!is_told && !is_first) return fold(found[known->second], violation);
  if (!is_told) return void(seen_violations_.erase(known));
  bool const of_call = violation.accesses.empty() && violation.law != Law::of_harness;
  if (locations_.on() && of_call && host_ != nullptr && !violation.at.known()) {
    violation.at = location_of(stack_here());
  }
  if (timeline_.on() && violation.accesses.empty() && of_rank) {
    violation.event =
        timeline_.mark(*hosts_[static_cast<std::size_t>(violation.rank)], name_of(violation.law));
  }
  bool const announces = options_.announce && !locations_.on() && &found == &violations_;
  if (announces && is_first) announce(violation);
  found.push_back(std::move(violation));
}

Related World::related(std::string_view what, std::uint32_t call) {
  return {.what = std::string(what), .rank = record(call).rank, .at = locations_.line_of(call)};
}

}  // namespace adamant::sim
