#include "scenarios/seam/program_walk.h"

#include <algorithm>
#include <utility>

#include "scenarios/language/verbs.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

/// What one count of `train` does.
constexpr Recorded iteration[] = {resolved::Backward{}, Step{}, ZeroGrad{}};
constexpr Recorded clipped_iteration[] = {resolved::Backward{}, ClipNorm{}, Step{}, ZeroGrad{}};

std::span<Recorded const> iteration_of(bool clips) {
  if (clips) return clipped_iteration;
  return iteration;
}

}  // namespace

std::string_view name_of(Primitive const& operation) {
  static_assert(std::variant_size_v<Resolved> + 1 == std::variant_size_v<Action>);
  static_assert(std::is_same_v<std::variant_alternative_t<0, Action>, Train>);
  return verb_words<Action>[operation.what.index() + 1];
}

bool sets_anew(Primitive const& operation) {
  auto const* const load = operation.as<resolved::Load>();
  return load != nullptr && load->sets_anew;
}

std::span<Recorded const> body_of(Primitive const& operation) {
  if (auto const* capture = operation.as<resolved::Capture>()) return capture->body;
  if (auto const* replay = operation.as<resolved::Replay>()) return replay->body;
  return {};
}

bool clips(Primitive const& operation) {
  return is<ClipNorm>(operation.what) ||
         std::ranges::any_of(body_of(operation),
                             [](auto const& each) { return is<ClipNorm>(each); });
}

int backward_count(std::span<Recorded const> operations) {
  return static_cast<int>(std::ranges::count_if(
      operations, [](auto const& each) { return is<resolved::Backward>(each); }));
}

std::vector<Recorded> replayed(resolved::Replay const& replay) {
  std::vector<Recorded> operations(replay.body.begin(), replay.body.end());
  std::int64_t index = replay.index;
  bool overflow = replay.overflow;
  for (Recorded& operation : operations) {
    auto* const backward = std::get_if<resolved::Backward>(&operation);
    if (backward == nullptr) continue;
    backward->index = index++;
    backward->overflow = std::exchange(overflow, false);
  }
  return operations;
}

Resolved executed(Recorded const& operation) {
  return std::visit([](auto const& each) { return Resolved(each); }, operation);
}

Program::Program(Scenario const& scenario)
    : registry_(registry_of(scenario.params)),
      groups_(scenario.groups),
      clip_(scenario.optimizer.clip) {
  for (Operation const& operation : scenario.program)
    operations_.push_back(match(
        operation.action, [](Train const& train) { return Repeated{.count = train.count}; },
        [&](Backward const& backward) { return Repeated{resolve(backward, scenario.params)}; },
        [&](Set const& set) {
          return Repeated{resolved::Set{set.change, groups_}};
        },
        [&](Capture const& capture) { return resolve(capture, scenario.params); },
        [](Replay const& replay) {
          return Repeated{resolved::Replay{}, replay.count};
        },
        [&](Load const& load) { return Repeated{resolve(load, scenario)}; },
        [](AsWritten auto const& verb) { return Repeated{verb}; }));
}

resolved::Backward Program::resolve(Backward const& backward, std::vector<Param> const& params) {
  if (backward.without.empty()) return {};
  auto const& names = left_out_.emplace_back(places_of(backward.without, params));
  std::span<int const> const left_out = names;
  std::span<int const> const without = left_out_.emplace_back(registry_.without_gradient(names));
  return {.without = without, .left_out = left_out};
}

