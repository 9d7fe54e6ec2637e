// A scenario's program as the sequence of primitive operations that engine and oracle both execute:
// `train` unrolled on the way, `set` turned into the settings it leads to, names into numbers. Who
// executes them is not known here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scenarios/model/scenario.h"

namespace adamant::scenarios {

/// One operation that an engine executes. Spans point into the Program it was read from.
struct Primitive {
  enum class Kind { backward, step, zero_grad, set, check, offload, reload };
  Kind kind = Kind::check;
  int entry = 0;                       // index of the program's entry
  std::span<int const> without;        // backward: parameters that get no gradient
  std::int64_t backward_index = 0;     // backward: how many came before it in the program
  bool set_to_none = true;             // zero_grad
  std::span<AdamConfig const> groups;  // set: the settings of every group from here on
};

/// A program that refuse() let pass, ready to be walked by any number of walkers.
class Program {
 public:
  explicit Program(Scenario const& scenario);

 private:
  friend class ProgramWalk;
  struct Entry {
    bool train = false;
    Primitive::Kind kind = Primitive::Kind::check;
    std::int64_t count = 1;
    bool set_to_none = true;
    std::vector<int> without;
    std::vector<AdamConfig> groups;
  };
  std::vector<Entry> entries_;
};

/// A cursor. REQUIRES: the program outlives it.
class ProgramWalk {
 public:
  explicit ProgramWalk(Program const& program) : program_(program) {}
  std::optional<Primitive> next();

 private:
  Program const& program_;
  std::size_t entry_ = 0;
  std::int64_t done_ = 0;  // primitives of this entry that were handed out
  std::int64_t backwards_ = 0;
};

}  // namespace adamant::scenarios
