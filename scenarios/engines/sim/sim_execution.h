// One simulated world of a run: ranks are fibers, and what they do is named for the world's
// reports. Who starts the next world is sim_engine.cpp.
#pragma once

#include "scenarios/engines/execution.h"
#include "scenarios/engines/sim/sim_world.h"
#include "sim/sim.h"

namespace adamant::scenarios {

class SimExecution final : public Execution {
 public:
  /// `workers`: of the CPU's part of a step. REQUIRES: all that is referred to outlives it.
  SimExecution(RunParts const& run, WorldStart const& start, int workers);

  /// Errors: rethrows what the observer threw.
  sim::Report run(sim::Options const& options);

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

  WorldOfRanks& world() override { return world_; }
  void meet(int, std::function<void()> const& once) override { sim::meet(once); }
  // Fibers take turns, and none of these bodies lets another one go on.
  void one_at_a_time(std::function<void()> const& body) override { body(); }
  void begin(int rank, Primitive const& operation) override;
  void performed(int rank, Primitive const& operation) override;
  void report(Violation const& found, std::size_t number) override;

  void rank_main(int rank);
  void execute_program(int rank);
  void join_world(int rank);
  void announce_settings(int rank);
  void name_streams(int rank);
  void name_for_reports(int rank);
  void fail(int rank, std::exception const& error);
  void expect_all_given_back(int rank);

  BarrierOfFibers barrier_;
  WorkersOfWorld workers_;
  CheckpointFiles const& files_;
  SimWorld world_;
  bool ended_ = false;  // before its time, because a rank failed
};

}  // namespace adamant::scenarios
