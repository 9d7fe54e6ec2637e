#include "scenarios/run/engines/sim_engine.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "scenarios/run/assert.h"
#include "scenarios/run/engines/rank_engine.h"
#include "scenarios/run/run.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

sim::Schedule simulated(Schedule const& schedule, std::uint64_t seed) {
  sim::Schedule result;
  switch (schedule.strategy) {
    case Schedule::Strategy::fifo:
      result.strategy = sim::Strategy::fifo;
      break;
    case Schedule::Strategy::random:
      result.strategy = sim::Strategy::random;
      break;
    case Schedule::Strategy::pct:
      result.strategy = sim::Strategy::pct;
      break;
    case Schedule::Strategy::exhaustive:
      ADAMANT_RUN_ASSERT(false);  // refuse() lets none pass
  }
  result.seed = schedule.seed.value_or(seed);
  result.depth = static_cast<int>(std::min<std::int64_t>(schedule.depth.value_or(3), 1 << 20));
  result.choices = schedule.choices;
  return result;
}

constexpr int checked_workers = 3;

// Memory is exhausted by a few cores; the engine's kernels never share bytes between blocks.
int threads_of_machine() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
}

ViolationReport reported(sim::Violation const& violation) {
  ViolationReport report;
  report.law = violation.law;
  report.operation = violation.operation;
  report.rank = violation.rank;
  report.message = violation.message;
  report.missing = violation.missing;
  for (sim::Access const& access : violation.accesses)
    report.accesses.push_back({access.rank, access.stream, access.operation, access.kind,
                               access.buffer, access.begin, access.end});
  return report;
}

/// Chunks as the world runs them: one after the other where it judges them, otherwise on threads.
class WorkersOfWorld final : public real::Workers {
 public:
  explicit WorkersOfWorld(int count) : count_(count) {}
  int count() const override { return count_; }
  void parallel_for(int chunks, std::function<void(int)> const& body) override {
    sim::parallel_for(chunks, body);
  }

 private:
  int count_;
};

class BarrierOfFibers final : public real::Rendezvous {
 public:
  void arrive_and_wait(int) override { sim::barrier(); }
};

/// The world between two operations: device memory is this process' own, and settled.
class SimWorld final : public WorldView {
 public:
  /// `hybrid`: a tensor may lie in two places.
  SimWorld(int ranks, std::size_t parameters, bool hybrid)
      : parameters_(parameters),
        ranks_(static_cast<std::size_t>(ranks)),
        rooms_(hybrid ? ranks_.size() * parameters * tensor_kind_count : 0) {}

  std::unique_ptr<RankEngine>& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }

  int rank_count() const override { return static_cast<int>(ranks_.size()); }
  Shard shard(int rank, int parameter, TensorKind kind) const override {
    std::vector<std::byte> none;  // where nothing lies in two places
    auto const number =
        (static_cast<std::size_t>(rank) * parameters_ + static_cast<std::size_t>(parameter)) *
            tensor_kind_count +
        static_cast<std::size_t>(kind);
    auto& room = rooms_.empty() ? none : rooms_[number];
    return shard_of(at(rank).engine(), parameter, kind, room);
  }
  bool has_gradient(int rank, int parameter) const override {
    return at(rank).engine().has_gradient(parameter);
  }
  std::int64_t step_count(int rank, int parameter) const override {
    return at(rank).engine().step_count(parameter);
  }
  std::vector<NamedBuffer> buffers(int rank) const override {
    return named_buffers(at(rank).engine());
  }
  std::size_t peak_bytes(int rank, Purpose purpose) const override {
    return at(rank).engine().peak_bytes(purpose);
  }
  std::optional<std::vector<WorldAllocation>> allocations() const override;
  std::optional<std::uint64_t> gathered_fingerprint(int rank, int parameter) const override;

 private:
  RankEngine& at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }

  std::size_t parameters_;
  std::vector<std::unique_ptr<RankEngine>> ranks_;
  mutable std::vector<std::vector<std::byte>> rooms_;  // by rank, parameter and kind
};

std::vector<WorldAllocation> live_allocations() {
  std::vector<WorldAllocation> live;
  for (sim::LiveAllocation const& allocation : sim::live_allocations())
    live.push_back({allocation.address, allocation.bytes, allocation.rank, allocation.on_host});
  return live;
}

