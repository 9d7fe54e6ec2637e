#include "scenarios/run/program_walk.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "scenarios/run/assert.h"

namespace adamant::scenarios {

namespace {

constexpr Primitive::Kind iteration[] = {Primitive::Kind::backward, Primitive::Kind::step,
                                         Primitive::Kind::zero_grad};
constexpr std::int64_t iteration_length = std::ssize(iteration);

std::vector<int> numbers_of(std::vector<std::string> const& names,
                            std::vector<Param> const& params) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < params.size(); ++i)
    if (std::find(names.begin(), names.end(), params[i].name) != names.end())
      numbers.push_back(static_cast<int>(i));
  return numbers;
}

}  // namespace

Program::Program(Scenario const& scenario) {
  Optimizer optimizer = scenario.optimizer;
  for (Operation const& operation : scenario.program) {
    Entry entry;
    if (auto const* train = std::get_if<Train>(&operation.action)) {
      entry.train = true;
      entry.count = train->count;
    } else if (auto const* backward = std::get_if<Backward>(&operation.action)) {
      entry.kind = Primitive::Kind::backward;
      entry.without = numbers_of(backward->without, scenario.params);
    } else if (std::holds_alternative<Step>(operation.action)) {
      entry.kind = Primitive::Kind::step;
    } else if (auto const* zero_grad = std::get_if<ZeroGrad>(&operation.action)) {
      entry.kind = Primitive::Kind::zero_grad;
      entry.set_to_none = zero_grad->set_to_none;
    } else if (auto const* set = std::get_if<Set>(&operation.action)) {
      optimizer = with(std::move(optimizer), set->change);
      entry.kind = Primitive::Kind::set;
      entry.groups = group_configs(optimizer, scenario.groups);
    } else if (std::holds_alternative<OffloadStates>(operation.action)) {
      entry.kind = Primitive::Kind::offload;
    } else if (std::holds_alternative<ReloadStates>(operation.action)) {
      entry.kind = Primitive::Kind::reload;
    } else {
      ADAMANT_RUN_ASSERT(std::holds_alternative<Check>(operation.action));  // refuse() let it pass
    }
    entries_.push_back(std::move(entry));
  }
}

std::optional<Primitive> ProgramWalk::next() {
  if (entry_ == program_.entries_.size()) return std::nullopt;
  Program::Entry const& entry = program_.entries_[entry_];
  Primitive primitive{.kind = entry.train ? iteration[done_ % iteration_length] : entry.kind,
                      .entry = static_cast<int>(entry_),
                      .without = entry.without,
                      .backward_index = backwards_,
                      .set_to_none = entry.set_to_none,
                      .groups = entry.groups};
  if (primitive.kind == Primitive::Kind::backward) ++backwards_;

  bool const iteration_ends = !entry.train || (done_ + 1) % iteration_length == 0;
  bool const entry_ends = iteration_ends && done_ / iteration_length + 1 >= entry.count;
  done_ = entry_ends ? 0 : done_ + 1;
  if (entry_ends) ++entry_;
  return primitive;
}

}  // namespace adamant::scenarios
