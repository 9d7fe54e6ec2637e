// What the oracle counts for some ranks of a world, kept in step with a program's operations: for
// who compares it with buffers, and for who only wants to know. It has never seen an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/budget/budget.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {

/// What save and load may take beside the state, whatever its size. The exact number depends on how
/// long the messages are that ranks exchange, so no budget has it.
inline constexpr std::int64_t checkpoint_bytes_max = std::int64_t{64} << 20;

/// What engines keep although an eager one would give it back.
oracle::Residence residence_of(Scenario const& scenario);

class Budgets {
 public:
  /// Without ranks until a world begins.
  explicit Budgets(Scenario const& scenario);

  /// Engines were made anew as `setting` asks, with the norm in force; counted are these ranks
  /// alone. Parameters are in the file's order.
  void begin_world(Scenario const& setting, std::span<ParameterSpec const> parameters,
                   std::span<int const> ranks, Clip const& clip);

  /// What an operation changes, whose parameters have numbers of the file. A load that makes
  /// another world has begun it before.
  void follow(Primitive const& operation);
  /// Engines have had to do with a loss scale or a norm.
  void use_scaling();

  std::size_t size() const { return budgets_.size(); }
  /// By the place of its rank in begin_world().
  oracle::Budget const& of(std::size_t index) const { return budgets_[index]; }

 private:
  oracle::Residence residence_;
  bool has_loss_scale_;                    // from the beginning on
  ParamOrder order_ = ParamOrder::listed;  // of the world
  int parameter_count_ = 0;
  std::vector<oracle::Budget> budgets_;
};

}  // namespace adamant::scenarios
