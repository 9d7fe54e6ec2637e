// The operations of a scenario, drawn one after another for settings that are known: mostly what a
// training loop would do next, else anything that is no refusal at that point. Where a checkpoint
// costs no more than any other operation, half of the programs save.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/language/state_location.h"
#include "scenarios/search/generate/drawing.h"
#include "scenarios/search/generate/settings_drawing.h"

namespace adamant::scenarios {

class ProgramDrawing {
 public:
  ProgramDrawing(Drawing& draws, SettingsDrawing& settings, Scenario& scenario)
      : draws_(draws), settings_(settings), scenario_(scenario) {}

  void make();
  /// Was the program drawn as one that may be captured, although it cannot be with the formats that
  /// the scenario has got since?
  bool lost_captures() const { return captures_ && !may_capture(); }

 private:
  /// The next operation. Half of the time it is what a training loop would do next, so that long
  /// programs make progress; otherwise any.
  Action draw_action();
  Action draw_any();
  Action draw_usual();
  /// Appends the action, or what may stand in its place where the engine would refuse it.
  void append(Action action);
  /// Mostly a step of all parameters, for parameters without moments hide what else a format does;
  /// how many operations it took.
  std::int64_t begin_with_moments();
  /// A load of the last save and a step behind it: what a checkpoint lost shows there.
  void end_with_load();
  void save_again();
  void save_on_fewer_ranks();
  bool may_run_backward() const;
  Action draw_train();
  Action draw_backward();
  bool may_move_states() const;
  /// A save, or the load of what was saved: mostly by turns, so that few files show much.
  Action draw_checkpoint();
  Action draw_load(std::string const& name);
  bool is_allowed(Layout layout) const;
  void draw_other_world(Load& load);
  void draw_other_types(Load& load);
  bool may_capture() const;
  /// May operations come in any order, so that any part of an iteration may be replayed?
  bool any_order() const;
  /// Mostly replays of what was captured last, and else other settings for it or another capture.
  Action draw_graph();
  Action draw_capture();
  Backward captured_backward();
  Action draw_set();
  /// A capture that clips needs a norm whenever it is replayed, and one that does not never clips;
  /// what a load brings back is not known here.
  bool keeps_norm() const;
  Clip draw_clip();
  void track(Action const& action);

  Drawing& draws_;
  SettingsDrawing& settings_;
  Scenario& scenario_;
  bool saves_ = false;  // checkpoints occur
  std::vector<std::string> saved_;
  bool newly_saved_ = false;                  // since the last load
  bool newly_loaded_ = false;                 // since the last step
  Precision precision_;                       // as the last load left it
  bool is_reversed_ = false;                  // likewise
  bool has_norm_ = false;                     // surely, of `clip`, at this point of the program
  std::set<std::string> saved_without_norm_;  // names of checkpoints, at least once
  std::optional<StateLocation> states_;       // from the first operation on
  bool has_gradient_ = false;
  bool captures_ = false;
  std::vector<Operation> captured_;  // the body of the last capture
  bool unused_backward_ = false;     // a backward that no zero_grad has followed
};

}  // namespace adamant::scenarios
