// The part of the verdict that knows what a save must leave, and a load bring back.
#include <algorithm>
#include <exception>
#include <ranges>
#include <string>
#include <utility>

#include "scenarios/judge/saved_judge.h"
#include "scenarios/judge/verdict.h"

namespace adamant::scenarios {

// Few worlds show their files, and those of large models take long to read.
void Verdict::follow_save(std::string const& checkpoint, WorldView const& world) {
  reference_.save(checkpoint);
  layouts_.insert_or_assign(checkpoint, values_.layout());
  if (!small_) return;
  auto const files = world.checkpoint(checkpoint);
  if (files.empty()) return;
  SavingWorld const saving = {.mesh = values_.layout().mesh(),
                              .held = [&](int parameter, int rank, TensorKind kind) {
                                return values_.layout().ranges(parameter, rank, kind);
                              }};
  if (auto fault = fault_of_saved(files, reference_, saving)) findings_.add(std::move(*fault));
}

// A name may stand for two states, where a crash interrupted the save of the second: the load then
// tells which of them it is.
void Verdict::follow_load(resolved::Load const& load, WorldView const& world) {
  unloaded_ = false;
  DamagedFiles const damage = std::exchange(damage_, {});
  bool const own = !reference_.checkpoint(load.checkpoint).candidates.empty();
  bool const has_to_show = std::ranges::any_of(damage, [&](FileDamage const& done) {
    return !done.beside && world.refuses_damage(done.how);
  });
  if (own && has_to_show) {  // others' files have no checksums
    findings_.add(
        {.law = Law::checkpoint_integrity, .breach = Breach::damage_unnoticed, .subject = damage});
  }
  if (!own && !take_foreign(load, world)) return;
  auto const candidates = reference_.checkpoint(load.checkpoint).candidates;
  values_.judge_as(damage.empty() ? law_of_load(load) : Law::checkpoint_integrity,
                   layout_of_saved(load.checkpoint));
  formulas_->loaded();
  for (auto const& candidate : candidates | std::views::reverse) {
    auto const rounded =
        world.refuses_rounding() ? reference_.rounded_by(load, *candidate) : std::nullopt;
    take_candidate(*candidate, world);
    if (candidate != candidates.front() && !agrees(world)) continue;
    if (rounded) report_rounded(*rounded);
    return reference_.settle(load.checkpoint, candidate);
  }
}

void Verdict::report_rounded(oracle::Model::Place place) {
  std::string const& name = reference_.model().spec(place.parameter).name;
  findings_.add({.law = Law::checkpoint_roundtrip,
                 .breach = Breach::rounded_unasked,
                 .subject = Tensor{.parameter = name, .kind = place.kind}});
}

// Numbers that only a type which the load does not name would hold may not be rounded.
bool Verdict::may_be_refused(resolved::Load const& load) const {
  return std::ranges::any_of(
      reference_.checkpoint(load.checkpoint).candidates,
      [&](auto const& candidate) { return reference_.rounded_by(load, *candidate).has_value(); });
}

void Verdict::take_candidate(oracle::Model::Saved const& candidate, WorldView const& world) {
  Settings const before{.clip = reference_.model().scaling().max_norm,
                        .scaler = reference_.model().scaler()};
  reference_.model().load(candidate);
  take_what_is_not_carried(world, before);
}

// Settings that no file brings stay what they were; numbers that move are the engine's word.
void Verdict::take_what_is_not_carried(WorldView const& world, Settings const& before) {
  auto const& model = reference_.model();
  for (std::string const& what : world.not_carried()) {
    not_carried_.insert(what);
    if (what == "clip") reference_.model().set_max_norm(before.clip);
    for (int p = 0; what == "steps" && p < parameter_count(); ++p)
      reference_.model().set_steps(p, world.step_count(0, p));
    for (int g = 0; what == "groups" && g < model.group_count(); ++g)
      reference_.model().set_group(g, world.group(0, g));
    if (what != "scaler") continue;
    RankScaling const scaling = world.scaling(0);
    oracle::LossScaler::Progress const seen{.scale = scaling.loss_scale,
                                            .growth_tracker = scaling.growth_tracker,
                                            .hysteresis = scaling.hysteresis};
    reference_.model().set_scaler({before.scaler.setting(), seen, before.scaler.rules()});
  }
}

// What was loaded was not saved here: its files say what it is.
bool Verdict::take_foreign(resolved::Load const& load, WorldView const& world) {
  try {
    if (!world.has_own_formats())
      reference_.take_from(load.checkpoint, world.checkpoint(load.checkpoint));
    else if (!reference_.take_from(load.checkpoint, world))
      not_read_.insert(load.checkpoint);
    return true;
  } catch (std::exception const& error) {
    findings_.add(
        {.law = Law::checkpoint_integrity, .breach = Breach::foreign_loaded, .text = error.what()});
    return false;
  }
}

Law Verdict::law_of_load(resolved::Load const& load) const {
  bool const saw_crash = reference_.checkpoint(load.checkpoint).saw_crash;
  return saw_crash ? Law::checkpoint_atomic : Law::checkpoint_roundtrip;
}

std::optional<oracle::Layout> Verdict::layout_of_saved(std::string_view checkpoint) const {
  auto const found = layouts_.find(checkpoint);
  return found == layouts_.end() ? std::nullopt : std::optional(found->second);
}

bool Verdict::agrees(WorldView const& world) const {
  if (!values_.flags_agree(world)) return false;
  for (int p = 0; p < reference_.model().parameter_count(); ++p)
    for (TensorKind const kind : all_tensor_kinds)
      if (!values_.agrees(world, p, kind)) return false;
  return true;
}

}  // namespace adamant::scenarios
