// What a pass proposes. A proposal is one edit of a scenario; whatever the edit leaves
// dangling is repaired here, so that things which only make sense together go together.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "scenarios/language/operations.h"
#include "scenarios/language/scenario.h"
#include "scenarios/seam/capabilities.h"
#include "scenarios/search/minimize/weight.h"

namespace adamant::scenarios {

/// Without what refers to nothing: names of dropped parameters and groups, loads of what nothing
/// saves (but those in `outside`, which are directories), replays without a capture, reloads of
/// what is resident and states that a hybrid step never moves, clips without a norm, captures of
/// nothing, changes of nothing, faults of ranks and files that are not there.
Scenario repaired(Scenario scenario, std::set<std::string> const& outside);

/// Hands proposals on one by one, as they are made: a large scenario has more of them than fit into
/// memory, and mostly one of the first is taken.
class Candidates {
 public:
  /// Looks at proposal number `place`; false: no more are wanted.
  using Look = std::function<bool(Scenario candidate, std::size_t place)>;

  /// Proposals before number `first` are not even made, and what an engine with these
  /// capabilities would refuse is not handed on.
  Candidates(Scenario const& from, Capabilities const& capabilities, std::size_t first, Look look)
      : from_(from),
        capabilities_(capabilities),
        weight_(weight_of(from)),
        outside_(loaded_from_outside(from.program)),
        first_(first),
        look_(std::move(look)) {}

  Capabilities const& capabilities() const { return capabilities_; }

  /// Proposes what `change(scenario)` makes of the scenario, if that is lighter and well-formed:
  /// true.
  template <typename Change>
  bool offer(Change const& change) {
    if (next_++ < first_ || !wanted_) return false;
    Scenario candidate = from_;
    change(candidate);
    return look_at(std::move(candidate));
  }

 private:
  bool look_at(Scenario candidate);

  Scenario const& from_;
  Capabilities const& capabilities_;
  Weight weight_;
  std::set<std::string> outside_;
  std::size_t first_;
  Look look_;
  std::size_t next_ = 0;
  bool wanted_ = true;
};

}  // namespace adamant::scenarios
