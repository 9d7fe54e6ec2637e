#include "scenarios/seam/program_walk.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

using Kind = Primitive::Kind;

constexpr auto kind_names = std::to_array<std::string_view>(
    {"backward", "clip", "step", "zero_grad", "set", "overflow", "capture", "replay", "check",
     "offload", "reload", "save", "load"});
static_assert(kind_names.size() == static_cast<std::size_t>(Kind::load) + 1);

constexpr Kind iteration[] = {Kind::backward, Kind::step, Kind::zero_grad};
constexpr Kind clipped_iteration[] = {Kind::backward, Kind::clip, Kind::step, Kind::zero_grad};

/// What one count of `train` does.
std::span<Kind const> iteration_of(bool clips) {
  if (clips) return clipped_iteration;
  return iteration;
}

}  // namespace

AdamOverride SetByGroup::operator[](std::size_t group) const {
  return group == 0 ? *change_ : without(*change_, (*groups_)[group - 1].settings);
}

std::string_view name_of(Primitive::Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

bool clips(Primitive const& operation) {
  return operation.kind == Kind::clip ||
         std::any_of(operation.captured.begin(), operation.captured.end(),
                     [](Primitive const& captured) { return clips(captured); });
}

int backward_count(std::span<Primitive const> operations) {
  return static_cast<int>(std::count_if(
      operations.begin(), operations.end(),
      [](Primitive const& operation) { return operation.kind == Primitive::Kind::backward; }));
}

std::vector<Primitive> replayed(Primitive const& replay) {
  std::vector<Primitive> operations(replay.captured.begin(), replay.captured.end());
  std::int64_t backward = replay.backward_index;
  bool overflow = replay.overflow;
  for (Primitive& operation : operations) {
    operation.entry = replay.entry;
    if (operation.kind != Kind::backward) continue;
    operation.backward_index = backward++;
    operation.overflow = std::exchange(overflow, false);
  }
  return operations;
}

Program::LeftOut Program::left_out_of(Backward const& backward,
                                      std::vector<Param> const& params) const {
  if (backward.without.empty()) return {};
  LeftOut left_out{.names = places_of(backward.without, params), .parameters = {}};
  left_out.parameters = registry_.without_gradient(left_out.names);
  return left_out;
}

std::shared_ptr<Program::Captured const> Program::unrolled(Capture const& capture,
                                                           std::vector<Param> const& params,
                                                           bool clips) const {
  auto captured = std::make_shared<Captured>();
  captured->left_out.reserve(capture.body.size());  // spans point to its elements
  auto const add = [&](Primitive const& primitive) { captured->primitives.push_back(primitive); };
  for (Operation const& operation : capture.body) {
    if (auto const* train = std::get_if<Train>(&operation.action)) {
      for (std::int64_t i = 0; i < train->count; ++i)
        for (Kind const kind : iteration_of(clips)) add({.kind = kind});
    } else if (auto const* backward = std::get_if<Backward>(&operation.action)) {
      captured->left_out.push_back(left_out_of(*backward, params));
      add({.kind = Primitive::Kind::backward,
           .without = captured->left_out.back().parameters,
           .left_out = captured->left_out.back().names});
    } else if (std::holds_alternative<ClipNorm>(operation.action)) {
      add({.kind = Primitive::Kind::clip});
    } else if (std::holds_alternative<Step>(operation.action)) {
      add({.kind = Primitive::Kind::step});
    } else if (auto const* zero_grad = std::get_if<ZeroGrad>(&operation.action)) {
      add({.kind = Primitive::Kind::zero_grad, .set_to_none = zero_grad->set_to_none});
    } else {
      ADAMANT_RUN_ASSERT(std::holds_alternative<Check>(operation.action));  // refuse() let it pass
    }
  }
  return captured;
}

Program::Program(Scenario const& scenario)
    : registry_(registry_of(scenario.params)),
      groups_(scenario.groups),
      clip_(scenario.optimizer.clip) {
  for (Operation const& operation : scenario.program) {
    Entry entry;
    if (auto const* train = std::get_if<Train>(&operation.action)) {
      entry.train = true;
      entry.count = train->count;
    } else if (auto const* backward = std::get_if<Backward>(&operation.action)) {
      entry.kind = Primitive::Kind::backward;
      entry.left_out = left_out_of(*backward, scenario.params);
    } else if (std::holds_alternative<Step>(operation.action)) {
      entry.kind = Primitive::Kind::step;
    } else if (auto const* zero_grad = std::get_if<ZeroGrad>(&operation.action)) {
      entry.kind = Primitive::Kind::zero_grad;
      entry.set_to_none = zero_grad->set_to_none;
    } else if (auto const* set = std::get_if<Set>(&operation.action)) {
      entry.kind = Primitive::Kind::set;
      entry.change = set->change;
    } else if (auto const* save = std::get_if<Save>(&operation.action)) {
      entry.kind = Primitive::Kind::save;
      entry.checkpoint = save->checkpoint;
      known_.insert(save->checkpoint);
    } else if (auto const* load = std::get_if<Load>(&operation.action)) {
      entry.kind = Primitive::Kind::load;
      add_load(entry, *load, scenario);
    } else if (std::holds_alternative<ClipNorm>(operation.action)) {
      entry.kind = Primitive::Kind::clip;
    } else if (std::holds_alternative<Overflow>(operation.action)) {
      entry.kind = Primitive::Kind::overflow;
    } else if (std::holds_alternative<OffloadStates>(operation.action)) {
      entry.kind = Primitive::Kind::offload;
    } else if (std::holds_alternative<ReloadStates>(operation.action)) {
      entry.kind = Primitive::Kind::reload;
    } else if (auto const* capture = std::get_if<Capture>(&operation.action)) {
      entry.kind = Primitive::Kind::capture;
      entry.captured = {.unclipped = unrolled(*capture, scenario.params, false),
                        .clipped = unrolled(*capture, scenario.params, true)};
    } else if (auto const* replay = std::get_if<Replay>(&operation.action)) {
      entry.kind = Primitive::Kind::replay;
      entry.count = replay->count;
    } else {
      ADAMANT_RUN_ASSERT(std::holds_alternative<Check>(operation.action));  // refuse() let it pass
    }
    entries_.push_back(std::move(entry));
  }
}

void Program::add_load(Entry& entry, Load const& load, Scenario const& scenario) {
  entry.checkpoint = load.from;
  entry.may_round = may_round(load.types(), scenario.params);
  if (known_.insert(load.from).second) foreign_.push_back(load.from);
  entry.sets_anew = needs_new_world(last_ ? *last_ : scenario, load);
  entry.anew = load.anew;
  if (entry.sets_anew) change(load, scenario);
  entry.setting = static_cast<int>(settings_.size());
}

void Program::change(Load const& load, Scenario const& scenario) {
  if (!last_) {
    last_ = scenario;
    last_->program.clear();
  }
  last_ = with(*std::exchange(last_, std::nullopt), load);
  settings_.push_back(setting_of(*last_));
}

std::shared_ptr<std::vector<Program::Kinds> const> Program::may_round(
    PrecisionOverride const& types, std::vector<Param> const& params) {
  auto& found = may_round_[named_kinds(types, {})];
  if (found != nullptr) return found;
  std::vector<Kinds> kinds;
  for (Param const& param : params)
    if (!param.is_tied()) kinds.push_back(named_kinds(types, param.precision));
  return found = std::make_shared<std::vector<Kinds> const>(std::move(kinds));
}

Scenario Program::setting(int number) const {
  return with(*last_, settings_[static_cast<std::size_t>(number) - 1]);
}

std::optional<Primitive> ProgramWalk::next() {
  if (entry_ == program_->entries_.size()) return std::nullopt;
  Program::Entry const& entry = program_->entries_[entry_];
  auto const kinds = iteration_of(clip_.has_value());
  std::int64_t const length = entry.train ? std::ssize(kinds) : 1;
  Kind const kind = entry.train ? kinds[static_cast<std::size_t>(done_ % length)] : entry.kind;
  if (entry.anew) forget_settings();
  if (kind == Kind::capture) captured_ = clip_ ? entry.captured.clipped : entry.captured.unclipped;
  bool const uses_captured = kind == Kind::capture || kind == Kind::replay;
  Primitive primitive{
      .kind = kind,
      .entry = static_cast<int>(entry_),
      .without = entry.left_out.parameters,
      .left_out = entry.left_out.names,
      .backward_index = backwards_,
      .overflow = overflow_,
      .captured = uses_captured ? captured_->primitives : std::span<Primitive const>{},
      .set_to_none = entry.set_to_none,
      .loss_scale = entry.change.loss_scale,
      .clip = kind == Kind::load ? clip_ : entry.change.clip,
      .set = kind == Kind::set ? SetByGroup(entry.change.adam, program_->groups_) : SetByGroup(),
      .checkpoint = entry.checkpoint,
      .setting = entry.setting,
      .sets_anew = entry.sets_anew,
      .anew = entry.anew,
      .offload = program_->offload_of(entry.setting),
      .may_round = entry.may_round ? *entry.may_round : std::span<Program::Kinds const>{}};
  if (kind == Kind::set && entry.change.clip) clip_ = *entry.change.clip;
  int const backwards = kind == Kind::backward ? 1
                        : kind == Kind::replay ? backward_count(primitive.captured)
                                               : 0;
  backwards_ += backwards;
  overflow_ = kind == Kind::overflow || (overflow_ && backwards == 0);

  bool const entry_ends = (done_ + 1) % length == 0 && done_ / length + 1 >= entry.count;
  done_ = entry_ends ? 0 : done_ + 1;
  if (entry_ends) ++entry_;
  return primitive;
}

}  // namespace adamant::scenarios
