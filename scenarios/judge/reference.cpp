#include "scenarios/judge/reference.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "oracle/formats/formats.h"
#include "scenarios/gradients/blocks.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/gradients/overflow.h"
#include "scenarios/judge/formulas/formulas.h"
#include "scenarios/judge/registration.h"
#include "scenarios/judge/saved_quantised.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t block_numel = 8192;

/// Hashes of a range of elements, kept until another range is asked for: all microbatches of a
/// block need the same ones.
class KeptHashes {
 public:
  std::span<std::uint32_t const> of(TensorKey key, std::int64_t begin, std::size_t count) {
    if (begin != begin_ || count != hashes_.size()) {
      hashes_.resize(count);
      hash_block(key, static_cast<std::uint64_t>(begin), hashes_);
      begin_ = begin;
    }
    return hashes_;
  }

 private:
  std::int64_t begin_ = -1;
  std::vector<std::uint32_t> hashes_;
};

/// The group of parameters that name none has no name either.
std::vector<std::string> names_of_groups(Scenario const& scenario) {
  std::vector<std::string> names{""};
  for (Group const& group : scenario.groups) names.push_back(group.name);
  return names;
}

bool has_local_scales(Formats const& formats) {
  bool const any = has_scale(TensorKind::exp_avg, formats.exp_avg) ||
                   has_scale(TensorKind::exp_avg_sq, formats.exp_avg_sq) ||
                   (formats.main && has_scale(TensorKind::main, *formats.main));
  return any && formats.state_scale == StateScale::local;
}

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

/// Calls `visit(begin, count)` for consecutive blocks of [0, numel).
template <typename Visit>
void for_each_block(std::int64_t numel, Visit visit) {
  for (std::int64_t begin = 0; begin < numel; begin += block_numel)
    visit(begin, static_cast<std::size_t>(std::min(block_numel, numel - begin)));
}

}  // namespace

Reference::Reference(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
                     std::uint64_t seed)
    : first_groups_(adam_configs(scenario)),
      first_loss_scale_(scenario.optimizer.loss_scale),
      group_names_(names_of_groups(scenario)),
      kind_(scenario.gradients),
      microbatch_count_(static_cast<int>(scenario.microbatch_count())),
      seed_(seed),
      registry_(registry_of(scenario.params)),
      model_({.parameters = parameters,
              .groups = adam_configs(scenario),
              .step_counter = scenario.optimizer.step_counter,
              .loss_scale = scenario.optimizer.loss_scale,
              .max_norm = scenario.optimizer.clip}) {
  share_scales(scenario);
  for (int p = 0; p < model_.parameter_count(); ++p) write_initial_values(p);
}

// The model knows no ranks: it is told which elements share a scale where not all of them do.
void Reference::share_scales(Scenario const& setting) {
  std::vector<ParameterSpec> parameters;
  bool any = false;
  for (int p = 0; p < model_.parameter_count(); ++p) {
    parameters.push_back(model_.spec(p));
    any = any || has_local_scales(model_.spec(p).formats);
  }
  if (!any) return;
  oracle::Layout const layout = layout_of(setting, parameters);
  for (int p = 0; p < model_.parameter_count(); ++p) {
    if (!has_local_scales(model_.spec(p).formats)) continue;
    oracle::Model::Shards owned;
    for (int rank = 0; rank < layout.holder_count(TensorKind::exp_avg); ++rank) {
      auto const ranges = layout.ranges(p, rank, TensorKind::exp_avg);
      owned.emplace_back(ranges.begin(), ranges.end());
    }
    model_.share_scales(p, std::move(owned));
  }
}

void Reference::write_initial_values(int parameter) {
  auto const key = initial_key({.seed = seed_, .parameter = own_name(parameter)});
  std::vector<std::uint32_t> hashes;
  model_.write_parameter(parameter, [&](std::int64_t begin, std::span<float> out) {
    hashes.resize(out.size());
    hash_block(key, static_cast<std::uint64_t>(begin), hashes);
    initial_block(hashes, out.data());
  });
}

