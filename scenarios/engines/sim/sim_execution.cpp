#include "scenarios/engines/sim/sim_execution.h"

#include <algorithm>
#include <utility>

#include "scenarios/engines/sim/sim_findings.h"

namespace adamant::scenarios {

namespace {

/// Thrown on every rank of a crashed machine, to unwind.
struct MachineCrashed : std::exception {
  char const* what() const noexcept override { return "the machine has crashed"; }
};

Scenario const& setting_of(EngineTask const& task, WorldStart const& start) {
  return task.setting(start.load ? start.load->setting : 0);
}

/// Is this why a load may fail, rather than a defect?
bool is_about_checkpoints(EngineError const& error) {
  return error.reason == "damaged_checkpoint" || error.reason == "incompatible_checkpoint";
}

}  // namespace

SimExecution::SimExecution(RunParts const& run, WorldStart const& start)
    : workers_(run.workers),
      parts_{.door = run.door,
             .task = run.task,
             .setting = setting_of(run.task, start),
             .groups = adam_configs(run.task.scenario),
             .first = !start.load,
             .storage = [&files = run.files](int rank) { return files.storage_of(rank); },
             .nccl_id = {},
             .rendezvous = &barrier_,
             .exchange = nullptr},
      observer_(run.observer),
      files_(run.files),
      start_(start),
      ranks_(static_cast<int>(parts_.setting.world.rank_count())),
      world_({.mesh = mesh_of(parts_.setting.world),
              .parameters = run.task.parameters.size(),
              .has_rooms = needs_room(parts_.setting)},
             run.files),
      operations_(static_cast<std::size_t>(ranks_), -1),
      taken_(static_cast<std::size_t>(ranks_), 0),
      load_errors_(static_cast<std::size_t>(ranks_)),
      walk_(start.walk) {
  if (run.task.loopback) parts_.exchange = run.door.make_loopback_exchange(ranks_);
}

sim::Report SimExecution::run(sim::Options const& options) {
  sim::Report report = sim::run(
      ranks_, [this](int rank) { rank_main(rank); }, options);
  if (observer_error_) std::rethrow_exception(observer_error_);
  if (files_.crashed() && !crash_was_seen_) observer_.crashed(*current_, false);
  return report;
}

std::optional<WorldStart> SimExecution::next() const {
  if (failure_ || !go_on_) return std::nullopt;
  if (elsewhere_) return WorldStart{.walk = walk_, .load = elsewhere_};
  if (!files_.crashed()) return std::nullopt;
  ProgramWalk walk = walk_;
  while (auto operation = walk.next())
    if (operation->kind == Primitive::Kind::load)
      return WorldStart{.walk = walk, .load = std::move(operation)};
  return std::nullopt;
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
  make_engine(rank);
  execute_all(rank);
  sim::note_operation(-1);
  show([&] {
    if (failure_) return false;
    if (!elsewhere_) observer_.finished(world_);
    sim::note_result(world_.fold(parts_.task.parameters.size()));
    return true;
  });
}

void SimExecution::make_engine(int rank) {
  if (parts_.exchange == nullptr) {
    if (rank == 0) parts_.nccl_id = parts_.door.make_nccl_id();
    sim::barrier();
  }
  RankPlace const place = {.rank = rank,
                           .world_size = ranks_,
                           .device = parts_.exchange != nullptr ? 0 : rank,
                           .workers = &workers_};
  world_.rank(rank) = std::make_unique<RankEngine>(parts_, place);
  name_streams(rank);
  name_for_reports(rank);
  announce_settings(rank);
  show([&] {
    if (!start_.load) return observer_.started(world_);
    if (!parts_.task.scenario.faults.empty())
      unloaded_ = world_.fold(parts_.task.parameters.size());
    return observer_.restarted(*start_.load, world_);
  });
}

void SimExecution::execute_all(int rank) {
  ProgramWalk walk = start_.walk;
  if (start_.load && go_on_) execute(rank, *start_.load);
  while (go_on_) {
    auto const operation = walk.next();
    if (!operation) break;
    walk_ = walk;
    if (operation->sets_anew) {
      elsewhere_ = operation;
      break;
    }
    execute(rank, *operation);
  }
}

void SimExecution::execute(int rank, Primitive const& operation) {
  operations_[static_cast<std::size_t>(rank)] = operation.entry;
  sim::note_operation(operation.entry, name_of(operation.kind));
  if (taken_[static_cast<std::size_t>(rank)]++ == prepared_) prepare(operation);
  perform(rank, operation);
  if (operation.kind == Primitive::Kind::offload) name_streams(rank);
  if (operation.kind == Primitive::Kind::set) announce_settings(rank);
  name_for_reports(rank);
  bool const loads = operation.kind == Primitive::Kind::load;
  show([&] {
    look_at(operation);
    return go_on_;
  });
  if (files_.crashed()) throw MachineCrashed();
  if (loads && failure_ && !world_.rank(rank)->engine().has_state()) expect_no_state(rank);
}

// What a graph must not hold by value.
void SimExecution::announce_settings(int rank) {
  if (!parts_.task.scenario.optimizer.capturable) return;
  auto const max_norm = world_.rank(rank)->engine().scaling().max_norm;
  if (max_norm) sim::note_setting("clip", *max_norm);
  for (std::size_t g = 0; g < parts_.groups.size(); ++g) {
    AdamConfig const config = world_.rank(rank)->engine().group(static_cast<int>(g));
    std::string const of = " of group " + std::to_string(g);
    sim::note_setting("lr" + of, config.learning_rate);
    sim::note_setting("beta1" + of, config.beta1);
    sim::note_setting("beta2" + of, config.beta2);
    sim::note_setting("eps" + of, config.epsilon);
    sim::note_setting("weight_decay" + of, config.weight_decay);
  }
}

// Whichever rank comes first, while the others are at rest: an operation begins when all have left
// the one before.
void SimExecution::prepare(Primitive const& operation) {
  ++prepared_;
  current_ = operation;
  if (operation.kind == Primitive::Kind::save) files_.begin_save();
  if (operation.kind != Primitive::Kind::load) return;
  DamagedFiles const damage = files_.begin_load(operation.checkpoint);
  if (!damage.empty()) observer_.damaged(operation, damage);
}

// A load that is refused for a reason is a result, and all ranks have to come to it.
void SimExecution::perform(int rank, Primitive const& operation) {
  try {
    world_.rank(rank)->perform(operation);
  } catch (std::exception const& error) {
    EngineError explained = parts_.door.explain(error);
    bool const refuses = operation.kind == Primitive::Kind::load && is_about_checkpoints(explained);
    if (!refuses) throw;
    load_errors_[static_cast<std::size_t>(rank)] = std::move(explained);
  }
}

void SimExecution::look_at(Primitive const& operation) {
  if (operation.kind == Primitive::Kind::save && files_.end_save(operation.checkpoint)) {
    crash_was_seen_ = true;
    return observer_.crashed(operation, true);
  }
  bool const refused = std::any_of(load_errors_.begin(), load_errors_.end(),
                                   [](EngineError const& error) { return !error.reason.empty(); });
  if (refused) return look_at_failed_load(operation);
  if (operation.kind == Primitive::Kind::load) take_notes();
  if (!observer_.after(operation, world_)) go_on_ = false;
}

void SimExecution::look_at_failed_load(Primitive const& load) {
  go_on_ = false;
  for (int rank = ranks_ - 1; rank >= 0; --rank) {
    EngineError const& error = load_errors_[static_cast<std::size_t>(rank)];
    if (error.reason.empty())
      add_unclean({.breach = Breach::loaded_alone, .operation = load.entry, .rank = rank});
    else
      failure_ = EngineFailure{
          .reason = error.reason, .rank = rank, .operation = load.entry, .message = error.message};
  }
  bool const holds = has_state(load.entry);
  if (holds) expect_unloaded(load);
  observer_.refused(load, *failure_, holds ? &world_ : nullptr);
}

// What a world was before its first load only the world itself can tell.
void SimExecution::expect_unloaded(Primitive const& load) {
  bool const first = start_.load && start_.load->entry == load.entry;
  if (!first || !unloaded_ || world_.fold(parts_.task.parameters.size()) == *unloaded_) return;
  add_unclean({.breach = Breach::failed_load_changed, .operation = load.entry});
}

bool SimExecution::has_state(int entry) {
  bool const first = world_.rank(0)->engine().has_state();
  for (int rank = 1; rank < ranks_; ++rank)
    if (world_.rank(rank)->engine().has_state() != first)
      add_unclean({.breach = Breach::state_disagreed, .operation = entry, .rank = rank});
  return first;
}

void SimExecution::take_notes() {
  for (std::string const& note : world_.rank(0)->notes())
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

// Nothing half loaded may be used: whatever a rank is asked for now has to be refused, and by
// saying why.
void SimExecution::expect_no_state(int rank) {
  real::Engine& engine = world_.rank(rank)->engine();
  expect_no_state(rank, "backward", [&] { engine.backward({}); });
  expect_no_state(rank, "step", [&] { engine.step(); });
  expect_no_state(rank, "zero_grad", [&] { engine.zero_grad(true); });
  expect_no_state(rank, "set", [&] { engine.set_group(0, engine.group(0)); });
  expect_no_state(rank, "reload", [&] { engine.reload(); });
  expect_no_state(rank, "save", [&] { engine.save(*parts_.storage(rank), "after_failed_load"); });
}

template <typename Verb>
void SimExecution::expect_no_state(int rank, char const* name, Verb verb) {
  Violation violation{.operation = operations_[static_cast<std::size_t>(rank)],
                      .rank = rank,
                      .subject = Call{.verb = name}};
  try {
    verb();
    violation.breach = Breach::used_without_state;
  } catch (std::exception const& error) {
    if (parts_.door.says_no_state(error)) return;
    violation.breach = Breach::silent_about_state;
    violation.text = error.what();
  }
  add_unclean(std::move(violation));
}

// The same of several ranks is one thing, as it is among the world's own.
void SimExecution::add_unclean(Violation violation) {
  violation.law = Law::error_clean;
  auto const same = std::ranges::find_if(
      found_, [&](Violation const& other) { return is_same_finding(other, violation); });
  sim::report({.law = sim::Law::of_harness,
               .breach = sim::Breach::of_harness,
               .rank = violation.rank,
               .operation = violation.operation,
               .number = static_cast<int>(same - found_.begin())});
  if (same == found_.end()) found_.push_back(std::move(violation));
}

void SimExecution::name_streams(int rank) {
  for (real::NamedStream const& stream : world_.rank(rank)->engine().streams())
    sim::name_stream(stream.stream, stream.name);
}

void SimExecution::name_for_reports(int rank) {
  for (NamedBuffer const& buffer : world_.note_buffers(rank))
    sim::name_buffer(buffer.address, name_of(buffer.purpose));
}

template <typename Look>
void SimExecution::show(Look look) {
  sim::meet([&] {
    try {
      world_.look_anew();
      if (!look()) go_on_ = false;
    } catch (...) {
      observer_error_ = std::current_exception();
      go_on_ = false;
    }
  });
}

// The engine goes while the world still stands, because afterwards nothing can be given back; who
// fails meanwhile leaves the end to the first.
void SimExecution::fail(int rank, std::exception const& error) {
  EngineError const explained = parts_.door.explain(error);
  bool const first = !failure_;
  if (first)
    failure_ = EngineFailure{.reason = is_about_checkpoints(explained) ? "" : explained.reason,
                             .rank = rank,
                             .operation = operations_[static_cast<std::size_t>(rank)],
                             .message = explained.message};
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
  add_unclean({.breach = Breach::memory_kept,
               .operation = operations_[static_cast<std::size_t>(rank)],
               .rank = rank,
               .actual = kept});
}

}  // namespace adamant::scenarios
