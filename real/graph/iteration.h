// A recorded iteration: its verbs, its graph, and what the host knew when it was recorded, by which
// a replay sees whether the graph still fits. It knows nothing of what the verbs do.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "real/engine.h"
#include "real/graph/graph.h"
#include "real/scale/gradient_scaling.h"
#include "real/step/step_table.h"

namespace adamant::real {

/// What the host keeps of an engine's progress.
struct BooksOfHost {
  std::vector<bool> has_gradient;
  StepCounters counters;
};

/// What a graph was recorded with. A backward adds to the gradients that were there and overwrites
/// the others; a step looks for what is not finite, or does not.
struct RecordedWith {
  std::vector<bool> has_gradient;
  ScalingMode scaling;
  friend bool operator==(RecordedWith const&, RecordedWith const&) = default;
};

class Iteration {
 public:
  explicit Iteration(std::span<Verb const> verbs) : verbs_(verbs.begin(), verbs.end()) {}

  std::span<Verb const> verbs() const { return verbs_; }

  /// Captures what `enqueue` does with the verbs, starting from there. Errors: as Graph.
  void record(Stream const& stream, RecordedWith const& with, std::function<void()> const& enqueue);
  // Due while the verbs are recorded: at each step, and at the end.
  void note_step(std::vector<bool> const& has_gradient) { steps_.push_back(has_gradient); }
  void recorded(std::vector<bool> const& has_gradient) { gradients_after_ = has_gradient; }

  /// Is the graph right for this, too?
  bool fits(RecordedWith const& now) const { return now == with_; }
  void launch(Stream const& stream) const { graph_.launch(stream); }

  /// Which parameters have a gradient in each step of a replay, and after it.
  std::vector<std::vector<bool>> const& steps() const { return steps_; }
  std::vector<bool> const& gradients_after() const { return gradients_after_; }

 private:
  std::vector<Verb> verbs_;
  Graph graph_;
  RecordedWith with_;
  std::vector<std::vector<bool>> steps_;
  std::vector<bool> gradients_after_;
};

}  // namespace adamant::real