void Reference::begin_backward(Primitive const& backward) {
  model_.begin_backward();
  left_out_.assign(backward.left_out.begin(), backward.left_out.end());
  std::vector<ParameterSpec> parameters;
  for (int p = 0; backward.overflow && p < model_.parameter_count(); ++p)
    parameters.push_back(model_.spec(p));
  overflow_ = overflow_in(backward, {.seed = seed_,
                                     .microbatch_count = microbatch_count_,
                                     .parameters = parameters,
                                     .registry = &registry_});
}

bool Reference::sums_exactly(int parameter) const {
  return kind_ == GradientClass::exact &&
         stay_exact(model_.scaling().loss_scale, model_.spec(parameter).formats.gradient);
}

std::vector<int> Reference::giving_names(int parameter) const {
  std::vector<int> names;
  for (int const name : registry_.names_of(parameter))
    if (!std::ranges::binary_search(left_out_, name)) names.push_back(name);
  return names;
}

int Reference::addend_count(int parameter) const {
  return microbatch_count_ * static_cast<int>(giving_names(parameter).size());
}

MicrobatchPlace Reference::place_of(int parameter, int name) const {
  MicrobatchPlace place{.seed = seed_,
                        .microbatch_count = microbatch_count_,
                        .format = model_.spec(parameter).formats.gradient,
                        .name_count = static_cast<int>(registry_.names_of(parameter).size())};
  if (name != own_name(parameter)) place.other_name = name;
  return place;
}

oracle::MicrobatchReader Reference::reader(int parameter, std::int64_t backward) const {
  auto const key = gradient_key({.seed = seed_, .parameter = own_name(parameter)}, backward);
  auto const format = model_.spec(parameter).formats.gradient;
  float const scale = model_.scaling().loss_scale;
  return [=, this, names = giving_names(parameter), kept = KeptHashes()](
             int addend, std::int64_t begin, std::span<float> out) mutable {
    int const name = names[static_cast<std::size_t>(addend) % names.size()];
    MicrobatchPlace place = place_of(parameter, name);
    place.backward = backward;
    place.microbatch = addend / static_cast<int>(names.size());
    gradient_block(kind_, microbatch_key(place), kept.of(key, begin, out.size()), out.data());
    put_overflow(name, place.microbatch, begin, out);
    if (scale != 1.0F) scale_block(scale, out);
    oracle::round_to(format, out);
  };
}

void Reference::add_exact_mean(int parameter, std::int64_t backward) {
  auto const read = reader(parameter, backward);
  int const names = addend_count(parameter) / microbatch_count_;
  std::vector<float> other;
  model_.add_gradient(parameter, [&](std::int64_t first, std::span<float> mean) {
    auto const read_block = [&](int microbatch, std::int64_t begin, std::span<float> out) {
      read(microbatch * names, first + begin, out);
      other.resize(names > 1 ? out.size() : 0);
      for (int name = 1; name < names; ++name) {
        read(microbatch * names + name, first + begin, other);
        add_block(other, out.data());
      }
    };
    oracle::mean_over_microbatches(microbatch_count_, read_block, mean);
  });
}

void Reference::take_gradient(int parameter, std::span<float const> observed) {
  model_.set_gradient(parameter, observed);
}

void Reference::put_overflow(int name, int microbatch, std::int64_t begin,
                             std::span<float> block) const {
  if (!overflow_ || overflow_->name != name || overflow_->microbatch != microbatch) return;
  std::int64_t const index = overflow_->element - begin;
  if (index >= 0 && index < std::ssize(block))
    block[static_cast<std::size_t>(index)] = overflow_->value;
}

void Reference::follow(Primitive const& operation) {
  if (operation.kind == Primitive::Kind::replay)
    for (Primitive const& captured : replayed(operation)) follow(captured);
  bool const backward = operation.kind == Primitive::Kind::backward;
  bool const step = operation.kind == Primitive::Kind::step;
  if (operation.kind == Primitive::Kind::clip) clip();
  if (operation.kind == Primitive::Kind::zero_grad) zero_grad(operation.set_to_none);
  if (backward) begin_backward(operation);
  if (step) begin_step();
  for (int p = 0; p < model_.parameter_count(); ++p) {
    if (backward && has_part(operation, p)) add_exact_mean(p, operation.backward_index);
    if (step) step_parameter(p);
  }
}

