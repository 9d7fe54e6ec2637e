#include "real/checkpoint/engine_state.h"

#include "real/checkpoint/names.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

ShardDescription describe(ParameterSpec const& spec, TensorKind kind, ShardView const& view) {
  return {.key = key_of(spec.name, kind),
          .format = view.format,
          .global_shape = spec.shape,
          .ranges = view.ranges,
          .data = static_cast<std::byte*>(view.data),
          .on_host = view.on_host,
          .tail = static_cast<std::byte*>(view.tail),
          .tail_numel = view.tail_numel};
}

/// What is saved of a parameter; gradients are not.
std::vector<TensorKind> saved_kinds(Formats const& formats) {
  std::vector<TensorKind> kinds = {TensorKind::parameter, TensorKind::exp_avg,
                                   TensorKind::exp_avg_sq};
  if (formats.main) kinds.push_back(TensorKind::main);
  return kinds;
}

std::vector<SavedGroup> describe_groups(EngineNames const& names, AdamStep const& step) {
  std::vector<SavedGroup> groups;
  for (std::size_t g = 0; g < names.groups.size(); ++g) {
    int const group = static_cast<int>(g);
    groups.push_back({names.groups[g], step.group(group), step.counters().of_group(group), {}});
  }
  for (ParameterSpec const& spec : names.parameters)
    groups[static_cast<std::size_t>(spec.group)].parameters.push_back(spec.name);
  return groups;
}

/// Those of the parameter that belong to these remainders.
ShardDescription upper_halves(ShardDescription const& parameter, ShardView const& remainders) {
  ShardDescription halves = parameter;
  halves.ranges = remainders.ranges;
  halves.data = static_cast<std::byte*>(remainders.upper);
  return halves;
}

/// What is saved of a parameter.
std::vector<StateTensor> describe_tensors(ParameterSpec const& spec, int parameter,
                                          ShardOf const& shard_of) {
  bool const split = spec.formats.main == NumberFormat::remainder;
  std::vector<StateTensor> tensors;
  for (TensorKind const kind : saved_kinds(spec.formats)) {
    ShardView const view = shard_of(parameter, kind);
    StateTensor& tensor =
        tensors.emplace_back(StateTensor{.parameter = parameter,
                                         .kind = kind,
                                         .shard = describe(spec, kind, view),
                                         .is_upper = split && kind == TensorKind::parameter,
                                         .coverage = spec.formats.state_scale,
                                         .scale = view.scale,
                                         .quantised = view.quantised});
    if (split && kind == TensorKind::main) tensor.upper = upper_halves(tensors.front().shard, view);
  }
  return tensors;
}

}  // namespace

CheckpointState describe_engine(EngineNames const& names, ShardOf const& shard_of,
                                AdamStep const& step) {
  CheckpointState state;
  state.counter = names.counter;
  state.progress.groups = describe_groups(names, step);
  for (std::size_t p = 0; p < names.parameters.size(); ++p) {
    ParameterSpec const& spec = names.parameters[p];
    int const parameter = static_cast<int>(p);
    for (StateTensor& tensor : describe_tensors(spec, parameter, shard_of))
      state.tensors.push_back(std::move(tensor));
    state.progress.parameter_steps[spec.name] = step.counters().of_parameter_alone(parameter);
    state.steps.push_back({spec.name, step.steps(parameter), spec.parts});
  }
  return state;
}

void restore_progress(EngineNames const& names, Progress const& progress, AdamStep& step) {
  ADAMANT_REAL_ASSERT(progress.groups.size() == names.groups.size());
  std::vector<std::int64_t> group_steps;
  for (std::size_t g = 0; g < progress.groups.size(); ++g) {
    step.set_group(static_cast<int>(g), progress.groups[g].config);
    group_steps.push_back(progress.groups[g].step);
  }
  std::vector<std::int64_t> parameter_steps;
  for (ParameterSpec const& spec : names.parameters)
    parameter_steps.push_back(progress.parameter_steps.at(spec.name));
  step.set_counters(std::move(group_steps), std::move(parameter_steps));
}

}  // namespace adamant::real
