#include "scenarios/engines/sim/sim_execution.h"

#include <utility>

#include "sim/too_few_addresses.h"

namespace adamant::scenarios {

SimExecution::SimExecution(RunParts const& run, WorldStart const& start, int workers)
    : Execution(run, start, barrier_),
      workers_(workers),
      files_(run.files),
      world_({.mesh = mesh_of(parts_.setting.world),
              .parameters = run.task.parameters.size(),
              .has_rooms = needs_room(parts_.setting)},
             run.files) {
  if (run.task.loopback) parts_.exchange = run.door.make_loopback_exchange(ranks_);
}

sim::Report SimExecution::run(sim::Options const& options) {
  try {
    sim::Report report = sim::run(
        ranks_, [this](int rank) { rank_main(rank); }, options);
    conclude();
    return report;
  } catch (sim::TooFewAddresses const& error) {
    throw MachineLacks(error.what());
  }
}

// An error that left a rank's main would take the report of this world with it. So it is kept, and
// the world is ended, which makes the other ranks fail and unwind as well. A crash is no error.
void SimExecution::rank_main(int rank) {
  try {
    execute_program(rank);
  } catch (std::exception const& error) {
    if (files_.crashed())
      world_.rank(rank).reset();
    else
      fail(rank, error);
    return;
  }
  world_.rank(rank).reset();
  sim::meet([&] { observer_.ended({live_allocations(), live_handles()}); });
}

void SimExecution::execute_program(int rank) {
  join_world(rank);
  show_start(rank);
  execute_all(rank);
  sim::note_operation(-1);
  show(rank, [&] {
    if (failure_) return false;
    if (!elsewhere_) observer_.finished(world_);
    sim::note_result(world_.fold(parts_.task.parameters.size()));
    return true;
  });
}

void SimExecution::join_world(int rank) {
  if (parts_.exchange == nullptr) {
    if (rank == 0) parts_.nccl_id = parts_.door.make_nccl_id();
    sim::barrier();
  }
  make_engine(rank, {.rank = rank,
                     .world_size = ranks_,
                     .device = parts_.exchange != nullptr ? 0 : rank,
                     .workers = &workers_});
  name_streams(rank);
  name_for_reports(rank);
  announce_settings(rank);
}

void SimExecution::begin(int, Primitive const& operation) {
  sim::note_operation(operation.entry, name_of(operation));
}

void SimExecution::performed(int rank, Primitive const& operation) {
  if (is<OffloadStates>(operation.what)) name_streams(rank);
  if (is<resolved::Set>(operation.what)) announce_settings(rank);
  name_for_reports(rank);
}

// What a graph must not hold by value.
void SimExecution::announce_settings(int rank) {
  if (!parts_.task.scenario.optimizer.capturable) return;
  auto const max_norm = world_.rank(rank)->engine().scaling().max_norm;
  if (max_norm) sim::note_setting("clip", *max_norm);
  for (std::size_t g = 0; g < parts_.groups.size(); ++g) {
    AdamConfig const config = world_.rank(rank)->engine().group(static_cast<int>(g));
    std::string const of = " of group " + std::to_string(g);
    for (AdamNumber const& number : numbers_of_adam())
      sim::note_setting(std::string(number.name) + of, config.*number.place);
  }
}

void SimExecution::report(Violation const& found, std::size_t number) {
  sim::report({.law = sim::Law::of_harness,
               .breach = sim::Breach::of_harness,
               .rank = found.rank,
               .operation = found.operation,
               .number = static_cast<int>(number)});
}

void SimExecution::name_streams(int rank) {
  for (real::NamedStream const& stream : world_.rank(rank)->engine().streams())
    sim::name_stream(stream.stream, stream.name);
}

void SimExecution::name_for_reports(int rank) {
  for (NamedBuffer const& buffer : world_.note_buffers(rank))
    sim::name_buffer(buffer.address, name_of(buffer.purpose));
}

// The engine goes while the world still stands, because afterwards nothing can be given back; who
// fails meanwhile leaves the end to the first.
void SimExecution::fail(int rank, std::exception const& error) {
  EngineError const explained = parts_.door.explain(error);
  bool const first = !failure_;
  if (first) failure_ = failure_of(rank, explained);
  world_.rank(rank).reset();
  if (!ended_ && explained.reason == "out_of_memory") expect_all_given_back(rank);
  if (!first) return;
  ended_ = true;
  sim::end_world();
}

void SimExecution::expect_all_given_back(int rank) {
  LiveBytes kept;
  for (WorldAllocation const& allocation : live_allocations())
    if (allocation.rank == rank)
      (allocation.on_host ? kept.pinned : kept.device) +=
          static_cast<std::int64_t>(allocation.bytes);
  if (kept == LiveBytes{}) return;
  add_unclean(
      {.breach = Breach::memory_kept, .operation = entry(rank), .rank = rank, .actual = kept});
}

}  // namespace adamant::scenarios