Program::Repeated Program::resolve(Capture const& capture, std::vector<Param> const& params) {
  std::vector<Recorded> bodies[2];
  auto const add = [&](Recorded const& recorded) {
    for (auto& body : bodies) body.push_back(recorded);
  };
  for (Operation const& operation : capture.body)
    match(
        operation.action,
        [&](Train const& train) {
          for (bool const clips : {false, true})
            for (std::int64_t i = 0; i < train.count; ++i)
              std::ranges::copy(iteration_of(clips), std::back_inserter(bodies[clips ? 1 : 0]));
        },
        [&](Backward const& backward) { add(resolve(backward, params)); },
        [&](OneOf<ClipNorm, Step, ZeroGrad> auto const& verb) { add(verb); }, [](Check const&) {},
        [](OneOf<Set, Overflow, OffloadStates, ReloadStates, Capture, Replay, Save,
                 Load> auto const&) { ADAMANT_RUN_ASSERT(false); });  // refuse() lets none pass
  std::span<Recorded const> const unclipped = bodies_.emplace_back(std::move(bodies[0]));
  return {.what = resolved::Capture{unclipped},
          .clipped = bodies_.emplace_back(std::move(bodies[1]))};
}

resolved::Load Program::resolve(Load const& load, Scenario const& scenario) {
  bool const anew = needs_new_world(last_ ? *last_ : scenario, load);
  if (anew) change(load, scenario);
  return {.checkpoint = load.from,
          .setting = static_cast<int>(settings_.size()),
          .sets_anew = anew,
          .anew = load.anew,
          .offload = settings_.empty() ? nullptr : &settings_.back().offload,
          .may_round = may_round(load.types(), scenario.params),
          .found = load.found};
}

void Program::change(Load const& load, Scenario const& scenario) {
  if (!last_) {
    last_ = scenario;
    last_->program.clear();
  }
  last_ = with(*std::exchange(last_, std::nullopt), load);
  settings_.push_back(setting_of(*last_));
}

std::span<Program::Kinds const> Program::may_round(PrecisionOverride const& types,
                                                   std::vector<Param> const& params) {
  auto const [found, is_new] = may_round_.try_emplace(named_kinds(types, {}));
  for (Param const& param : params)
    if (is_new && !param.is_tied()) found->second.push_back(named_kinds(types, param.precision));
  return found->second;
}

Scenario Program::setting(int number) const {
  return with(*last_, settings_[static_cast<std::size_t>(number) - 1]);
}

int Program::captured_backwards() const {
  int most = 1;
  for (auto const& body : bodies_) most = std::max(most, backward_count(body));
  return most;
}

std::optional<Primitive> ProgramWalk::next() {
  if (entry_ == program_->operations_.size()) return std::nullopt;
  Program::Repeated const& now = program_->operations_[entry_];
  auto const train = now.what ? std::span<Recorded const>() : iteration_of(clip_.has_value());
  std::int64_t const length = now.what ? 1 : std::ssize(train);
  Primitive primitive{
      .entry = static_cast<int>(entry_),
      .what = now.what ? *now.what : executed(train[static_cast<std::size_t>(done_ % length)])};
  take(primitive.what, now);
  ++done_;
  if (done_ % length == 0 && done_ / length >= now.count) {
    done_ = 0;
    ++entry_;
  }
  return primitive;
}

void ProgramWalk::take(Resolved& operation, Program::Repeated const& of) {
  auto const number = [this](auto& first, int backwards) {
    first.index = backwards_;
    first.overflow = overflow_;
    backwards_ += backwards;
    overflow_ = overflow_ && backwards == 0;
  };
  match(
      operation, [&](resolved::Backward& backward) { number(backward, 1); },
      [&](resolved::Set const& set) { clip_ = set.change.clip.value_or(clip_); },
      [&](Overflow const&) { overflow_ = true; },
      [&](resolved::Capture& capture) {
        if (clip_) capture.body = of.clipped;
        captured_ = capture.body;
      },
      [&](resolved::Replay& replay) {
        replay.body = captured_;
        number(replay, backward_count(captured_));
      },
      [&](resolved::Load& load) {
        if (load.anew) forget_settings();
        load.clip = clip_;
      },
      [](OneOf<ClipNorm, Step, ZeroGrad, OffloadStates, ReloadStates, Save, Check> auto const&) {});
}

}  // namespace adamant::scenarios