std::optional<std::vector<WorldAllocation>> SimWorld::allocations() const {
  auto live = live_allocations();
  std::erase_if(live, [&](WorldAllocation const& allocation) {
    return at(allocation.rank).gradients().allocation() == allocation.address;
  });
  return live;
}

std::optional<std::uint64_t> SimWorld::gathered_fingerprint(int rank, int parameter) const {
  auto const partials = at(rank).gradients().partial_fingerprints(parameter);
  if (partials.empty()) return std::nullopt;
  std::uint64_t sum = 0;
  for (std::uint64_t const partial : partials) sum += partial;
  return sum;
}

template <typename Word>
std::uint64_t weighted_sum(std::span<std::byte const> bytes) {
  std::uint64_t sum = 0;
  std::uint32_t weight = 1;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum += std::uint64_t{word} * (weight += 2);
  }
  return sum;
}

std::uint64_t weighted_sum(Shard const& shard) {
  bool const wide = bytes_of(shard.format) == sizeof(std::uint32_t);
  return wide ? weighted_sum<std::uint32_t>(shard.bytes) : weighted_sum<std::uint16_t>(shard.bytes);
}

/// What a run led to, for its digest: every rank's parameters, bit for bit.
std::uint64_t fold_of(WorldView const& world, std::size_t parameters) {
  std::uint64_t fold = 0;
  for (int rank = 0; rank < world.rank_count(); ++rank)
    for (std::size_t p = 0; p < parameters; ++p) {
      Shard const shard = world.shard(rank, static_cast<int>(p), TensorKind::parameter);
      fold = (fold ^ weighted_sum(shard)) * 0x9e3779b97f4a7c15ULL;
    }
  return fold;
}

/// One execution: what its ranks share.
class SimExecution {
 public:
  SimExecution(EngineDoor const& door, EngineTask const& task, Observer& observer, int workers)
      : workers_(workers),
        parts_{.door = door,
               .task = task,
               .groups = adam_configs(task.scenario),
               .nccl_id = {},
               .rendezvous = &barrier_,
               .exchange = nullptr},
        observer_(observer),
        ranks_(static_cast<int>(task.scenario.world.rank_count())),
        world_(ranks_, task.parameters.size(),
               std::holds_alternative<HybridOffload>(task.scenario.offload)) {
    if (task.loopback) parts_.exchange = door.make_loopback_exchange(ranks_);
  }

  EngineEnd run(sim::Options const& options);

 private:
  void rank_main(int rank);
  void execute_program(int rank);
  static void name_streams(RankEngine& engine);
  void name_for_reports(int rank, std::vector<void const*>& named);
  void fail(int rank, std::exception const& error);
  /// Waits for all ranks; one of them lets the observer look.
  template <typename Look>
  void show(Look look);

  BarrierOfFibers barrier_;
  WorkersOfWorld workers_;
  WorldParts parts_;
  Observer& observer_;
  int ranks_;
  SimWorld world_;
  bool go_on_ = true;
  std::vector<int> operations_;  // which entry each rank is at
  std::optional<EngineFailure> failure_;
  std::exception_ptr observer_error_;
};

EngineEnd SimExecution::run(sim::Options const& options) {
  operations_.assign(static_cast<std::size_t>(ranks_), -1);
  sim::Report const report = sim::run(
      ranks_, [this](int rank) { rank_main(rank); }, options);
  if (observer_error_) std::rethrow_exception(observer_error_);

  EngineEnd end;
  for (sim::Violation const& violation : report.violations)
    end.violations.push_back(reported(violation));
  end.failure = failure_;
  end.choices = report.choices;
  end.digest = report.digest;
  end.simulated_seconds = static_cast<double>(report.simulated_ns) * 1e-9;
  end.device_peak_bytes = report.device_peak_bytes;
  end.pinned_peak_bytes = report.pinned_peak_bytes;
  return end;
}

