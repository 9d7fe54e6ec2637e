#include "scenarios/run/engines/rank_engine.h"

namespace adamant::scenarios {

namespace {

GradientPlan gradient_plan(EngineTask const& task) {
  GradientPlan plan{.numels = {},
                    .kind = task.scenario.gradients,
                    .seed = task.seed,
                    .microbatches = static_cast<int>(task.scenario.microbatch_count())};
  for (ParameterSpec const& spec : task.parameters) plan.numels.push_back(spec.numel());
  return plan;
}

real::EngineConfig engine_config(WorldParts const& parts, RankPlace const& place) {
  Scenario const& scenario = parts.task.scenario;
  return {
      .rank = place.rank,
      .world_size = place.world_size,
      .device = place.device,
      .parameters = parts.task.parameters,
      .groups = parts.groups,
      .step_counter = scenario.optimizer.step_counter,
      .microbatches = static_cast<int>(scenario.microbatch_count()),
      .transport = parts.exchange != nullptr ? real::Transport::loopback : real::Transport::nccl,
      .nccl_id = parts.nccl_id,
      .rendezvous = parts.rendezvous,
      .exchange = parts.exchange};
}

}  // namespace

RankEngine::RankEngine(WorldParts const& parts, RankPlace const& place) {
  gradients_ = parts.door.make_gradients(gradient_plan(parts.task));
  engine_ = parts.door.make_engine(engine_config(parts, place), *gradients_);
  for (std::size_t p = 0; p < parts.task.parameters.size(); ++p) {
    int const parameter = static_cast<int>(p);
    engine_->write_parameter(parameter, parts.task.initial_values(parameter));
  }
}

void RankEngine::perform(Primitive const& operation) {
  switch (operation.kind) {
    case Primitive::Kind::backward:
      gradients_->begin(operation.backward_index);
      return engine_->backward(operation.without);
    case Primitive::Kind::step:
      return engine_->step();
    case Primitive::Kind::zero_grad:
      return engine_->zero_grad(operation.set_to_none);
    case Primitive::Kind::set:
      for (std::size_t group = 0; group < operation.groups.size(); ++group)
        engine_->set_group(static_cast<int>(group), operation.groups[group]);
      return;
    case Primitive::Kind::check:
      return;
  }
}

std::vector<NamedBuffer> named_buffers(real::Engine const& engine) {
  std::vector<NamedBuffer> named;
  for (real::Buffer const& buffer : engine.buffers())
    named.push_back({buffer.address, buffer.bytes, buffer.purpose, buffer.on_host});
  return named;
}

Shard shard_of(real::Engine const& engine, int parameter, TensorKind kind) {
  real::ShardView const view = engine.shard(parameter, kind);
  auto const numel = view.data == nullptr ? 0 : static_cast<std::size_t>(view.numel);
  return {.row_begin = view.row_begin,
          .row_end = view.row_end,
          .format = view.format,
          .bytes = {static_cast<std::byte const*>(view.data), numel * bytes_of(view.format)},
          .address = view.data};
}

}  // namespace adamant::scenarios
