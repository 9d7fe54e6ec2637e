#include "scenarios/engines/execution.h"

#include <algorithm>
#include <utility>

namespace adamant::scenarios {

namespace {

/// Thrown on every rank of a crashed machine, to unwind.
struct MachineCrashed : std::exception {
  char const* what() const noexcept override { return "the machine has crashed"; }
};

/// Is this why a load may fail, rather than a defect?
bool is_about_checkpoints(EngineError const& error) {
  return error.reason == "damaged_checkpoint" || error.reason == "incompatible_checkpoint";
}

}  // namespace

bool is_same_finding(Violation const& a, Violation const& b) {
  return a.law == b.law && a.breach == b.breach && a.subject == b.subject && a.text == b.text &&
         a.actual == b.actual;
}

Execution::Execution(RunParts const& run, WorldStart const& start, real::Rendezvous& rendezvous)
    : parts_{.door = run.door,
             .task = run.task,
             .setting = run.task.setting(start.setting()),
             .groups = adam_configs(run.task.scenario),
             .clip = start.walk.clip(),
             .first = !start.load,
             .storage = [&files = run.files](int rank) { return files.storage_of(rank); },
             .nccl_id = {},
             .rendezvous = &rendezvous,
             .exchange = nullptr},
      observer_(run.observer),
      ranks_(static_cast<int>(parts_.setting.world.rank_count())),
      files_(run.files),
      start_(start),
      operations_(static_cast<std::size_t>(ranks_), -1),
      taken_(static_cast<std::size_t>(ranks_), 0),
      load_errors_(static_cast<std::size_t>(ranks_)),
      walk_(start.walk) {}

std::optional<WorldStart> Execution::next() const {
  if (failure_ || !go_on_) return std::nullopt;
  if (elsewhere_) return WorldStart{.walk = walk_, .load = elsewhere_};
  if (!files_.crashed()) return std::nullopt;
  ProgramWalk walk = walk_;
  while (auto operation = walk.next())
    if (auto* const load = std::get_if<resolved::Load>(&operation->what)) {
      load->clip = walk.forget_settings();
      return WorldStart{.walk = walk, .load = std::move(operation)};
    }
  return std::nullopt;
}

void Execution::conclude() {
  if (observer_error_) std::rethrow_exception(observer_error_);
  if (files_.crashed() && !crash_was_seen_) observer_.crashed(*current_, false);
}

void Execution::make_engine(int rank, RankPlace const& place) {
  world().rank(rank) = std::make_unique<RankEngine>(parts_, place);
}

void Execution::show_start(int rank) {
  show(rank, [&] {
    if (!start_.load) return observer_.started(world());
    if (!parts_.task.scenario.faults.empty())
      unloaded_ = world().fold(parts_.task.parameters.size());
    return observer_.restarted(*start_.load, world());
  });
}

void Execution::execute_all(int rank) {
  ProgramWalk walk = start_.walk;
  if (start_.load && go_on_) execute(rank, walk, *start_.load);
  while (go_on_) {
    auto const operation = walk.next();
    if (!operation) break;
    if (sets_anew(*operation)) {
      one_at_a_time([&] { take_up(rank, walk, *operation); });
      break;
    }
    execute(rank, walk, *operation);
  }
}

void Execution::execute(int rank, ProgramWalk& walk, Primitive const& operation) {
  operations_[static_cast<std::size_t>(rank)] = operation.entry;
  if (clips(operation) && !walk.clip()) {
    return show(rank, [&] {
      failure_ = clip_without_norm(operation);
      return false;
    });
  }
  begin(rank, operation);
  one_at_a_time([&] { take_up(rank, walk, operation); });
  perform(rank, operation);
  performed(rank, operation);
  bool const loads = is<resolved::Load>(operation.what);
  show(rank, [&] {
    look_at(operation);
    return go_on_;
  });
  if (files_.crashed()) throw MachineCrashed();
  if (loads && go_on_) walk.put_in_force(loaded_clip_);
  if (loads && load_failed_ && !world().rank(rank)->engine().has_state()) expect_no_state(rank);
}

// Whichever rank comes first, while the others are at rest: an operation begins when all have left
// the one before.
void Execution::take_up(int rank, ProgramWalk const& walk, Primitive const& operation) {
  if (taken_[static_cast<std::size_t>(rank)]++ != prepared_) return;
  ++prepared_;
  walk_ = walk;
  current_ = operation;
  bool const begins_here = start_.load && prepared_ == 1;
  if (sets_anew(operation) && !begins_here) {
    elsewhere_ = operation;
    return;
  }
  if (is<Save>(operation.what)) files_.begin_save();
  auto const* const load = operation.as<resolved::Load>();
  if (load == nullptr) return;
  DamagedFiles const damage = files_.begin_load(load->checkpoint);
  if (!damage.empty()) observer_.damaged(operation, damage);
}

// A load that is refused for a reason is a result, and all ranks have to come to it.
void Execution::perform(int rank, Primitive const& operation) {
  try {
    world().rank(rank)->perform(operation);
  } catch (std::exception const& error) {
    EngineError explained = parts_.door.explain(error);
    if (!is<resolved::Load>(operation.what) || !is_about_checkpoints(explained)) throw;
    load_errors_[static_cast<std::size_t>(rank)] = std::move(explained);
  }
}

void Execution::look_at(Primitive const& operation) {
  auto const* const save = operation.as<Save>();
  if (save != nullptr && files_.end_save(save->checkpoint)) {
    crash_was_seen_ = true;
    return observer_.crashed(operation, true);
  }
  bool const refused = std::any_of(load_errors_.begin(), load_errors_.end(),
                                   [](EngineError const& error) { return !error.reason.empty(); });
  if (refused) return look_at_failed_load(operation);
  if (is<resolved::Load>(operation.what)) {
    loaded_clip_ = world().rank(0)->engine().scaling().max_norm;
    take_notes();
  }
  if (!observer_.after(operation, world())) go_on_ = false;
}

void Execution::look_at_failed_load(Primitive const& load) {
  go_on_ = false;
  load_failed_ = true;
  for (int rank = ranks_ - 1; rank >= 0; --rank) {
    EngineError const& error = load_errors_[static_cast<std::size_t>(rank)];
    if (error.reason.empty())
      add_unclean({.breach = Breach::loaded_alone, .operation = load.entry, .rank = rank});
    else
      failure_ = EngineFailure{
          .reason = error.reason, .rank = rank, .operation = load.entry, .message = error.message};
  }
  bool const holds = has_state(load.entry);
  if (holds) expect_unloaded(load);
  observer_.refused(load, *failure_, holds ? &world() : nullptr);
}

// What a world was before its first load only the world itself can tell.
void Execution::expect_unloaded(Primitive const& load) {
  bool const first = start_.load && start_.load->entry == load.entry;
  if (!first || !unloaded_ || world().fold(parts_.task.parameters.size()) == *unloaded_) return;
  add_unclean({.breach = Breach::failed_load_changed, .operation = load.entry});
}

bool Execution::has_state(int entry) {
  bool const first = world().rank(0)->engine().has_state();
  for (int rank = 1; rank < ranks_; ++rank)
    if (world().rank(rank)->engine().has_state() != first)
      add_unclean({.breach = Breach::state_disagreed, .operation = entry, .rank = rank});
  return first;
}

void Execution::take_notes() {
  for (std::string const& note : world().rank(0)->notes()) add_note(note);
}

void Execution::add_note(std::string const& note) {
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

// Nothing half loaded may be used: whatever a rank is asked for now has to be refused, and by
// saying why.
void Execution::expect_no_state(int rank) {
  real::Engine& engine = world().rank(rank)->engine();
  expect_no_state(rank, "backward", [&] { engine.backward({}); });
  expect_no_state(rank, "step", [&] { engine.step(); });
  expect_no_state(rank, "zero_grad", [&] { engine.zero_grad(true); });
  expect_no_state(rank, "set", [&] { engine.set_group(0, engine.group(0)); });
  expect_no_state(rank, "reload", [&] { engine.reload(); });
  expect_no_state(rank, "save", [&] { engine.save(*parts_.storage(rank), "after_failed_load"); });
}

void Execution::expect_no_state(int rank, char const* name, std::function<void()> const& verb) {
  Violation violation{.operation = entry(rank), .rank = rank, .subject = Call{.verb = name}};
  try {
    verb();
    violation.breach = Breach::used_without_state;
  } catch (std::exception const& error) {
    if (parts_.door.says_no_state(error)) return;
    violation.breach = Breach::silent_about_state;
    violation.text = error.what();
  }
  add_unclean(std::move(violation));
}

EngineFailure Execution::failure_of(int rank, EngineError const& error) const {
  return {.reason = is_about_checkpoints(error) ? "" : error.reason,
          .rank = rank,
          .operation = entry(rank),
          .message = error.message};
}

// The same of several ranks is one thing, as it is among a world's own.
void Execution::add_unclean(Violation violation) {
  violation.law = Law::error_clean;
  one_at_a_time([&] {
    auto const same = std::ranges::find_if(
        found_, [&](Violation const& other) { return is_same_finding(other, violation); });
    auto const number = static_cast<std::size_t>(same - found_.begin());
    if (same == found_.end()) found_.push_back(violation);
    report(violation, number);
  });
}

void Execution::show(int rank, std::function<bool()> const& look) {
  meet(rank, [&] {
    try {
      world().look_anew();
      if (!look()) go_on_ = false;
    } catch (...) {
      observer_error_ = std::current_exception();
      go_on_ = false;
    }
  });
}

}  // namespace adamant::scenarios
