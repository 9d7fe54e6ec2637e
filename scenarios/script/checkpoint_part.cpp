#include "scenarios/script/checkpoint_part.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/script/damage_part.h"
#include "scenarios/script/model_part.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;

/// How checkpoints are written and read: the engine's options about them.
struct Manner {
  std::string_view format;
  bool helpers = true;  // PyTorch's, nested or flat; otherwise what model and optimizer have
  bool flat = false;
  bool by_step = false;
  bool asynchronous = false;

  /// The format holds tensors and nothing else.
  bool tensors_only() const { return format != "dcp"; }
};

Manner manner_of(Scenario const& scenario) {
  return {.format = option(scenario, "format", "dcp"),
          .helpers = option(scenario, "state_dict", "helpers") != "plain",
          .flat = option(scenario, "state_dict", "helpers") == "flat",
          .by_step = option(scenario, "template", "allocate") == "step",
          .asynchronous = option(scenario, "async_save", "false") == "true"};
}

bool scales(Scenario const& scenario) {
  return scenario.optimizer.loss_scale.kind != LossScale::Kind::none;
}

std::string path_of(Act const& act) {
  return fmt::format("f\"{{directory}}/{}\"", act.checkpoint);
}

/// Puts what is saved, or what a load fills, into `state`.
void write_gathering(Draft& draft, Manner const& manner) {
  std::string model = "model.state_dict()";
  std::string optimizer = "optimizer.state_dict()";
  if (manner.helpers) {
    draft.imports.add_as("torch.distributed.checkpoint.state_dict", "sd");
    model = "sd.get_model_state_dict(model)";
    optimizer = fmt::format("sd.get_optimizer_state_dict(model, optimizer{})",
                            manner.flat ? ", options=FLAT" : "");
  }
  draft.code.line(fmt::format("state = {{\"model\": {}}}", model));
  if (!manner.tensors_only())
    return draft.code.line(fmt::format("state[\"optim\"] = {}", optimizer));
  if (!manner.flat)
    return draft.code.line(
        fmt::format("state[\"optim\"] = {{\"state\": {}[\"state\"]}}", optimizer));
  draft.code.line(fmt::format("settings_too = {}", optimizer));
  draft.code.line(
      "state[\"optim\"] = {k: v for k, v in settings_too.items() if k.startswith(\"state.\")}");
}

/// More often than this it is a function.
constexpr std::size_t gatherings_max = 2;

bool gathers_in_function(Plan const& plan) {
  Manner const manner = manner_of(plan.scenario);
  if (manner.flat && manner.tensors_only()) return false;  // it leaves two names behind
  return plan.all(Act::Kind::save).size() + plan.all(Act::Kind::load).size() > gatherings_max;
}

void write_state(Draft& draft, Manner const& manner, bool scaler) {
  if (gathers_in_function(draft.plan))
    draft.code.line("state = state_of(model, optimizer)");
  else
    write_gathering(draft, manner);
  if (scaler) draft.code.line("state[\"scaler\"] = scaler.state_dict()");
}

/// The states that a new optimizer has not made yet, so that there is something to load into.
void write_allocation(Draft& draft, World const& world) {
  Precision const& precision = world.setting.precision;
  auto const weight =
      format_of(precision.main).value_or(format_of(precision.param).value_or(NumberFormat::fp32));
  auto const moment = format_of(precision.exp_avg).value_or(weight);
  std::string const dtype = moment == weight ? "" : ", dtype=" + type_name(moment);
  draft.imports.add_from("math", "nan");
  Block const parameters(draft.code, "for p in model.parameters():");
  draft.code.line(fmt::format(
      "moments = {{k: torch.full_like(p, nan{}) for k in (\"exp_avg\", \"exp_avg_sq\")}}", dtype));
  draft.code.line("optimizer.state[p] = {\"step\": torch.tensor(0.0), **moments}");
}

/// The same by a step that changes no parameter.
void write_step_without_effect(Draft& draft) {
  draft.code.line("rates = [group[\"lr\"] for group in optimizer.param_groups]");
  {
    Block const groups(draft.code, "for group in optimizer.param_groups:");
    draft.code.line("group[\"lr\"] = 0.0");
  }
  {
    Block const parameters(draft.code, "for p in model.parameters():");
    draft.code.line("p.grad = torch.zeros_like(p)");
  }
  draft.code.line("optimizer.step()");
  draft.code.line("optimizer.zero_grad()");
  Block const groups(draft.code, "for group, rate in zip(optimizer.param_groups, rates):");
  draft.code.line("group[\"lr\"] = rate");
}

/// PyTorch's helpers make the states by themselves, by a step.
void write_template(Draft& draft, World const& world, Act const& load, Manner const& manner) {
  if (!load.lacks_states) return;
  if (!manner.by_step)
    write_allocation(draft, world);
  else if (!manner.helpers)
    write_step_without_effect(draft);
}

