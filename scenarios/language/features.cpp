#include "scenarios/language/features.h"

namespace adamant::scenarios {

namespace {

constexpr std::array<std::string_view, feature_count> labels{
    "one rank",
    "more than four ranks",
    "replicas",
    "fewer rows than ranks",
    "ragged end",
    "tensor without elements",
    "several parameters",
    "several units",
    "parameter group",
    "adam (L2)",
    "counter per parameter",
    "no bias correction",
    "extreme settings",
    "gradient not decoupled",
    "cast copy of a gradient",
    "bf16 weights",
    "fp16 weights",
    "main weights",
    "16-bit gradients",
    "bf16 moments",
    "fp16 moments",
    "fp8 moments",
    "fp16 main weights",
    "bf16 main weights",
    "remainder",
    "quantised weights",
    "block cut by a shard",
    "scale of a shard",
    "a parameter's own precision",
    "clip",
    "fixed loss scale",
    "dynamic loss scale",
    "loss scale that rounds",
    "overflow",
    "normal gradients",
    "wild gradients",
    "fewer microbatches than ranks",
    "more microbatches than ranks",
    "accumulated backward",
    "step without any gradient",
    "backward without a parameter",
    "zero_grad keeps gradients",
    "set",
    "train",
    "check",
    "states offloaded",
    "offload as an operation",
    "hybrid step",
    "hybrid step on both sides",
    "hybrid step with pageable memory",
    "save",
    "save over an older one",
    "load",
    "load on another world",
    "load with another offload",
    "load with other types",
    "load in reversed order",
    "crash at a save",
    "damaged checkpoint",
    "out of memory",
    "capturable",
    "capture",
    "replay",
    "four steps or more",
    "random schedule",
    "pct schedule",
    "engine option",
};

}  // namespace

std::string_view label_of(Feature feature) {
  return labels[static_cast<std::size_t>(feature)];
}

}  // namespace adamant::scenarios
