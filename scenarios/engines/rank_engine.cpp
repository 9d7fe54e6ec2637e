#include "scenarios/engines/rank_engine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "scenarios/gradients/overflow.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

// A value that no scenario comes to: whatever still has it after a load was not loaded. Its three
// significant bits fit into every format.
constexpr float unlike_any_saved = -12288.0F;

GradientPlan gradient_plan(EngineTask const& task, std::vector<ParameterSpec> const& registered,
                           RegisteredOrder const& order, RankPlace const& place) {
  GradientPlan plan{.numels = {},
                    .formats = {},
                    .names = {},
                    .kind = task.scenario.gradients,
                    .seed = task.seed,
                    .microbatches = static_cast<int>(task.scenario.microbatch_count()),
                    .first_microbatch = place.rank,
                    .microbatch_stride = place.world_size};
  if (task.scenario.optimizer.capturable) plan.kept_backwards = task.program.captured_backwards();
  Registry const registry = registry_of(task.scenario.params);
  for (ParameterSpec const& spec : registered) {
    int const number = order.number_at(static_cast<int>(plan.numels.size()));
    plan.numels.push_back(spec.numel());
    plan.formats.push_back(spec.formats.gradient);
    plan.names.push_back(registry.names[static_cast<std::size_t>(number)]);
  }
  return plan;
}

// Small models are cut finely, so that they, too, have several windows and threads to get wrong.
real::HybridGrain grain_for(EngineTask const& task, Scenario const& setting) {
  std::int64_t total = 0;
  for (ParameterSpec const& spec : task.parameters) total += spec.numel();
  std::int64_t const share = total / setting.world.rank_count() / 4;
  real::HybridGrain const large;
  return {.window_numel = std::clamp<std::int64_t>(share, 32, large.window_numel),
          .chunk_numel = std::clamp<std::int64_t>(share / 2, 16, large.chunk_numel)};
}

// So small that the checkpoints of small models have several pieces, too.
constexpr std::size_t small_piece_bytes = 1024;

std::size_t piece_bytes(std::vector<ParameterSpec> const& parameters) {
  constexpr std::int64_t small_model_numel = 1 << 16;
  std::int64_t numel = 0;
  for (ParameterSpec const& spec : parameters) numel += spec.numel();
  return numel <= small_model_numel ? small_piece_bytes
                                    : real::EngineConfig{}.checkpoint_piece_bytes;
}

/// As checkpoints know the groups: the optimizer's own has no name in a scenario.
std::vector<std::string> group_names(Scenario const& scenario) {
  std::vector<std::string> names{""};
  for (Group const& group : scenario.groups) names.push_back(group.name);
  return names;
}

real::EngineConfig engine_config(WorldParts const& parts,
                                 std::vector<ParameterSpec> const& registered,
                                 RankPlace const& place) {
  Scenario const& scenario = parts.setting;
  return {
      .rank = place.rank,
      .mesh = mesh_of(scenario.world),
      .device = place.device,
      .layout = scenario.layout,
      .parameters = registered,
      .groups = parts.groups,
      .group_names = group_names(scenario),
      .step_counter = scenario.optimizer.step_counter,
      .microbatches = static_cast<int>(scenario.microbatch_count()),
      .loss_scale = scenario.optimizer.loss_scale,
      .max_norm = parts.clip,
      .capturable = scenario.optimizer.capturable,
      .keep_cast_grad = scenario.optimizer.keep_cast_grad,
      .state_offload = state_offload_config(scenario.offload),
      .hybrid = hybrid_config(scenario.offload),
      .hybrid_grain = grain_for(parts.task, scenario),
      .workers = place.workers,
      .transport = parts.exchange != nullptr ? real::Transport::loopback : real::Transport::nccl,
      .nccl_id = parts.nccl_id,
      .rendezvous = parts.rendezvous,
      .exchange = parts.exchange,
      .checkpoint_piece_bytes = piece_bytes(parts.task.parameters)};
}

/// Numbers of parameters as the engine has them.
std::vector<int> places_of(std::span<int const> parameters, RegisteredOrder const& order) {
  std::vector<int> places;
  for (int const parameter : parameters) places.push_back(order.place_of(parameter));
  std::ranges::sort(places);
  return places;
}

std::vector<real::Verb> verbs_of(std::span<Recorded const> captured, RegisteredOrder const& order) {
  using Kind = real::Verb::Kind;
  std::vector<real::Verb> verbs;
  for (Recorded const& operation : captured)
    verbs.push_back(match(
        operation,
        [&](resolved::Backward const& backward) {
          return real::Verb{.kind = Kind::backward, .without = places_of(backward.without, order)};
        },
        [](ClipNorm const&) { return real::Verb{.kind = Kind::clip}; },
        [](Step const&) { return real::Verb{.kind = Kind::step}; },
        [](ZeroGrad const& zero_grad) {
          return real::Verb{.kind = Kind::zero_grad, .set_to_none = zero_grad.set_to_none};
        }));
  return verbs;
}

