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

/// The most backwards that one capture of the program holds.
int backwards_captured(std::vector<Operation> const& program) {
  int most = 1;
  for (Operation const& operation : program) {
    auto const* capture = std::get_if<Capture>(&operation.action);
    if (capture == nullptr) continue;
    std::int64_t backwards = 0;
    for (Operation const& captured : capture->body) {
      if (auto const* train = std::get_if<Train>(&captured.action)) backwards += train->count;
      if (std::holds_alternative<Backward>(captured.action)) ++backwards;
    }
    most = std::max(most, static_cast<int>(backwards));
  }
  return most;
}

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
  if (task.scenario.optimizer.capturable)
    plan.kept_backwards = backwards_captured(task.scenario.program);
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

real::Verb verb_of(Primitive const& operation, RegisteredOrder const& order) {
  real::Verb verb;
  switch (operation.kind) {
    case Primitive::Kind::backward:
      verb.kind = real::Verb::Kind::backward;
      verb.without = places_of(operation.without, order);
      break;
    case Primitive::Kind::zero_grad:
      verb.kind = real::Verb::Kind::zero_grad;
      verb.set_to_none = operation.set_to_none;
      break;
    case Primitive::Kind::clip:
      verb.kind = real::Verb::Kind::clip;
      break;
    default:
      ADAMANT_RUN_ASSERT(operation.kind == Primitive::Kind::step);  // refuse() lets no other pass
      verb.kind = real::Verb::Kind::step;
  }
  return verb;
}

std::vector<real::Verb> verbs_of(std::span<Primitive const> captured,
                                 RegisteredOrder const& order) {
  std::vector<real::Verb> verbs;
  for (Primitive const& operation : captured)
    if (operation.kind != Primitive::Kind::check) verbs.push_back(verb_of(operation, order));
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
  switch (operation.kind) {
    case Primitive::Kind::backward:
      leave_out({&operation, 1});
      begin_backwards({&operation, 1}, 1);
      return engine_->backward(places_of(operation.without, order_));
    case Primitive::Kind::clip:
      return engine_->clip();
    case Primitive::Kind::step:
      return engine_->step();
    case Primitive::Kind::zero_grad:
      return engine_->zero_grad(operation.set_to_none);
    case Primitive::Kind::set:
      return set(operation);
    case Primitive::Kind::save:
      return engine_->save(*storage_, std::string(operation.checkpoint));
    case Primitive::Kind::load:
      return load(operation);
    case Primitive::Kind::offload:
      return engine_->offload();
    case Primitive::Kind::reload:
      return engine_->reload();
    case Primitive::Kind::capture:
      leave_out(operation.captured);
      return engine_->capture(verbs_of(operation.captured, order_));
    case Primitive::Kind::replay:
      begin_backwards(replayed(operation), backward_count(operation.captured));
      leave_out(operation.captured);
      if (!engine_->has_graph()) engine_->capture(verbs_of(operation.captured, order_));
      return engine_->replay();
    case Primitive::Kind::overflow:  // the next backward knows of it
    case Primitive::Kind::check:
      return;
  }
}

void RankEngine::set(Primitive const& operation) {
  for (std::size_t i = 0; i < operation.set.size(); ++i) {
    int const group = static_cast<int>(i);
    engine_->set_group(group, with(engine_->group(group), operation.set[i]));
  }
  if (operation.loss_scale) engine_->set_loss_scale(*operation.loss_scale);
  if (operation.clip) engine_->set_max_norm(*operation.clip);
}

void RankEngine::load(Primitive const& operation) {
  real::LoadOptions const options = load_options(operation.may_round, order_);
  notes_ = engine_->load(*storage_, std::string(operation.checkpoint), options).notes;
}

void RankEngine::leave_out(std::span<Primitive const> operations) {
  std::vector<std::vector<int>> names;
  for (Primitive const& operation : operations)
    if (operation.kind == Primitive::Kind::backward)
      names.emplace_back(operation.left_out.begin(), operation.left_out.end());
  gradients_->leave_out(std::move(names));
}

// Keys on the device are overwritten, so nothing may read them any more.
void RankEngine::begin_backwards(std::span<Primitive const> operations, int count) {
  if (count == 0) return;
  if (task_.scenario.optimizer.capturable) engine_->synchronize();
  auto const first = std::find_if(operations.begin(), operations.end(), [](Primitive const& each) {
    return each.kind == Primitive::Kind::backward;
  });
  gradients_->begin(first->backward_index, count, overflow_of(*first));
}

std::optional<OverflowElement> RankEngine::overflow_of(Primitive const& backward) const {
  return overflow_in(backward,
                     {.seed = task_.seed,
                      .microbatch_count = static_cast<int>(task_.scenario.microbatch_count()),
                      .parameters = parameters_,
                      .registry = &registry_});
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
