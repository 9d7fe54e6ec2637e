// What the engine of real/ can do, in each of its worlds.
#include "real/graph/capture_rule.h"
#include "scenarios/language/table.h"
#include "scenarios/language/words.h"
#include "scenarios/seam/capabilities.h"

namespace adamant::scenarios {

namespace {

/// All types that the language has.
PrecisionOffer formats() {
  return {.param = every<ParamType>(),
          .grad = every<GradType>(),
          .main = every<MainType>(),
          .exp_avg = every<StateType>(),
          .exp_avg_sq = every<StateType>(),
          .state_scale = {StateScale::global, StateScale::local}};
}

std::string why_not_captured(ParameterSpec const& parameter, Optimizer const& optimizer) {
  if (real::can_be_captured(parameter.formats, optimizer.keep_cast_grad)) return "";
  return real::why_not_captured(parameter.name, parameter.formats);
}

/// What the engine of real/ does in whatever world it runs. A program whose engines were built
/// without bugs says that itself (MachineLacks).
Capabilities of_our_engine() {
  Capabilities all;
  all.layouts = {Layout::fsdp2, Layout::flat, Layout::bucketed};
  all.replicate_max = mesh_range.most;
  all.outers = {Outer::none, Outer::optim};
  all.parts = true;
  all.tied = true;
  all.precisions = {formats()};
  all.own_precision = true;
  all.optimizers = {AdamMode::adamw, AdamMode::adam};
  all.step_counters = {StepCounter::group, StepCounter::parameter};
  all.bias_correction = {true, false};
  all.cast_gradients = true;
  all.clip = true;
  all.loss_scale = {LossScale::Kind::none, LossScale::Kind::fixed, LossScale::Kind::dynamic};
  all.set.assign(key_names<SettingsChange>.begin(), key_names<SettingsChange>.end());
  all.gradients = {GradientClass::exact, GradientClass::normal, GradientClass::wild};
  all.zero_grad = {ZeroGradKind::none, ZeroGradKind::zeros};
  all.capturable = true;
  all.why_not_captured = why_not_captured;
  all.offload = true;
  all.save = true;
  all.load = true;
  all.load_precisions.emplace();  // whatever it can begin with, and nothing else
  all.loads_in_any_order = true;
  all.loads_anew = true;
  all.detects_damage = {Fault::Then::flip_byte, Fault::Then::truncate, Fault::Then::remove_file,
                        Fault::Then::stale_file};
  all.carries_groups = true;
  all.bugs = true;
  return all;
}

Capabilities simulated(std::string_view name, PairBytes pair_bytes) {
  Capabilities all = of_our_engine();
  all.engine = name;
  all.can_crash = true;
  all.out_of_memory = true;
  all.schedules = true;
  all.pair_bytes = pair_bytes;
  return all;
}

Capabilities on_gpus() {
  Capabilities all = of_our_engine();
  all.engine = "cuda";
  return all;
}

}  // namespace

// What grows with pairs of ranks. Unchecked, calls that find each other: measured 7 bytes at 16,384
// ranks. Checked, also clocks, which history keeps: 207 bytes at 1,024 ranks, and for each
// parameter and backward 108 to 143 at 64 to 512 ranks (November 2026).
Capabilities const& capabilities_of_simulation() {
  static Capabilities const all = simulated("sim", {.always = 256, .per_gather = 128});
  return all;
}

Capabilities const& capabilities_of_unchecked_simulation() {
  static Capabilities const all = simulated("sim-unchecked", {.always = 16});
  return all;
}

Capabilities const& capabilities_of_gpus() {
  static Capabilities const all = on_gpus();
  return all;
}

Capabilities const* capabilities_in_process(std::string_view engine) {
  for (Capabilities const* const known :
       {&capabilities_of_simulation(), &capabilities_of_unchecked_simulation(),
        &capabilities_of_gpus()})
    if (known->engine == engine) return known;
  return nullptr;
}

}  // namespace adamant::scenarios
