// One simulated world of a run: its ranks take the program from where the world before left it to
// its end, to a crash, or to a load that needs another world. Who starts the next world is
// sim_engine.cpp.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/engines/door.h"
#include "scenarios/engines/rank_engine.h"
#include "scenarios/engines/sim/sim_files.h"
#include "scenarios/engines/sim/sim_world.h"
#include "scenarios/seam/engine.h"
#include "sim/sim.h"

namespace adamant::scenarios {

/// Where a world takes the program up.
struct WorldStart {
  ProgramWalk walk;               // what comes after `load`
  std::optional<Primitive> load;  // the operation it begins with, if it is not the first world
};

/// What the worlds of a run have in common.
struct RunParts {
  EngineDoor const& door;
  EngineTask const& task;
  Observer& observer;
  SimFiles& files;
  int workers = 1;  // of the CPU's part of a step
};

class SimExecution {
 public:
  /// REQUIRES: all that is referred to outlives it.
  SimExecution(RunParts const& run, WorldStart const& start);

  /// Errors: rethrows what the observer threw.
  sim::Report run(sim::Options const& options);

  std::optional<EngineFailure> const& failure() const { return failure_; }
  /// What was found besides the world's own violations, in whose list each has its number.
  std::vector<Violation> const& found() const { return found_; }
  std::vector<std::string> const& notes() const { return notes_; }
  /// The world that comes after this one, if one does.
  std::optional<WorldStart> next() const;

 private:
  class BarrierOfFibers final : public real::Rendezvous {
   public:
    void arrive_and_wait(int) override { sim::barrier(); }
  };

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

  void rank_main(int rank);
  void execute_program(int rank);
  void make_engine(int rank);
  void execute_all(int rank);
  void announce_settings(int rank);
  /// One operation on one rank, and the look at what it led to.
  void execute(int rank, Primitive const& operation);
  void prepare(Primitive const& operation);
  void perform(int rank, Primitive const& operation);
  void look_at(Primitive const& operation);
  void look_at_failed_load(Primitive const& load);
  void expect_unloaded(Primitive const& load);
  /// Do all ranks say that they hold a state?
  bool has_state(int entry);
  void expect_no_state(int rank);
  /// Of one verb.
  template <typename Verb>
  void expect_no_state(int rank, char const* name, Verb verb);
  /// An engine that failed is not as one has to be that did: error.clean.
  void add_unclean(Violation violation);
  void take_notes();
  void name_streams(int rank);
  void name_for_reports(int rank);
  void fail(int rank, std::exception const& error);
  void expect_all_given_back(int rank);
  /// Waits for all ranks; one of them lets the observer look.
  template <typename Look>
  void show(Look look);

  BarrierOfFibers barrier_;
  WorkersOfWorld workers_;
  WorldParts parts_;
  Observer& observer_;
  SimFiles& files_;
  WorldStart const& start_;
  int ranks_;
  SimWorld world_;
  bool go_on_ = true;
  bool ended_ = false;           // before its time, because a rank failed
  std::vector<int> operations_;  // which entry each rank is at

  int prepared_ = 0;                       // operations that were prepared
  std::vector<int> taken_;                 // by rank: operations that it took up
  std::vector<EngineError> load_errors_;   // by rank: why it could not load
  std::optional<Primitive> current_;       // the operation that ranks are at
  ProgramWalk walk_;                       // behind it
  std::optional<std::uint64_t> unloaded_;  // what parameters were before a new world's load
  std::optional<Primitive> elsewhere_;     // a load that needs another world
  bool crash_was_seen_ = false;            // by the observer
  std::optional<EngineFailure> failure_;
  std::vector<Violation> found_;
  std::vector<std::string> notes_;
  std::exception_ptr observer_error_;
};

}  // namespace adamant::scenarios
