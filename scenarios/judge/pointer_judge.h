// Watches where tensors live. Parameters never move, moments and main weights only where they leave
// the device and come back; a gradient stays where it is until zero_grad gives it back. Law:
// pointers.stable.
#pragma once

#include <optional>
#include <vector>

#include "oracle/budget/budget.h"
#include "scenarios/judge/findings.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class PointerJudge {
 public:
  PointerJudge(std::vector<ParameterSpec> const& parameters, int ranks,
               std::optional<StateOffloadConfig> const& leaving, oracle::Residence residence,
               RunFindings& findings);

  /// Engines were made anew, so many of them, with the types of these parameters.
  void begin_world(int ranks, std::vector<ParameterSpec> const& parameters,
                   std::optional<StateOffloadConfig> const& leaving);

  /// After `operation`, or before the first one if it is null.
  void compare(WorldView const& world, Primitive const* operation);

 private:
  bool may_move(TensorKind kind, Primitive const& operation) const;
  struct Storage {
    void const* now = nullptr;   // null: no storage
    void const* home = nullptr;  // where it was last; what a graph may hold comes back to it
  };
  /// Does it come back to where it was, whatever gave it back in between?
  bool stays(TensorKind kind) const;

  std::vector<ParameterSpec> parameters_;
  std::optional<StateOffloadConfig> leaving_;  // states of which steps move something
  RunFindings& findings_;
  oracle::Residence residence_;
  std::vector<Storage> storages_;  // by rank, parameter, kind
};

}  // namespace adamant::scenarios
