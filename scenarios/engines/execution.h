// One world of a run in this process: its ranks take the program from where the world before left
// it to its end, to a crash, or to a load that needs another world, and between two operations the
// observer looks. What a rank runs on, how ranks meet, and what else is said of a world is for
// whoever derives.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/engines/checkpoint_files.h"
#include "scenarios/engines/door.h"
#include "scenarios/engines/rank_engine.h"
#include "scenarios/engines/world_of_ranks.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// Where a world takes the program up.
struct WorldStart {
  ProgramWalk walk;                    // what comes after `load`
  std::optional<Primitive> load = {};  // the operation it begins with, if it is not the first world

  /// Number of the setting of the world; see Program.
  int setting() const { return load ? load->as<resolved::Load>()->setting : 0; }
};

/// What the worlds of a run have in common.
struct RunParts {
  EngineDoor const& door;
  EngineTask const& task;
  Observer& observer;
  CheckpointFiles& files;
};

/// Are two findings of the harness the same, be it on other ranks or at other operations?
bool is_same_finding(Violation const& a, Violation const& b);

class Execution {
 public:
  virtual ~Execution() = default;

  std::optional<EngineFailure> const& failure() const { return failure_; }
  /// What engines that failed were found not to do: error.clean. Each once.
  std::vector<Violation> const& found() const { return found_; }
  std::vector<std::string> const& notes() const { return notes_; }
  /// The world that comes after this one, if one does.
  std::optional<WorldStart> next() const;

 protected:
  /// REQUIRES: all that is referred to outlives it.
  Execution(RunParts const& run, WorldStart const& start, real::Rendezvous& rendezvous);

  virtual WorldOfRanks& world() = 0;
  /// Waits for all ranks, with all that they have enqueued done; one of them calls `once`.
  virtual void meet(int rank, std::function<void()> const& once) = 0;
  /// Calls `body` while no other rank is in one.
  virtual void one_at_a_time(std::function<void()> const& body) = 0;
  /// Before and after a rank performs an operation.
  virtual void begin(int /*rank*/, Primitive const& /*operation*/) {}
  virtual void performed(int /*rank*/, Primitive const& /*operation*/) {}
  /// That is number `number` of what was found.
  virtual void report(Violation const& /*found*/, std::size_t /*number*/) {}

  // ---- what ranks do, in this order ----
  /// Makes the rank's engine.
  void make_engine(int rank, RankPlace const& place);
  /// Lets the observer look at what there is before any operation.
  void show_start(int rank);
  void execute_all(int rank);
  /// Waits for all ranks; one of them looks, and says whether the run goes on.
  void show(int rank, std::function<bool()> const& look);

  /// Which entry the rank is at.
  int entry(int rank) const { return operations_[static_cast<std::size_t>(rank)]; }
  /// Why this rank gives up.
  EngineFailure failure_of(int rank, EngineError const& error) const;
  /// An engine that failed is not as one has to be that did.
  void add_unclean(Violation violation);
  /// For the reader of the result, once.
  void add_note(std::string const& note);
  /// What the observer threw, or that the world crashed, is the end of the run.
  void conclude();

  WorldParts parts_;
  Observer& observer_;
  int ranks_;
  bool go_on_ = true;                     // written while all ranks have met
  std::optional<Primitive> elsewhere_;    // a load that needs another world
  std::optional<EngineFailure> failure_;  // the first

 private:
  void execute(int rank, ProgramWalk& walk, Primitive const& operation);
  /// Does what is due once before an operation, with whichever rank comes to it first.
  void take_up(int rank, ProgramWalk const& walk, Primitive const& operation);
  void perform(int rank, Primitive const& operation);
  void look_at(Primitive const& operation);
  void look_at_failed_load(Primitive const& load);
  void expect_unloaded(Primitive const& load);
  /// Do all ranks say that they hold a state?
  bool has_state(int entry);
  void expect_no_state(int rank);
  /// Of one verb.
  void expect_no_state(int rank, char const* name, std::function<void()> const& verb);
  void take_notes();

  CheckpointFiles& files_;
  WorldStart const& start_;
  std::vector<int> operations_;
  int prepared_ = 0;                       // operations that were taken up
  std::vector<int> taken_;                 // by rank
  std::vector<EngineError> load_errors_;   // by rank: why it could not load
  std::optional<Primitive> current_;       // the operation that ranks are at
  ProgramWalk walk_;                       // behind it
  std::optional<std::uint64_t> unloaded_;  // what parameters were before a new world's load
  Clip loaded_clip_;                       // the norm that the last load put in force
  bool load_failed_ = false;               // written while all ranks have met
  bool crash_was_seen_ = false;            // by the observer
  std::vector<Violation> found_;
  std::vector<std::string> notes_;
  std::exception_ptr observer_error_;
};

}  // namespace adamant::scenarios
