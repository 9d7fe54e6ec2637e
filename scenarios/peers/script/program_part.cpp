#include "scenarios/peers/script/program_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scenarios/peers/script/checkpoint_part.h"
#include "scenarios/peers/script/model_part.h"
#include "scenarios/peers/script/observation.h"
#include "scenarios/peers/script/optimizer_part.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;
using python::exact_number;
using Kind = Act::Kind;

bool scales(Act const& act) {
  return act.loss_scale.kind != LossScale::Kind::none;
}

std::string scaler_of(LossScale const& scale) {
  if (scale.kind == LossScale::Kind::none) return "scaler = None";
  if (scale.kind == LossScale::Kind::dynamic) return "scaler = torch.amp.GradScaler(\"cpu\")";
  return fmt::format("scaler = torch.amp.GradScaler(\"cpu\", init_scale={})",
                     exact_number(scale.value));
}

/// Gradients that a step has left without their scale get it back.
void write_scaling_back(Draft& draft) {
  Block const loop(draft.code, "for p in model.parameters():");
  Block const there(draft.code, "if p.grad is not None:");
  draft.code.line("p.grad.mul_(scaler.get_scale())");
}

/// All backwards, of which each run of two may have its own.
char const* list_of(Draft const& draft) {
  return draft.plan.second_backwards > 0 && draft.plan.one_program ? "backwards" : "GRADIENTS";
}

/// What a backward is given: one of all, in a loop the one at hand, and of it this rank's.
std::string gradients_of(Draft const& draft, World const& world, Act const& act, bool looped) {
  std::string const which =
      looped ? "gradients" : fmt::format("{}[{}]", list_of(draft), act.backward);
  if (draft.plan.alone()) return which;
  return which + (world.in_main ? "[0]" : "[rank]");
}

void write_backward(Draft& draft, World const& world, Act const& act, bool looped) {
  if (act.unscaled && scales(act)) write_scaling_back(draft);
  std::string const loss = fmt::format("model({})", gradients_of(draft, world, act, looped));
  if (act.has_gradients)
    draft.code.line(scales(act) ? fmt::format("scaler.scale({}).backward()", loss)
                                : loss + ".backward()");
}

void write_clip(Draft& draft, Act const& act) {
  if (scales(act) && act.has_gradients && !act.unscaled)
    draft.code.line("scaler.unscale_(optimizer)");
  bool const wanted = observes_norm(draft.plan);
  draft.code.line(fmt::format("{}nn.utils.clip_grad_norm_(model.parameters(), {})",
                              wanted ? "norm = " : "", exact_number(act.clip.value_or(0.0F))));
}

void write_step(Draft& draft, Act const& act) {
  if (!scales(act) || !act.has_gradients) return draft.code.line("optimizer.step()");
  if (act.unscaled) write_scaling_back(draft);
  write_before_step(draft);
  draft.code.line("scaler.step(optimizer)");
  bool const fixed = act.loss_scale.kind == LossScale::Kind::fixed;
  draft.code.line(fixed ? fmt::format("scaler.update({})", exact_number(act.loss_scale.value))
                        : "scaler.update()");
}

/// The groups that a change reaches: those whose own value does not win.
template <typename Own>
void write_setting(Draft& draft, std::string_view key, std::string const& value, Own own) {
  Scenario const& scenario = draft.plan.scenario;
  auto const groups = used_groups(scenario);
  for (std::size_t place = 0; place < groups.size(); ++place) {
    auto const group = static_cast<std::size_t>(groups[place]);
    if (group > 0 && own(scenario.groups[group - 1].settings)) continue;
    draft.code.line(fmt::format("optimizer.param_groups[{}][\"{}\"] = {}", place, key, value));
  }
}

void write_set(Draft& draft, SettingsChange const& change) {
  AdamOverride const& adam = change.adam;
  if (adam.lr) write_setting(draft, "lr", exact_number(*adam.lr), [](auto& own) { return own.lr; });
  if (adam.betas)
    write_setting(
        draft, "betas",
        fmt::format("({}, {})", exact_number((*adam.betas)[0]), exact_number((*adam.betas)[1])),
        [](auto& own) { return own.betas; });
  if (adam.eps)
    write_setting(draft, "eps", exact_number(*adam.eps), [](auto& own) { return own.eps; });
  if (adam.weight_decay)
    write_setting(draft, "weight_decay", exact_number(*adam.weight_decay),
                  [](auto& own) { return own.weight_decay; });
  if (change.loss_scale) draft.code.line(scaler_of(*change.loss_scale));
}

void write_call(Draft& draft, World const& world, Act const& act, bool looped) {
  switch (act.kind) {
    case Kind::backward:
      return write_backward(draft, world, act, looped);
    case Kind::clip:
      return write_clip(draft, act);
    case Kind::step:
      return write_step(draft, act);
    case Kind::zero_grad:
      return draft.code.line(act.set_to_none ? "optimizer.zero_grad()"
                                             : "optimizer.zero_grad(set_to_none=False)");
    case Kind::set:
      return write_set(draft, act.change);
    case Kind::save:
      return write_save(draft, world, act);
    case Kind::load:
      return write_load(draft, world, act);
  }
}

void write_act(Draft& draft, World const& world, Act const& act, bool looped) {
  write_call(draft, world, act, looped);
  if (draft.plan.repeated) draft.code.line("seen += shown(rank, model, optimizer)");
}

void write_passage(Draft& draft, World const& world, Passage const& passage) {
  std::optional<Block> loop;
  if (passage.count > 1) {
    std::int64_t const first = passage.acts.front().backward;
    loop.emplace(draft.code, fmt::format("for gradients in {}[{}:{}]:", list_of(draft), first,
                                         first + passage.count));
  }
  for (Act const& act : passage.acts) write_act(draft, world, act, passage.count > 1);
}

}  // namespace

void write_iteration(Draft& draft, World const& world, Passage const& passage) {
  for (Act const& act : passage.acts) write_act(draft, world, act, true);
}

void write_program(Draft& draft, World const& world) {
  if (world.setting.optimizer.loss_scale.kind != LossScale::Kind::none)
    draft.code.line(scaler_of(world.setting.optimizer.loss_scale));
  for (Passage const& passage : world.passages) write_passage(draft, world, passage);
}

}  // namespace adamant::scenarios::script