void write_spread(Draft& draft, Manner const& manner) {
  if (manner.flat && manner.tensors_only()) {
    draft.code.line("state[\"optim\"] = settings_too | state[\"optim\"]");
  } else if (manner.tensors_only()) {
    std::string const whole =
        manner.helpers ? "sd.get_optimizer_state_dict(model, optimizer)" : "optimizer.state_dict()";
    std::string const groups = whole + "[\"param_groups\"]";
    std::string const line = "state[\"optim\"][\"param_groups\"] = ";
    bool const short_enough = draft.code.fits(line + groups);
    if (!short_enough) draft.code.line("groups = " + groups);
    draft.code.line(line + (short_enough ? groups : "groups"));
  }
  if (manner.helpers) {
    draft.code.line("sd.set_model_state_dict(model, state[\"model\"])");
    draft.code.call(
        "sd.set_optimizer_state_dict",
        manner.flat
            ? std::vector<std::string>{"model", "optimizer", "state[\"optim\"]", "options=FLAT"}
            : std::vector<std::string>{"model", "optimizer", "state[\"optim\"]"});
  } else {
    draft.code.line("model.load_state_dict(state[\"model\"])");
    draft.code.line("optimizer.load_state_dict(state[\"optim\"])");
  }
}

/// The argument of a save; a writer that is too long for one has a line of its own before it.
std::string writer_of(Draft& draft, Manner const& manner, std::string const& path) {
  if (!manner.tensors_only()) return "checkpoint_id=" + path;
  draft.imports.add_from("torch.distributed.checkpoint", "HuggingFaceStorageWriter");
  std::vector<std::string> arguments = {path, "save_distributed=True"};
  if (manner.format == "hf_consolidated") arguments.emplace_back("enable_consolidation=True");
  std::string const argument =
      fmt::format("storage_writer=HuggingFaceStorageWriter({})", fmt::join(arguments, ", "));
  if (draft.code.fits("    " + argument)) return argument;
  draft.code.call("writer = HuggingFaceStorageWriter", arguments);
  return "storage_writer=writer";
}

std::string reader_of(Draft& draft, Manner const& manner, std::string const& path) {
  if (!manner.tensors_only()) return "checkpoint_id=" + path;
  draft.imports.add_from("torch.distributed.checkpoint", "HuggingFaceStorageReader");
  return fmt::format("storage_reader=HuggingFaceStorageReader({})", path);
}

/// What is not loaded is to be seen, also where saved values are the initial ones.
void write_other_values(Draft& draft) {
  if (!draft.plan.all(Act::Kind::step).empty()) return;
  Block const loop(draft.code, "for p in model.parameters():");
  draft.code.line("nn.init.constant_(p, 9.0)");
}

}  // namespace

void write_checkpoint_functions(Draft& draft) {
  Plan const& plan = draft.plan;
  if (plan.all(Act::Kind::save).empty() && plan.all(Act::Kind::load).empty()) return;
  draft.imports.add_as("torch.distributed.checkpoint", "dcp");
  if (manner_of(plan.scenario).flat) {
    draft.code.line("FLAT = sd.StateDictOptions(flatten_optimizer_state_dict=True)");
    draft.code.blank(2);
  }
  if (gathers_in_function(plan)) {
    {
      Block const function(draft.code, "def state_of(model, optimizer):");
      write_gathering(draft, manner_of(plan.scenario));
      draft.code.line("return state");
    }
    draft.code.blank(2);
  }
  write_damage_functions(draft);
}

void write_save(Draft& draft, World const& world, Act const& save) {
  Manner const manner = manner_of(draft.plan.scenario);
  if (save.keeps_older) write_keeping_older(draft, world, save);
  write_state(draft, manner, scales(draft.plan.scenario) && !manner.tensors_only());
  for (Fault const& fault : save.faults) write_crash(draft, world, save, fault);
  draft.code.call(manner.asynchronous ? "dcp.async_save" : "dcp.save",
                  {"state", writer_of(draft, manner, path_of(save))},
                  manner.asynchronous ? ".result()" : "");
}

void write_load(Draft& draft, World const& world, Act const& load) {
  Manner const manner = manner_of(draft.plan.scenario);
  bool const scaler = scales(draft.plan.scenario) && !manner.tensors_only();
  for (Fault const& fault : load.faults) write_damage(draft, world, load, fault);
  if (load.into_new_world) write_other_values(draft);
  write_template(draft, world, load, manner);
  write_state(draft, manner, scaler);
  draft.code.call("dcp.load", {"state", reader_of(draft, manner, path_of(load))});
  write_spread(draft, manner);
  if (scaler) draft.code.line("scaler.load_state_dict(state[\"scaler\"])");
  if (load.drops_gradients) draft.code.line("optimizer.zero_grad()");
}

}  // namespace adamant::scenarios::script
