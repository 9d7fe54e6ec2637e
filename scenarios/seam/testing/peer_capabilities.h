// Capabilities of engines outside the process, made up for tests: one that does nearly all that
// PyTorch does, one that does little, and one whose numbers have scales.
#pragma once

#include "scenarios/seam/capabilities.h"

namespace adamant::scenarios {

inline PrecisionOffer plain_recipe(ParamType param, std::vector<GradType> grad, MainType main,
                                   StateType moments) {
  return {.param = {param},
          .grad = std::move(grad),
          .main = {main},
          .exp_avg = {moments},
          .exp_avg_sq = {moments}};
}

inline Capabilities capable_peer() {
  Capabilities peer;
  peer.engine = "capable";
  peer.arithmetic = Arithmetic::torch;
  peer.layouts = {Layout::fsdp2};
  peer.ranks_max = 8;
  peer.replicate_max = 4;
  peer.precisions = {
      plain_recipe(ParamType::fp32, {GradType::fp32, GradType::bf16}, MainType::none,
                   StateType::fp32),
      plain_recipe(ParamType::bf16, {GradType::fp32, GradType::bf16}, MainType::fp32,
                   StateType::fp32),
      plain_recipe(ParamType::fp16, {GradType::fp32, GradType::fp16}, MainType::fp32,
                   StateType::fp32),
      plain_recipe(ParamType::bf16, {GradType::bf16}, MainType::none, StateType::bf16)};
  peer.precisions.push_back(
      plain_recipe(ParamType::fp16, {GradType::fp16}, MainType::none, StateType::fp32));
  peer.precisions.back().loss_scale = {LossScale::Kind::none};
  peer.load_precisions.emplace();
  peer.gradient_type = GradientType::param;
  peer.optimizers = {AdamMode::adamw, AdamMode::adam};
  peer.step_counters = {StepCounter::parameter};
  peer.bias_correction = {true};
  peer.clip = true;
  peer.loss_scale = {LossScale::Kind::none, LossScale::Kind::fixed, LossScale::Kind::dynamic};
  peer.unscales_in_place = true;
  peer.set = {"lr", "betas", "eps", "weight_decay", "clip", "loss_scale"};
  peer.gradients = {GradientClass::exact, GradientClass::normal, GradientClass::wild};
  peer.zero_grad = {ZeroGradKind::none, ZeroGradKind::zeros};
  peer.save = true;
  peer.load = true;
  peer.loads_in_any_order = true;
  peer.loads_anew = true;
  peer.can_crash = true;
  peer.detects_damage = {Fault::Then::truncate, Fault::Then::remove_file};
  peer.promises = {Promise::worlds, Promise::repeated, Promise::options, Promise::resumed};
  peer.same_options = {"async_save"};
  peer.isolated = true;
  peer.options = {{"implementation", {"single", "foreach", "fused"}},
                  {"async_save", {"false", "true"}}};
  return peer;
}

inline Capabilities modest_peer() {
  Capabilities peer;
  peer.engine = "modest";
  peer.arithmetic = Arithmetic::interval;
  peer.layouts = {Layout::fsdp2};
  peer.ranks_max = 2;
  peer.empty_tensors = false;
  peer.precisions = {
      plain_recipe(ParamType::fp32, {GradType::fp32}, MainType::none, StateType::fp32)};
  peer.optimizers = {AdamMode::adam};
  peer.step_counters = {StepCounter::group};
  peer.bias_correction = {true};
  peer.loss_scale = {LossScale::Kind::none};
  peer.set = {"lr"};
  peer.gradients = {GradientClass::normal};
  peer.zero_grad = {ZeroGradKind::none};
  peer.isolated = true;
  return peer;
}

/// Types that are read with scales, or with another tensor, and loads from any to any.
inline Capabilities peer_with_scales() {
  std::vector<StateType> const states = {StateType::fp32, StateType::bf16, StateType::fp16,
                                         StateType::fp8};
  Capabilities peer = capable_peer();
  peer.engine = "scaling";
  peer.arithmetic = Arithmetic::own_order;
  PrecisionOffer plain =
      plain_recipe(ParamType::bf16, {GradType::fp32}, MainType::fp32, StateType::fp32);
  plain.exp_avg = plain.exp_avg_sq = states;
  plain.main = {MainType::fp32, MainType::fp16, MainType::remainder};
  plain.state_scale = {StateScale::global, StateScale::local};
  PrecisionOffer quantised = plain;
  quantised.param = {ParamType::fp8_current, ParamType::mxfp8, ParamType::nvfp4};
  quantised.main = {MainType::fp32};
  quantised.state_scale = {StateScale::local};
  peer.precisions = {plain, quantised};
  return peer;
}

}  // namespace adamant::scenarios
