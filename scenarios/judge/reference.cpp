#include "scenarios/judge/reference.h"

#include <algorithm>
#include <array>
#include <utility>

#include "oracle/formats/formats.h"
#include "scenarios/gradients/blocks.h"
#include "scenarios/gradients/overflow.h"
#include "scenarios/judge/formulas/formulas.h"
#include "scenarios/judge/registration.h"
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

void Reference::begin_backward(resolved::Backward const& backward) {
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

void Reference::put_overflow(int name, int microbatch, std::int64_t begin,
                             std::span<float> block) const {
  if (!overflow_ || overflow_->name != name || overflow_->microbatch != microbatch) return;
  std::int64_t const index = overflow_->element - begin;
  if (index >= 0 && index < std::ssize(block))
    block[static_cast<std::size_t>(index)] = overflow_->value;
}

void Reference::follow(Recorded const& operation, ForEach const& for_each) {
  match(
      operation,
      [&](resolved::Backward const& backward) {
        begin_backward(backward);
        for_each([&](int p) {
          if (has_part(backward, p)) add_exact_mean(p, backward.index);
        });
      },
      [&](ClipNorm const&) { model_.clip(); },
      [&](Step const&) {
        model_.begin_step();
        for_each([&](int p) { model_.step_parameter(p); });
      },
      [&](ZeroGrad const& each) { model_.zero_grad(each.set_to_none); });
}

void Reference::set(resolved::Set const& set) {
  for (std::size_t i = 0; i < set.group_count(); ++i) {
    int const group = static_cast<int>(i);
    model_.set_group(group, with(model_.group(group), set.of_group(i)));
  }
  if (set.change.loss_scale) model_.set_loss_scale(*set.change.loss_scale);
  if (set.change.clip) model_.set_max_norm(*set.change.clip);
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

Reference::Checkpoint const& Reference::checkpoint(std::string_view name) const {
  static Checkpoint const none;
  auto const found = checkpoints_.find(name);
  return found == checkpoints_.end() ? none : found->second;
}

std::optional<oracle::Model::Place> Reference::rounded_by(
    resolved::Load const& load, oracle::Model::Saved const& candidate) const {
  return model_.rounded_by(candidate, {load.may_round.begin(), load.may_round.end()});
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
