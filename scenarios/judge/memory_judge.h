// Holds every rank's list of buffers to two others: what the world around the engine says is
// allocated, one by one, and what the oracle counts for each purpose. Law: memory.budget.
#pragma once

#include <span>
#include <vector>

#include "oracle/budget/budget.h"
#include "scenarios/judge/findings.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class MemoryJudge {
 public:
  MemoryJudge(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
              oracle::Offload const& offload, oracle::Residence residence, Findings& findings);

  /// Engines were made anew: the layout and world of `setting`, with the types of these parameters.
  void begin_world(Scenario const& setting, std::vector<ParameterSpec> const& parameters,
                   oracle::Offload const& offload);

  /// Keeps the expectation in step with what the engines did.
  void follow(Primitive const& operation);

  /// Engines have had to do with a loss scale or a norm.
  void use_scaling();

  void compare(WorldView const& world);
  /// After the engines are gone.
  void expect_nothing(Leftovers const& left);

 private:
  void compare_purposes(WorldView const& world, int rank, std::vector<NamedBuffer> const& buffers);
  void compare_one_by_one(int rank, std::vector<NamedBuffer> buffers,
                          std::span<WorldAllocation const> live);
  void report(Violation violation);

  /// Numbers of parameters as their world registered them.
  std::vector<int> registered(std::span<int const> parameters) const;

  oracle::Residence residence_;
  ParamOrder order_ = ParamOrder::listed;
  int parameter_count_ = 0;
  bool scales_;                          // from the beginning on
  std::vector<oracle::Budget> budgets_;  // by rank
  Findings& findings_;
};

}  // namespace adamant::scenarios
