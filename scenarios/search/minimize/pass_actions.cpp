// What one operation says, made simpler: smaller counts, parts of a training step instead of all of
// it, fewer exceptions and changes, an operation of a simpler kind.
#include <cstddef>

#include "scenarios/language/verbs.h"
#include "scenarios/search/minimize/passes.h"
#include "scenarios/search/minimize/usual.h"

namespace adamant::scenarios::passes_of {

namespace {

using Actions = std::vector<Action>;

constexpr std::int64_t eager_replays_max = 4;

/// Sequences of actions, each of which may stand in the place of one, by the action's type.
class Replacements {
 public:
  explicit Replacements(bool clips) : clips_(clips) {}

  std::vector<Actions> of(Action const& action) {
    std::visit([this](auto const& value) { propose(value); }, action);
    std::uint64_t const weight = traits_of(action).weight;
    bool const is_plain = weight <= traits_of(Action(Overflow{})).weight;
    if (is_plain) {
      for (Action const& plain :
           {Action(Check{}), Action(ZeroGrad{}), Action(Backward{}), Action(Step{})})
        if (traits_of(plain).weight < weight) all_.push_back({plain});
    }
    return std::move(all_);
  }

 private:
  template <typename Nothing>
  void propose(Nothing const&) {}

  void propose(Train const& train) {
    for (std::int64_t const fewer : {std::int64_t{1}, train.count / 2, train.count - 1})
      if (fewer >= 1 && fewer < train.count) all_.push_back({Train{fewer}});
    if (train.count == 1) return propose_parts();
    Train const rest{train.count - 1};
    if (clips_) all_.push_back({rest, Backward{}, ClipNorm{}, Step{}});
    all_.push_back({rest, Backward{}, Step{}});
    all_.push_back({rest, Backward{}});
    all_.push_back({Backward{}, rest});
    all_.push_back({Backward{}, Step{}, rest});
  }

  void propose_parts() {
    all_.push_back({ZeroGrad{}});
    all_.push_back({Backward{}});
    all_.push_back({Step{}});
    all_.push_back({Backward{}, ZeroGrad{}});
    all_.push_back({Backward{}, Step{}});
    all_.push_back({Step{}, ZeroGrad{}});
    if (!clips_) return;
    all_.push_back({Backward{}, ClipNorm{}});
    all_.push_back({Backward{}, ClipNorm{}, Step{}});
    all_.push_back({Backward{}, Step{}, ZeroGrad{}});
  }

  void propose(Replay const& replay) {
    for (std::int64_t const fewer : {std::int64_t{1}, replay.count / 2, replay.count - 1})
      if (fewer >= 1 && fewer < replay.count) all_.push_back({Replay{fewer}});
  }

  void propose(Backward const& backward) {
    all_.push_back({Backward{}});
    for (std::size_t i = 0; i < backward.without.size(); ++i) {
      Backward fewer = backward;
      fewer.without.erase(fewer.without.begin() + static_cast<std::ptrdiff_t>(i));
      all_.push_back({fewer});
    }
  }

  void propose(ZeroGrad const&) { all_.push_back({ZeroGrad{}}); }

  void propose(Set const& set) {
    for (AdamOverride const& usual : usual_overrides()) {
      if (usual.bias_correction) continue;  // not what a `set` may change
      Set simpler;
      simpler.change.adam = usual;
      all_.push_back({simpler});
    }
    if (set.change.clip)
      propose_set([&](SettingsChange& change) { change.clip = set.change.clip; });
    if (set.change.loss_scale)
      propose_set([&](SettingsChange& change) { change.loss_scale = set.change.loss_scale; });
    for (Clip const& clip : usual_clips)
      if (set.change.clip) propose_set([&](SettingsChange& change) { change.clip = clip; });
    for (LossScale const& scale : usual_loss_scales)
      if (set.change.loss_scale)
        propose_set([&](SettingsChange& change) { change.loss_scale = scale; });
  }
  template <typename Change>
  void propose_set(Change const& change) {
    Set set;
    change(set.change);
    all_.push_back({set});
  }

  void propose(Load const& load) {
    propose_load({.from = load.from});
    for_each_key<Load>([&](auto const& row) {
      if (row.about.required) return;
      propose_load(load, [&](Load& simpler) { reset(simpler, row); });
      if (row.key == map_name<Precision>.name) propose_types(load);
    });
    if (load.offload) propose_load(load, [](Load& simpler) { simpler.offload = Offload(); });
    if (load.layout) propose_load(load, [](Load& simpler) { simpler.layout = Layout::fsdp2; });
    if (!load.world) return;
    for (std::int64_t const ranks : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3},
                                     load.world->shard / 2, load.world->shard - 1})
      if (ranks >= 1) propose_load(load, [&](Load& simpler) { simpler.world = World{ranks, 1}; });
    propose_load(load, [](Load& simpler) { simpler.world->outer = Outer::none; });
    propose_load(load, [](Load& simpler) {
      simpler.world->replicate = 1;
      simpler.world->outer = Outer::none;
    });
  }
  void propose_types(Load const& load) {
    if (!load.precision) return;
    for_each_key<PrecisionOverride>([&](auto const& row) {
      propose_load(load, [&](Load& simpler) { reset(*simpler.precision, row); });
    });
  }
  void propose_load(Load const& load) { all_.push_back({load}); }
  template <typename Change>
  void propose_load(Load load, Change const& change) {
    change(load);
    propose_load(load);
  }

  bool clips_;
  std::vector<Actions> all_;
};

std::vector<Operation> spliced(std::vector<Operation> list, std::size_t index,
                               Actions const& actions) {
  auto const at = list.begin() + static_cast<std::ptrdiff_t>(index);
  auto const next = list.erase(at);
  std::vector<Operation> operations;
  for (Action const& action : actions) operations.push_back({.action = action, .line = {}});
  list.insert(next, operations.begin(), operations.end());
  return list;
}

}  // namespace

void simplify_actions(Scenario const& scenario, Candidates& candidates) {
  bool const clips = scenario.optimizer.clip.has_value();
  for (std::size_t i = 0; i < scenario.program.size(); ++i) {
    Action const& action = scenario.program[i].action;
    for (Actions const& actions : Replacements(clips).of(action))
      candidates.offer([&](Scenario& s) { s.program = spliced(s.program, i, actions); });
    auto const* const capture = std::get_if<Capture>(&action);
    for (std::size_t b = 0; capture != nullptr && b < capture->body.size(); ++b) {
      for (Actions const& actions : Replacements(clips).of(capture->body[b].action)) {
        candidates.offer([&](Scenario& s) {
          auto& body = std::get<Capture>(s.program[i].action).body;
          body = spliced(body, b, actions);
        });
      }
    }
  }
}

/// The captured operations themselves in the place of each replay.
void replay_eagerly(Scenario const& scenario, Candidates& candidates) {
  std::vector<Operation> eager;
  std::vector<Operation> body;
  for (Operation const& operation : scenario.program) {
    auto const* const replay = std::get_if<Replay>(&operation.action);
    if (auto const* capture = std::get_if<Capture>(&operation.action)) {
      body = capture->body;
    } else if (replay != nullptr) {
      if (replay->count > eager_replays_max) return;
      for (std::int64_t i = 0; i < replay->count; ++i)
        eager.insert(eager.end(), body.begin(), body.end());
    } else {
      eager.push_back(operation);
    }
  }
  candidates.offer([&](Scenario& s) {
    s.program = eager;
    s.optimizer.capturable = false;
  });
  candidates.offer([&](Scenario& s) { s.program = eager; });
}

}  // namespace adamant::scenarios::passes_of
