// A recorded iteration: its verbs, its graph, and what the host knew when it was recorded, by which
// a replay sees whether the graph still fits. It knows nothing of what the verbs do.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "real/engine.h"
#include "real/graph/graph.h"
#include "real/scale/gradient_scaling.h"
#include "real/shard/parameter_set.h"

namespace adamant::real {

/// What a graph was recorded with. A backward adds to the gradients that were there and overwrites
/// the others; a step looks for what is not finite, or does not.
struct RecordedWith {
  ParameterSet have_gradients;
  ScalingMode scaling;
};

class Iteration {
 public:
  explicit Iteration(std::span<Verb const> verbs) : verbs_(verbs.begin(), verbs.end()) {}

  std::span<Verb const> verbs() const { return verbs_; }

  /// Captures what `enqueue` does with the verbs, starting from there. Errors: as Graph.
  void record(Stream const& stream, RecordedWith const& with, std::function<void()> const& enqueue);
  // Due while the verbs are recorded: at each step, and at the end.
  void note_step(ParameterSet const& have_gradients) { steps_.push_back(have_gradients); }
  void recorded(ParameterSet const& have_gradients) { gradients_after_ = have_gradients; }

  /// Is the graph right for this, too?
  bool fits(ParameterSet const& have_gradients, ScalingMode const& scaling) const {
    return have_gradients == with_.have_gradients && scaling == with_.scaling;
  }
  void launch(Stream const& stream) const { graph_.launch(stream); }

  /// Which parameters have a gradient in each step of a replay, and after it.
  std::vector<ParameterSet> const& steps() const { return steps_; }
  ParameterSet const& gradients_after() const { return gradients_after_; }

 private:
  std::vector<Verb> verbs_;
  Graph graph_;
  RecordedWith with_;
  std::vector<ParameterSet> steps_;
  ParameterSet gradients_after_;
};

}  // namespace adamant::real