real::LoadOptions load_options(std::span<std::vector<TensorKind> const> may_round,
                               RegisteredOrder const& order) {
  real::LoadOptions options;
  for (int place = 0; place < std::ssize(may_round); ++place) {
    auto const& kinds = may_round[static_cast<std::size_t>(order.number_at(place))];
    auto const among = [&](TensorKind kind) {
      return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    options.may_round.push_back({.parameter = among(TensorKind::parameter),
                                 .main = among(TensorKind::main),
                                 .exp_avg = among(TensorKind::exp_avg),
                                 .exp_avg_sq = among(TensorKind::exp_avg_sq)});
  }
  return options;
}

}  // namespace

RankEngine::RankEngine(WorldParts const& parts, RankPlace const& place)
    : task_(parts.task),
      parameters_(parameter_specs(parts.setting)),
      order_(order_of(parts.setting)),
      registry_(registry_of(parts.setting.params)) {
  auto const registered = registered_specs(parts.setting);
  gradients_ = parts.door.make_gradients(gradient_plan(parts.task, registered, order_, place));
  engine_ = parts.door.make_engine(engine_config(parts, registered, place), *gradients_);
  storage_ = parts.storage(place.rank);
  write_parameters(parts);
}

void RankEngine::write_parameters(WorldParts const& parts) {
  std::vector<float> unlike;
  for (std::size_t p = 0; p < parts.task.parameters.size(); ++p) {
    int const parameter = static_cast<int>(p);
    if (!parts.first)
      unlike.assign(static_cast<std::size_t>(parts.task.parameters[p].numel()), unlike_any_saved);
    engine_->write_parameter(place_of(parameter), parts.first ? parts.task.initial_values(parameter)
                                                              : std::span(unlike));
  }
}

void RankEngine::perform(Primitive const& operation) {
  match(
      operation.what,
      [&](resolved::Backward const& backward) {
        Recorded const alone[] = {backward};
        leave_out(alone);
        begin_backwards(alone);
        engine_->backward(places_of(backward.without, order_));
      },
      [&](ClipNorm const&) { engine_->clip(); }, [&](Step const&) { engine_->step(); },
      [&](ZeroGrad const& zero_grad) { engine_->zero_grad(zero_grad.set_to_none); },
      [&](resolved::Set const& change) { set(change); },
      [&](Save const& save) { engine_->save(*storage_, save.checkpoint); },
      [&](resolved::Load const& from) { load(from); },
      [&](OffloadStates const&) { engine_->offload(); },
      [&](ReloadStates const&) { engine_->reload(); },
      [&](resolved::Capture const& capture) {
        leave_out(capture.body);
        engine_->capture(verbs_of(capture.body, order_));
      },
      [&](resolved::Replay const& captured) { replay(captured); },
      [](OneOf<Overflow, Check> auto const&) {});  // the next backward knows of the overflow
}

void RankEngine::set(resolved::Set const& set) {
  for (std::size_t i = 0; i < set.group_count(); ++i) {
    int const group = static_cast<int>(i);
    engine_->set_group(group, with(engine_->group(group), set.of_group(i)));
  }
  if (set.change.loss_scale) engine_->set_loss_scale(*set.change.loss_scale);
  if (set.change.clip) engine_->set_max_norm(*set.change.clip);
}

void RankEngine::load(resolved::Load const& load) {
  notes_ = engine_->load(*storage_, load.checkpoint, load_options(load.may_round, order_)).notes;
}

void RankEngine::replay(resolved::Replay const& replay) {
  begin_backwards(replayed(replay));
  leave_out(replay.body);
  if (!engine_->has_graph()) engine_->capture(verbs_of(replay.body, order_));
  engine_->replay();
}

void RankEngine::leave_out(std::span<Recorded const> operations) {
  std::vector<std::vector<int>> names;
  for (Recorded const& operation : operations)
    if (auto const* backward = std::get_if<resolved::Backward>(&operation))
      names.emplace_back(backward->left_out.begin(), backward->left_out.end());
  gradients_->leave_out(std::move(names));
}

// Keys on the device are overwritten, so nothing may read them any more.
void RankEngine::begin_backwards(std::span<Recorded const> operations) {
  int const count = backward_count(operations);
  if (count == 0) return;
  if (task_.scenario.optimizer.capturable) engine_->synchronize();
  auto const& first = std::get<resolved::Backward>(*std::ranges::find_if(
      operations, [](Recorded const& each) { return is<resolved::Backward>(each); }));
  gradients_->begin(
      first.index, count,
      overflow_in(first, {.seed = task_.seed,
                          .microbatch_count = static_cast<int>(task_.scenario.microbatch_count()),
                          .parameters = parameters_,
                          .registry = &registry_}));
}

std::vector<NamedBuffer> named_buffers(real::Engine const& engine) {
  auto const buffers = engine.buffers();
  std::vector<NamedBuffer> named;
  named.reserve(buffers.size());
  for (real::Buffer const& buffer : buffers)
    named.push_back({buffer.address, buffer.bytes, buffer.purpose, buffer.on_host});
  return named;
}

LiveBytes peaks_of(real::Engine const& engine, Purpose purpose) {
  return {.device = static_cast<std::int64_t>(engine.peak_bytes(purpose, false)),
          .pinned = static_cast<std::int64_t>(engine.peak_bytes(purpose, true))};
}

}  // namespace adamant::scenarios
