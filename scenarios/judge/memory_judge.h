// Holds every rank's list of buffers to two others: what the world around the engine says is
// allocated, one by one, and what the oracle counts for each purpose. Law: memory.budget.
#pragma once

#include <span>
#include <vector>

#include "scenarios/judge/budgets.h"
#include "scenarios/judge/findings.h"
#include "scenarios/seam/engine.h"
#include "scenarios/seam/memory.h"

namespace adamant::scenarios {

class MemoryJudge {
 public:
  MemoryJudge(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
              RunFindings& findings);

  /// Engines were made anew, as a load asks for them or the scenario does, with the norm in force.
  void begin_world(Scenario const& setting, std::vector<ParameterSpec> const& parameters,
                   Clip const& clip);

  /// Keeps the expectation in step with what the engines did.
  void follow(Primitive const& operation) { budgets_.follow(operation); }

  /// Engines have had to do with a loss scale or a norm.
  void use_scaling() { budgets_.use_scaling(); }

  void compare(WorldView const& world);
  /// Whatever it is judged to be: for who wants to know what a run took.
  void note_peaks(WorldView const& world);
  /// Of the rank that had most, purpose by purpose.
  BytesByPurpose const& peak_bytes() const { return peak_bytes_; }
  /// After the engines are gone.
  void expect_nothing(Leftovers const& left);

 private:
  void compare_purposes(WorldView const& world, int rank, std::vector<NamedBuffer> const& buffers);
  void compare_one_by_one(int rank, std::vector<NamedBuffer> buffers,
                          std::span<WorldAllocation const> live);
  void report(Violation violation);

  Budgets budgets_;  // of all ranks
  BytesByPurpose peak_bytes_{};
  RunFindings& findings_;
};

}  // namespace adamant::scenarios
