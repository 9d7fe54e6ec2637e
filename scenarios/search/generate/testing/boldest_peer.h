// Capabilities of an engine outside the process, made up for tests of the generator.
#pragma once

#include "scenarios/seam/testing/peer_capabilities.h"

namespace adamant::scenarios {

/// An engine outside the process that does what any of them may.
inline Capabilities boldest_peer() {
  Capabilities peer = peer_with_scales();
  Capabilities const& ours = capabilities_of_simulation();
  peer.layouts = ours.layouts;
  peer.outers = ours.outers;
  peer.parts = true;
  peer.own_precision = true;
  peer.precisions.push_back({.param = {ParamType::fp32, ParamType::bf16, ParamType::fp16},
                             .grad = {GradType::fp32, GradType::bf16, GradType::fp16},
                             .main = {MainType::none},
                             .exp_avg = {StateType::fp32},
                             .exp_avg_sq = {StateType::fp32}});
  peer.precisions.push_back(
      plain_recipe(ParamType::fp16, {GradType::fp16}, MainType::bf16, StateType::fp16));
  peer.precisions.back().state_scale = {StateScale::none};
  peer.precisions.push_back(
      plain_recipe(ParamType::fp8_block, {GradType::fp32}, MainType::fp32, StateType::fp32));
  peer.precisions.back().param.push_back(ParamType::fp8_delayed);
  peer.step_counters = ours.step_counters;
  peer.bias_correction = ours.bias_correction;
  peer.detects_damage = ours.detects_damage;
  return peer;
}

}  // namespace adamant::scenarios
