#include "scenarios/engines/sim/sim_engine.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/bugs/selection.h"
#include "scenarios/engines/sim/sim_execution.h"
#include "scenarios/engines/sim/sim_files.h"
#include "scenarios/engines/sim/sim_findings.h"
#include "scenarios/engines/sim/sim_timeline.h"
#include "scenarios/seam/assert.h"
#include "scenarios/seam/engine.h"
#include "sim/sim.h"
#include "sim/watch/debug_lines.h"

namespace adamant::scenarios {

namespace {

sim::ScheduleOptions simulated(Schedule const& schedule, std::uint64_t seed) {
  sim::ScheduleOptions result;
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
  static auto const threads = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);  // a file
  return static_cast<int>(threads);
}

/// What each world of a run was asked to watch for.
struct SoughtByWorld final : LinesSought {
  std::vector<std::vector<sim::Sought>> worlds;
};

std::vector<sim::AllocationFailure> allocation_failures(Scenario const& scenario) {
  std::vector<sim::AllocationFailure> failures;
  for (Fault const& fault : scenario.faults)
    if (fault.at == Fault::Where::malloc)
      failures.push_back(
          {.rank = static_cast<int>(fault.rank.value_or(0)), .nth = fault.nth.value_or(1)});
  return failures;
}

/// The worlds of one run, one after the other: what they have in common, and what all of them came
/// to.
class Worlds {
 public:
  Worlds(EngineDoor const& door, EngineTask const& task, Observer& observer, int workers)
      : door_(door), task_(task), observer_(observer), workers_(workers), files_(task) {}

  EngineEnd run(sim::Options options) {
    std::optional<WorldStart> start = WorldStart{.walk = ProgramWalk(task_.program)};
    auto const* const earlier = static_cast<SoughtByWorld const*>(task_.lines_sought.get());
    auto sought = std::make_shared<SoughtByWorld>();
    while (start) {
      if (earlier != nullptr && sought->worlds.size() < earlier->worlds.size())
        options.sought = earlier->worlds[sought->worlds.size()];
      SimExecution world({door_, task_, observer_, files_}, *start, workers_);
      sim::Report const report = world.run(options);
      add_chance(report, options.schedule);
      add(report, world.found());
      sought->worlds.push_back(report.sought);
      end_.failure = world.failure();
      end_.notes.insert(end_.notes.end(), world.notes().begin(), world.notes().end());
      start = world.next();
      files_.restart();
      if (start) go_on_from(report, options);
    }
    if (earlier != nullptr)
      if (std::string const why = sim::why_no_lines(); !why.empty())
        end_.notes.push_back("source lines are missing: " + why);
    end_.lines_sought = std::move(sought);
    end_.violations = findings_.violations();
    end_.warnings = findings_.warnings();
    end_.timeline = timeline_.take();
    return std::move(end_);
  }

 private:
  void add(sim::Report const& report, std::vector<Violation> const& found) {
    findings_.add(report, found, timeline_.add(report));
    end_.values_digest += report.values_digest;
    // Without those of one world the others' replay nothing: the seed says all again.
    forgotten_ = forgotten_ || report.choices_forgotten;
    end_.choices.insert(end_.choices.end(), report.choices.begin(), report.choices.end());
    if (forgotten_) end_.choices.clear();
    // The first world's digest is the run's where there is no other.
    end_.digest = worlds_++ == 0 ? report.digest : (end_.digest ^ report.digest) * digest_factor;
    end_.simulated_seconds += static_cast<double>(report.simulated_ns) * 1e-9;
    end_.device_peak_bytes = std::max(end_.device_peak_bytes, report.device_peak_bytes);
    end_.pinned_peak_bytes = std::max(end_.pinned_peak_bytes, report.pinned_peak_bytes);
    end_.marks |= report.marks.to_ullong();
  }

  /// A bug may be in any of the worlds: the least of their chances is the run's.
  void add_chance(sim::Report const& report, sim::ScheduleOptions const& schedule) {
    if (schedule.strategy != sim::Strategy::pct || schedule.choices) return;
    double const chance = sim::pct_chance(schedule.depth, report.agents, report.steps);
    end_.schedule_chance = worlds_ == 0 ? chance : std::min(end_.schedule_chance, chance);
  }

  /// What the next world is told: recorded answers that are left, seeds of its own, and failures of
  /// allocations that are still to come.
  void go_on_from(sim::Report const& report, sim::Options& options) const {
    if (auto& choices = options.schedule.choices)
      choices->erase(choices->begin(),
                     choices->begin() + static_cast<std::ptrdiff_t>(
                                            std::min(choices->size(), report.choices.size())));
    options.seed += seed_step;
    options.schedule.seed += seed_step;
    for (sim::AllocationFailure& failure : options.allocation_failures)
      if (auto const rank = static_cast<std::size_t>(failure.rank);
          rank < report.allocation_calls.size())
        failure.nth -= report.allocation_calls[rank];
  }

  static constexpr std::uint64_t seed_step = 0x9e3779b97f4a7c15ULL;
  static constexpr std::uint64_t digest_factor = 0xff51afd7ed558ccdULL;

  EngineDoor const& door_;
  EngineTask const& task_;
  Observer& observer_;
  int workers_;
  SimFiles files_;
  EngineEnd end_;
  SimFindings findings_;
  SimTimeline timeline_;
  int worlds_ = 0;
  bool forgotten_ = false;  // choices of a world
};

/// With a bug, the engine that has all of them: it reports its accesses, which an unchecked world
/// passes over. Else the one that is shipped.
EngineDoor const& door_of(bool checked, bool woven) {
  if (woven) return *adamant_engine_woven();
  return *(checked ? adamant_engine_checked() : adamant_engine_unchecked());
}

}  // namespace

std::string_view SimEngine::name() const {
  return variant_ == Variant::checked ? "sim" : "sim-unchecked";
}

Capabilities SimEngine::capabilities() const {
  return variant_ == Variant::checked ? capabilities_of_simulation()
                                      : capabilities_of_unchecked_simulation();
}

EngineEnd SimEngine::execute(EngineTask const& task, Observer& observer) {
  bool const checked = variant_ == Variant::checked;
  std::optional<std::string> const& bug = task.scenario.bug;
  if (bug && !bug->empty() && bugs::find(*bug) == nullptr)
    throw MachineLacks("this program's engine has no bug called `" + *bug + "`");
  EngineDoor const& door = door_of(checked, bug.has_value());
  bugs::Selection const selection(bug.value_or(""));
  sim::Options options;
  options.seed = task.seed;
  options.schedule = simulated(task.schedule, task.seed);
  options.devices = task.loopback ? 1 : 0;
  options.device_bytes = task.device_bytes;
  options.checked = checked && sim::can_check;  // not beside the sanitizers
  options.announce = false;
  options.trace = task.timeline;
  options.free_waits = false;  // judged as strictly as the documents allow
  options.one_process = true;
  options.locate = false;  // the engine's state outlives a world: the whole run is repeated
  options.threads = threads_of_machine();
  options.allocation_failures = allocation_failures(task.scenario);
  // A number of its own where threads are judged: what a run chooses must not depend on the
  // machine.
  int const workers = checked ? checked_workers : options.threads;
  return Worlds(door, task, observer, workers).run(std::move(options));
}

}  // namespace adamant::scenarios
