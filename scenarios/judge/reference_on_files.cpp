// The part of the reference that learns of checkpoints which no save of the run wrote: from their
// files, or from what an engine shows that alone can read them.
#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "oracle/formats/formats.h"
#include "scenarios/judge/reference.h"
#include "scenarios/judge/saved/quantised.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

namespace {

/// Puts what a rank shows into its place of the whole tensor.
void add_shown(Shard const& shard, std::vector<float>& whole, SavedScales& scales) {
  std::vector<float> room;
  auto const values = values_of(shard, room);
  std::size_t next = 0;
  for (ElementRange const range : shard.ranges)
    for (std::int64_t i = range.begin; i < range.end; ++i)
      whole.at(static_cast<std::size_t>(i)) = values[next++];
  scales.shards.emplace_back(shard.ranges.begin(), shard.ranges.end());
  scales.scales.push_back(shard.scale);
}

void take_shown(oracle::Model::Saved& state, oracle::Model const& model, int parameter,
                WorldView const& world) {
  Formats const& formats = model.spec(parameter).formats;
  if (formats.recipe) throw std::runtime_error("of quantised parameters its files alone tell");
  for (TensorKind const kind : stepped_kinds) {
    auto const format = oracle::stored_format(formats, kind);
    if (!format) continue;
    SavedScales scales;
    std::vector<float> whole(model.tensor(parameter, kind).size());
    for (int rank = 0; rank < world.holder_count(kind); ++rank)
      add_shown(world.shard(rank, parameter, kind), whole, scales);
    state.set(parameter, kind, *format, whole);
    if (!has_scale(kind, *format, formats.state_scale)) continue;
    if (formats.state_scale == StateScale::global) scales = {{}, {scales.scales.front()}};
    state.set_scales(parameter, kind, scales.shards, std::move(scales.scales));
  }
  std::int64_t const steps = world.step_count(0, parameter);
  state.set_counts(parameter, {.of_group = steps, .of_parameter = steps});
}

void take_settings(oracle::Model::Saved& state, oracle::Model const& model,
                   WorldView const& world) {
  for (int g = 0; g < model.group_count(); ++g) state.set_group(g, world.group(0, g));
  RankScaling const seen = world.scaling(0);
  oracle::LossScaler const& scaler = model.scaler();
  auto const& max_norm = seen.tells_max_norm ? seen.max_norm : model.scaling().max_norm;
  state.set_scaling({scaler.setting(),
                     {.scale = seen.loss_scale,
                      .growth_tracker = seen.growth_tracker,
                      .hysteresis = seen.hysteresis},
                     scaler.rules()},
                    max_norm);
}

void take_tensor(oracle::Model::Saved& state, ParameterSpec const& spec, int parameter,
                 TensorKind kind, SavedFiles const& saved) {
  SavedTensor const tensor = saved.tensor(spec.name, kind);
  if (tensor.values == nullptr && kind == TensorKind::main) return state.drop_main(parameter);
  if (tensor.values == nullptr)
    throw std::runtime_error("no " + tensor_name(spec.name, kind) + " is saved");
  if (tensor.format() == NumberFormat::fp8 && tensor.scale == nullptr)
    throw std::runtime_error(tensor_name(spec.name, kind) + " has bytes without a scale");
  state.set(parameter, kind, tensor.format(), put_together(*tensor.values, spec.shape));
  if (kind == TensorKind::parameter) {
    if (auto quantised = quantised_in(saved, spec)) {
      state.set_quantised(parameter, quantised->recipe, oracle::matrix_of(spec),
                          std::move(quantised->quantised), quantised->delayed);
      return;
    }
  }
  if (tensor.raw == nullptr) return;
  SavedScales scales;
  if (tensor.scale != nullptr) scales = put_together(tensor, spec.shape);
  state.set_stored(parameter, kind, worth_as_stored(tensor, scales, spec.shape));
  if (tensor.scale == nullptr) return;
  state.set_scales(parameter, kind, scales.shards, std::move(scales.scales));
}

void take_parameter(oracle::Model::Saved& state, oracle::Model const& model, int parameter,
                    SavedFiles const& saved) {
  ParameterSpec const& spec = model.spec(parameter);
  for (TensorKind const kind : stepped_kinds)
    take_tensor(state, model.spec(parameter), parameter, kind, saved);
  if (saved.in_parts.contains(spec.name) == spec.parts.empty()) state.set_in_other_form(parameter);
}

/// What files have counted of a parameter.
std::int64_t step_in(SavedFiles const& saved, std::string const& parameter) {
  std::optional<double> const step = saved.step(parameter);
  if (!step) throw std::runtime_error("no step of " + parameter + " is saved");
  return whole_number(*step);
}

/// Without a manifest a group has its most.
void take_counts(oracle::Model::Saved& state, oracle::Model const& model, SavedFiles const& saved) {
  std::map<int, std::int64_t> most;  // by group
  std::vector<oracle::Model::Counts> counts;
  for (int p = 0; p < model.parameter_count(); ++p) {
    ParameterSpec const& spec = model.spec(p);
    bool const said = saved.group_steps.contains(spec.name);
    counts.push_back(
        {.of_group = said ? saved.group_steps.at(spec.name) : 0,
         .of_parameter = said ? saved.steps.at(spec.name) : step_in(saved, spec.name)});
    std::int64_t& of_group = most[spec.group];
    of_group = std::max(of_group, counts.back().of_parameter);
  }
  for (int p = 0; p < model.parameter_count(); ++p) {
    ParameterSpec const& spec = model.spec(p);
    oracle::Model::Counts& count = counts[static_cast<std::size_t>(p)];
    if (!saved.group_steps.contains(spec.name)) count.of_group = most[spec.group];
    state.set_counts(p, count);
  }
}

}  // namespace

void Reference::take_from(std::string_view checkpoint, std::span<StoredFile const> files) {
  checkpoints_[std::string(checkpoint)] = {
      .candidates = {std::make_shared<oracle::Model::Saved>(read_from(files))}};
}

bool Reference::take_from(std::string_view checkpoint, WorldView const& world) {
  std::optional<oracle::Model::Saved> state;
  KeptFiles const files = world.files(checkpoint);
  std::vector<StoredFile> views;
  for (auto const& [name, bytes] : files) views.push_back({.name = name, .bytes = bytes});
  try {
    state = read_from(views);
  } catch (std::exception const&) {  // its format is its own
  }
  bool const is_read = state.has_value();
  if (!is_read) state = model_.save();
  for (int p = 0; p < model_.parameter_count() && !is_read; ++p)
    take_shown(*state, model_, p, world);
  take_settings(*state, model_, world);
  checkpoints_[std::string(checkpoint)] = {
      .candidates = {std::make_shared<oracle::Model::Saved>(std::move(*state))}};
  return is_read;
}

oracle::Model::Saved Reference::read_from(std::span<StoredFile const> files) const {
  SavedFiles const saved = read_saved_files(files, names_of(model_));
  oracle::Model::Saved state = model_.save();
  for (int p = 0; p < model_.parameter_count(); ++p) take_parameter(state, model_, p, saved);
  take_counts(state, model_, saved);
  for (std::size_t group = 0; group < group_names_.size() && !saved.groups.empty(); ++group)
    state.set_group(static_cast<int>(group), saved.groups.at(group_names_[group]));
  if (!saved.groups.empty()) state.set_scaling(saved.scaler, saved.max_norm);
  return state;
}

}  // namespace adamant::scenarios
