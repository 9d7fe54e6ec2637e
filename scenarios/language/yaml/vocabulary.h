// The words of the scenario format, each written once: the keys of every kind of map, and engines;
// beside those for enumerations (language/words.h). Reader, writer and schema test share them; what
// they mean is the model's.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "scenarios/language/scenario.h"
#include "scenarios/language/words.h"

namespace adamant::scenarios {

/// The keys of one kind of map. `definition` is its name in scenarios/schema.json.
struct Keys {
  std::string_view definition;
  std::span<std::string_view const> all;
};

namespace keys {

inline constexpr std::array<std::string_view, 20> scenario_list{
    "adamant", "name",   "about",     "source",    "seed",    "world",     "layout",
    "params",  "groups", "precision", "optimizer", "offload", "gradients", "microbatches",
    "program", "engine", "schedule",  "faults",    "bug",     "expect"};
inline constexpr std::array<std::string_view, 2> world_list{"shard", "replicate"};
inline constexpr std::array<std::string_view, 4> param_list{"name", "shape", "group", "precision"};
inline constexpr std::array<std::string_view, 1> params_from_model_list{"model"};
inline constexpr std::array<std::string_view, 5> group_list{"lr", "betas", "eps", "weight_decay",
                                                            "bias_correction"};
inline constexpr std::array<std::string_view, 6> precision_list{
    "param", "grad", "main", "exp_avg", "exp_avg_sq", "state_scale"};
inline constexpr std::array<std::string_view, 12> optimizer_list{
    "mode",           "lr",
    "betas",          "eps",
    "weight_decay",   "bias_correction",
    "decoupled_grad", "keep_cast_grad",
    "step_counter",   "capturable",
    "clip",           "loss_scale"};
inline constexpr std::array<std::string_view, 2> offload_list{"states", "hybrid"};
inline constexpr std::array<std::string_view, 2> states_list{"moments", "main"};
inline constexpr std::array<std::string_view, 4> hybrid_list{"fraction", "overlap", "pin_grads",
                                                             "pin_params"};
inline constexpr std::array<std::string_view, 1> backward_list{"without"};
inline constexpr std::array<std::string_view, 1> zero_grad_list{"set_to_none"};
inline constexpr std::array<std::string_view, 6> set_list{"lr",           "betas", "eps",
                                                          "weight_decay", "clip",  "loss_scale"};
inline constexpr std::array<std::string_view, 6> load_list{"from",      "world",   "layout",
                                                           "precision", "offload", "order"};
inline constexpr std::array<std::string_view, 2> engine_list{"name", "options"};
inline constexpr std::array<std::string_view, 4> schedule_list{"strategy", "seed", "depth",
                                                               "choices"};
inline constexpr std::array<std::string_view, 7> fault_list{"at",          "then", "rank", "nth",
                                                            "after_bytes", "file", "byte"};
inline constexpr std::array<std::string_view, 2> expect_list{"violates", "refused"};
/// Operations, as bare words and as keys of a map with one entry; in the order of Action.
inline constexpr std::array<std::string_view, 14> operation_list{
    "train",   "backward", "clip",    "step",   "zero_grad", "set",  "overflow",
    "offload", "reload",   "capture", "replay", "save",      "load", "check"};
/// A file in scenarios/models; not part of the schema of scenarios.
inline constexpr std::array<std::string_view, 4> model_list{"model", "about", "source", "params"};

inline constexpr Keys scenario{"scenario", scenario_list};
inline constexpr Keys world{"world", world_list};
inline constexpr Keys param{"param", param_list};
inline constexpr Keys params_from_model{"params_from_model", params_from_model_list};
inline constexpr Keys group{"group", group_list};
inline constexpr Keys precision{"precision", precision_list};
inline constexpr Keys optimizer{"optimizer", optimizer_list};
inline constexpr Keys offload{"offload", offload_list};
inline constexpr Keys states{"states", states_list};
inline constexpr Keys hybrid{"hybrid", hybrid_list};
inline constexpr Keys backward{"backward", backward_list};
inline constexpr Keys zero_grad{"zero_grad", zero_grad_list};
inline constexpr Keys set{"set", set_list};
inline constexpr Keys load{"load", load_list};
inline constexpr Keys engine{"engine", engine_list};
inline constexpr Keys schedule{"schedule", schedule_list};
inline constexpr Keys fault{"fault", fault_list};
inline constexpr Keys expect{"expect", expect_list};
inline constexpr Keys operation{"operation", operation_list};
inline constexpr Keys model{"model", model_list};

/// Every kind of map in a scenario file.
inline constexpr std::array all{
    scenario, world,  param,    params_from_model, group, precision, optimizer, offload,
    states,   hybrid, backward, zero_grad,         set,   load,      engine,    schedule,
    fault,    expect, operation};

}  // namespace keys

/// Engines by name; beside them stands exec:COMMAND.
inline constexpr std::array<std::string_view, 4> engine_names{"sim", "sim-unchecked", "cuda",
                                                              "torch"};
inline constexpr std::string_view exec_prefix = "exec:";

/// Is it one of engine_names, or a command?
constexpr bool is_engine_name(std::string_view name) {
  if (name.starts_with(exec_prefix)) return name.size() > exec_prefix.size();
  for (std::string_view const known : engine_names)
    if (name == known) return true;
  return false;
}

}  // namespace adamant::scenarios