void Reference::set(Primitive const& operation) {
  auto const by_group = operation.set;
  for (std::size_t i = 0; i < by_group.size(); ++i) {
    int const group = static_cast<int>(i);
    model_.set_group(group, with(model_.group(group), by_group[i]));
  }
  if (operation.loss_scale) model_.set_loss_scale(*operation.loss_scale);
  if (operation.clip) model_.set_max_norm(*operation.clip);
}

void Reference::begin_world(Scenario const& setting, std::vector<ParameterSpec> const& parameters,
                            Clip const& clip) {
  bool other = false;
  std::vector<Formats> formats;
  for (int p = 0; p < model_.parameter_count(); ++p) {
    formats.push_back(parameters[static_cast<std::size_t>(p)].formats);
    other = other || formats.back() != model_.spec(p).formats;
  }
  if (other) model_.reformat(formats);
  share_scales(setting);
  for (std::size_t group = 0; group < first_groups_.size(); ++group)
    model_.set_group(static_cast<int>(group), first_groups_[group]);
  model_.set_loss_scale(first_loss_scale_);
  model_.set_max_norm(clip);
}

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
  for (int p = 0; p < model_.parameter_count() && !is_read; ++p) take_shown(*state, p, world);
  take_settings(*state, world);
  checkpoints_[std::string(checkpoint)] = {
      .candidates = {std::make_shared<oracle::Model::Saved>(std::move(*state))}};
  return is_read;
}

oracle::Model::Saved Reference::read_from(std::span<StoredFile const> files) const {
  SavedFiles const saved = read_saved_files(files, names_of(model_));
  oracle::Model::Saved state = model_.save();
  for (int p = 0; p < model_.parameter_count(); ++p) take_parameter(state, p, saved);
  for (std::size_t group = 0; group < group_names_.size() && !saved.groups.empty(); ++group)
    state.set_group(static_cast<int>(group), saved.groups.at(group_names_[group]));
  if (!saved.groups.empty()) state.set_scaling(saved.scaler, saved.max_norm);
  return state;
}

