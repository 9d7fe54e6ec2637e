#include "oracle/explain/suppositions.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace adamant::oracle {

namespace {

using Alter = std::function<void(Model&)>;

bool all_zero(std::span<float const> values) {
  return std::ranges::all_of(values, [](float x) { return x == 0; });
}

/// Returns whether there were others.
bool set_moments_to_zero(Model& model) {
  bool others = false;
  for (int p = 0; p < model.parameter_count(); ++p) {
    auto const m = model.tensor(p, TensorKind::exp_avg);
    others = others || !all_zero(m) || !all_zero(model.tensor(p, TensorKind::exp_avg_sq));
    std::vector<float> const zeros(m.size(), 0.0F);
    model.set_moments(p, zeros, zeros);
  }
  return others;
}

/// Counters one step back or ahead of where the step finds them.
void move_counters(Model& model, std::int64_t steps) {
  for (int p = 0; p < model.parameter_count(); ++p)
    model.set_steps(p, std::max<std::int64_t>(0, model.step_count(p) + steps));
}

bool any_has_stepped(Model const& model) {
  bool any = false;
  for (int p = 0; p < model.parameter_count(); ++p) any = any || model.step_count(p) > 0;
  return any;
}

void share_scales_by_rank(Model& model, Layout const& layout) {
  auto const kind = TensorKind::exp_avg;
  for (int p = 0; p < model.parameter_count(); ++p) {
    Model::Shards shards;
    for (int rank = 0; rank < layout.holder_count(kind); ++rank) {
      auto const held = layout.ranges(p, rank, kind);
      shards.emplace_back(held.begin(), held.end());
    }
    model.share_scales(p, std::move(shards));
  }
}

std::vector<AdamConfig> groups_of(Model const& model) {
  std::vector<AdamConfig> groups;
  for (int g = 0; g < model.group_count(); ++g) groups.push_back(model.group(g));
  return groups;
}

/// Of each, what becomes of the model that a step or a load finds.
class Others {
 public:
  explicit Others(Model const& before) : before_(before), known_{groups_of(before)} {}

  void step(std::string const& with, Alter const& alter) {
    Model model = before_;
    alter(model);
    model.step();
    all_.push_back({.with = with, .left = std::move(model)});
  }

  /// `set` changes the settings of a group.
  template <typename Set>
  void step_with_settings(std::string const& with, Set const& set) {
    auto groups = groups_of(before_);
    for (int g = 0; g < before_.group_count(); ++g) set(groups[static_cast<std::size_t>(g)], g);
    if (std::ranges::count(known_, groups) > 0) return;
    known_.push_back(groups);
    step(with, [&](Model& model) {
      for (int g = 0; g < model.group_count(); ++g)
        model.set_group(g, groups[static_cast<std::size_t>(g)]);
    });
  }

  std::vector<Supposition>& all() { return all_; }

 private:
  Model const& before_;
  std::vector<std::vector<AdamConfig>> known_;
  std::vector<Supposition> all_;
};

void decay_by_other_mode(AdamConfig& config, int /*group*/) {
  if (config.weight_decay > 0)
    config.mode = config.mode == AdamMode::adamw ? AdamMode::adam : AdamMode::adamw;
}

}  // namespace

void Suppositions::load_follows(Model const& before, int entry) {
  before_ = before;
  settings_change(before, entry);
}

void Suppositions::settings_change(Model const& before, int entry) {
  settings_.insert(settings_.begin(), {.when = "before operation " + std::to_string(entry),
                                       .groups = groups_of(before)});
}

void Suppositions::save_follows(Model const& before, int entry) {
  saved_.push_back({.with = "what operation " + std::to_string(entry) + " saved", .left = before});
}

std::vector<Supposition> Suppositions::of_step(Layout const& layout) const {
  if (!before_) return {};
  Model const& before = *before_;
  Others steps(before);
  steps.all().push_back({.with = "", .left = before});
  if (any_has_stepped(before))
    steps.step("bias corrections of the step before",
               [](Model& model) { move_counters(model, -1); });
  steps.step("bias corrections of the next step", [](Model& model) { move_counters(model, 1); });
  steps.step_with_settings("no weight decay",
                           [](AdamConfig& config, int) { config.weight_decay = 0; });
  steps.step_with_settings("the weight decay of the other mode", decay_by_other_mode);
  for (Settings const& past : settings_) {
    auto const of = [&](int group) { return past.groups[static_cast<std::size_t>(group)]; };
    steps.step_with_settings("the lr " + past.when, [&](AdamConfig& config, int group) {
      config.learning_rate = of(group).learning_rate;
    });
    steps.step_with_settings("the settings " + past.when,
                             [&](AdamConfig& config, int group) { config = of(group); });
  }
  steps.step_with_settings("the settings of those without a group",
                           [&](AdamConfig& config, int) { config = before.group(0); });
  if (Model zeroed = before; set_moments_to_zero(zeroed))
    steps.step("moments of zeros", [](Model& model) { set_moments_to_zero(model); });
  steps.step("scales that each rank makes of its own shard",
             [&](Model& model) { share_scales_by_rank(model, layout); });
  return std::move(steps.all());
}

std::vector<Supposition> Suppositions::of_load(Model const& right) const {
  if (!before_) return {};
  std::vector<Supposition> all = saved_;
  all.push_back({.with = "what was there before it", .left = *before_});
  if (Model zeroed = *before_; set_moments_to_zero(zeroed)) {
    zeroed = right;
    set_moments_to_zero(zeroed);
    all.push_back({.with = "moments of zeros", .left = std::move(zeroed)});
  }
  Model reversed = right;
  for (int p = 0; p < right.parameter_count(); ++p) {
    int const other = right.parameter_count() - 1 - p;
    if (right.spec(p).numel() == right.spec(other).numel())
      reversed.set_moments(p, right.tensor(other, TensorKind::exp_avg),
                           right.tensor(other, TensorKind::exp_avg_sq));
  }
  all.push_back(
      {.with = "moments of other parameters, in reverse order", .left = std::move(reversed)});
  return all;
}

}  // namespace adamant::oracle