// An error that left a rank's main would take the report of this world with it. So it is kept, and
// the world is ended, which makes the other ranks fail and unwind as well.
void SimExecution::rank_main(int rank) {
  try {
    execute_program(rank);
  } catch (std::exception const& error) {
    fail(rank, error);
    world_.rank(rank).reset();
    return;
  }
  world_.rank(rank).reset();
  sim::meet([&] { observer_.ended(live_allocations()); });
}

void SimExecution::execute_program(int rank) {
  if (parts_.exchange == nullptr) {
    if (rank == 0) parts_.nccl_id = parts_.door.make_nccl_id();
    sim::barrier();
  }
  RankPlace const place = {.rank = rank,
                           .world_size = ranks_,
                           .device = parts_.exchange != nullptr ? 0 : rank,
                           .workers = &workers_};
  world_.rank(rank) = std::make_unique<RankEngine>(parts_, place);
  RankEngine& engine = *world_.rank(rank);
  name_streams(engine);
  std::vector<void const*> named;
  name_for_reports(rank, named);
  show([&] { return observer_.started(world_); });

  ProgramWalk walk(parts_.task.program);
  while (go_on_) {
    auto const operation = walk.next();
    if (!operation) break;
    operations_[static_cast<std::size_t>(rank)] = operation->entry;
    sim::note_operation(operation->entry);
    engine.perform(*operation);
    if (operation->kind == Primitive::Kind::offload) name_streams(engine);
    name_for_reports(rank, named);
    show([&] { return observer_.after(*operation, world_); });
  }
  sim::note_operation(-1);
  show([&] {
    observer_.finished(world_);
    sim::note_result(fold_of(world_, parts_.task.parameters.size()));
    return true;
  });
}

void SimExecution::name_streams(RankEngine& engine) {
  for (real::NamedStream const& stream : engine.engine().streams())
    sim::name_stream(stream.stream, stream.name);
}

void SimExecution::name_for_reports(int rank, std::vector<void const*>& named) {
  for (NamedBuffer const& buffer : world_.buffers(rank)) {
    if (std::find(named.begin(), named.end(), buffer.address) != named.end()) continue;
    named.push_back(buffer.address);
    sim::name_buffer(buffer.address, name_of(buffer.purpose));
  }
}

template <typename Look>
void SimExecution::show(Look look) {
  sim::meet([&] {
    try {
      if (!look()) go_on_ = false;
    } catch (...) {
      observer_error_ = std::current_exception();
      go_on_ = false;
    }
  });
}

void SimExecution::fail(int rank, std::exception const& error) {
  EngineError const explained = parts_.door.explain(error);
  if (!failure_)
    failure_ = EngineFailure{.out_of_memory = explained.out_of_memory,
                             .rank = rank,
                             .operation = operations_[static_cast<std::size_t>(rank)],
                             .message = explained.message};
  sim::end_world();
}

/// Switches a bug on for as long as it lives.
class SelectedBug {
 public:
  SelectedBug(EngineDoor const& door, std::string const& id) : door_(door) {
    if (!door.select_bug(id))
      throw MachineLacks("this program's engine has no bug called `" + id + "`");
  }
  ~SelectedBug() { door_.select_bug(""); }
  SelectedBug(SelectedBug const&) = delete;
  SelectedBug& operator=(SelectedBug const&) = delete;

 private:
  EngineDoor const& door_;
};

}  // namespace

std::string_view SimEngine::name() const {
  return variant_ == Variant::checked ? "sim" : "sim-unchecked";
}

EngineEnd SimEngine::execute(EngineTask const& task, Observer& observer) {
  bool const checked = variant_ == Variant::checked;
  EngineDoor const& door = *(checked ? adamant_engine_checked() : adamant_engine_unchecked());
  SelectedBug const bug(door, task.scenario.bug.value_or(""));
  sim::Options options;
  options.seed = task.seed;
  options.schedule = simulated(task.schedule, task.seed);
  options.devices = task.loopback ? 1 : 0;
  options.device_bytes = task.device_bytes;
  options.checked = checked && sim::can_check;  // not beside the sanitizers
  options.threads = threads_of_machine();
  // A number of its own where threads are judged: what a run chooses must not depend on the
  // machine.
  int const workers = checked ? checked_workers : options.threads;
  return SimExecution(door, task, observer, workers).run(options);
}

}  // namespace adamant::scenarios