void Reference::take_shown(oracle::Model::Saved& state, int parameter,
                           WorldView const& world) const {
  Formats const& formats = model_.spec(parameter).formats;
  if (formats.recipe) throw std::runtime_error("of quantised parameters its files alone tell");
  for (TensorKind const kind :
       {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq}) {
    auto const format = oracle::stored_format(formats, kind);
    if (!format) continue;
    SavedScales scales;
    std::vector<float> whole(model_.tensor(parameter, kind).size());
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

void Reference::take_settings(oracle::Model::Saved& state, WorldView const& world) const {
  for (int g = 0; g < model_.group_count(); ++g) state.set_group(g, world.group(0, g));
  RankScaling const seen = world.scaling(0);
  oracle::LossScaler const& scaler = model_.scaler();
  auto const& max_norm = seen.tells_max_norm ? seen.max_norm : model_.scaling().max_norm;
  state.set_scaling({scaler.setting(),
                     {.scale = seen.loss_scale,
                      .growth_tracker = seen.growth_tracker,
                      .hysteresis = seen.hysteresis},
                     scaler.rules()},
                    max_norm);
}

void Reference::take_parameter(oracle::Model::Saved& state, int parameter,
                               SavedFiles const& saved) const {
  ParameterSpec const& spec = model_.spec(parameter);
  for (TensorKind const kind :
       {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq})
    take_tensor(state, parameter, kind, saved);
  if (saved.in_parts.contains(spec.name) == spec.parts.empty()) state.set_in_other_form(parameter);
  state.set_counts(parameter, counts_in(saved, parameter));
}

std::int64_t Reference::step_in(SavedFiles const& saved, int parameter) const {
  std::string const& name = model_.spec(parameter).name;
  std::optional<double> const step = saved.step(name);
  if (!step) throw std::runtime_error("no step of " + name + " is saved");
  return static_cast<std::int64_t>(*step);
}

oracle::Model::Counts Reference::counts_in(SavedFiles const& saved, int parameter) const {
  ParameterSpec const& spec = model_.spec(parameter);
  if (auto const of_group = saved.group_steps.find(spec.name); of_group != saved.group_steps.end())
    return {.of_group = of_group->second, .of_parameter = saved.steps.at(spec.name)};
  oracle::Model::Counts counts{.of_group = 0, .of_parameter = step_in(saved, parameter)};
  for (int p = 0; p < model_.parameter_count(); ++p)
    if (model_.spec(p).group == spec.group)
      counts.of_group = std::max(counts.of_group, step_in(saved, p));
  return counts;
}

void Reference::take_tensor(oracle::Model::Saved& state, int parameter, TensorKind kind,
                            SavedFiles const& saved) const {
  ParameterSpec const& spec = model_.spec(parameter);
  SavedTensor const tensor = saved.tensor(spec.name, kind);
  if (tensor.values == nullptr && kind == TensorKind::main) return state.drop_main(parameter);
  if (tensor.values == nullptr)
    throw std::runtime_error("no " + tensor_name(spec.name, kind) + " is saved");
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

void Reference::save(std::string_view checkpoint, bool crashed) {
  checkpoints_.insert_or_assign(
      std::string(checkpoint),
      Checkpoint{.candidates = {std::make_shared<oracle::Model::Saved>(model_.save())},
                 .must_exist = true,
                 .saw_crash = crashed});
}

void Reference::save_maybe(std::string_view checkpoint) {
  Checkpoint& known = checkpoints_[std::string(checkpoint)];
  known.candidates.insert(known.candidates.begin(),
                          std::make_shared<oracle::Model::Saved>(model_.save()));
  known.saw_crash = true;
}

Reference::Checkpoint const* Reference::find(std::string_view name) const {
  auto const found = checkpoints_.find(name);
  return found == checkpoints_.end() ? nullptr : &found->second;
}

int Reference::candidates(std::string_view checkpoint) const {
  Checkpoint const* const known = find(checkpoint);
  return known == nullptr ? 0 : static_cast<int>(known->candidates.size());
}

bool Reference::must_exist(std::string_view checkpoint) const {
  Checkpoint const* const known = find(checkpoint);
  return known != nullptr && known->must_exist;
}

bool Reference::saw_crash(std::string_view checkpoint) const {
  Checkpoint const* const known = find(checkpoint);
  return known != nullptr && known->saw_crash;
}

std::optional<oracle::Model::Place> Reference::rounded_by(Primitive const& load,
                                                          int candidate) const {
  auto const& saved = *find(load.checkpoint)->candidates[static_cast<std::size_t>(candidate)];
  return model_.rounded_by(saved, {load.may_round.begin(), load.may_round.end()});
}

void Reference::load(std::string_view checkpoint, int candidate) {
  model_.load(*find(checkpoint)->candidates[static_cast<std::size_t>(candidate)]);
}

void Reference::settle(std::string_view checkpoint, int candidate) {
  auto const found = find(checkpoint)->candidates[static_cast<std::size_t>(candidate)];
  checkpoints_[std::string(checkpoint)] = {.candidates = {found}, .must_exist = true};
}

std::uint64_t Reference::fingerprint(int parameter, std::int64_t backward) const {
  auto const key = gradient_key({.seed = seed_, .parameter = own_name(parameter)}, backward);
  auto const values = model_.tensor(parameter, TensorKind::parameter);
  std::array<std::uint32_t, block_numel> room;
  std::uint64_t sum = 0;
  for_each_block(std::ssize(values), [&](std::int64_t begin, std::size_t count) {
    std::span<std::uint32_t> const hashes(room.data(), count);
    hash_block(key, static_cast<std::uint64_t>(begin), hashes);
    sum += fingerprint_block(hashes, values.data() + begin);
  });
  return sum;
}

}  // namespace adamant::scenarios
