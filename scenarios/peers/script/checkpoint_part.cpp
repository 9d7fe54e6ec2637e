#include "scenarios/peers/script/checkpoint_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/peers/script/damage_part.h"
#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/model_part.h"
#include "scenarios/peers/script/observation.h"

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

std::string path_text(Act const& act) {
  return fmt::format("f\"{{directory}}/{}\"", act.checkpoint);
}

/// Puts what is saved, or what a load fills, into `state`.
void write_gathering(Draft& draft, Manner const& manner, bool scaler) {
  std::string gathered = "{\"model\": model.state_dict(), \"optim\": optimizer.state_dict()}";
  if (manner.helpers) {
    draft.imports.add_as("torch.distributed.checkpoint.state_dict", "sd");
    gathered =
        fmt::format("dict(zip((\"model\", \"optim\"), sd.get_state_dict(model, optimizer{})))",
                    manner.flat ? ", options=FLAT" : "");
  }
  draft.code.line("state = " + gathered);
  if (scaler) draft.code.line("state[\"scaler\"] = scaler.state_dict()");
}

/// Takes out what a format of tensors alone cannot hold.
void write_taking_out(Draft& draft, Manner const& manner, bool loads) {
  if (!manner.tensors_only()) return;
  if (!manner.flat)
    return draft.code.line(loads ? "groups = state[\"optim\"].pop(\"param_groups\")"
                                 : "del state[\"optim\"][\"param_groups\"]");
  if (loads) draft.code.line("settings_too = state[\"optim\"]");
  draft.code.line(
      "state[\"optim\"] = {k: v for k, v in state[\"optim\"].items() if k.startswith(\"state.\")}");
}

void write_putting_back(Draft& draft, Manner const& manner) {
  if (!manner.tensors_only()) return;
  draft.code.line(manner.flat ? "state[\"optim\"] = settings_too | state[\"optim\"]"
                              : "state[\"optim\"][\"param_groups\"] = groups");
}

/// The states that a new optimizer has not made yet, so that there is something to load into.
void write_allocation(Draft& draft, World const& world) {
  Precision const& precision = world.setting.precision;
  auto const weight =
      format_of(precision.main).value_or(format_of(precision.param).value_or(NumberFormat::fp32));
  auto const moment = format_of(precision.exp_avg);
  std::string const dtype = moment == weight ? "" : ", dtype=" + type_name(moment);
  std::string const made = fmt::format(
      "k: torch.full_like(p, torch.nan{}) for k in (\"exp_avg\", \"exp_avg_sq\")", dtype);
  std::string const line = fmt::format("moments = {{{}}}", made);
  if (draft.code.fits(line)) {
    draft.code.line(line);
  } else {
    {
      Block const moments(draft.code, "moments = {");
      draft.code.line(made);
    }
    draft.code.line("}");
  }
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

/// Makes what a load is to fill unlike what was saved. PyTorch's helpers make states by themselves,
/// by a step, which is enough where no value is looked at.
void write_template(Draft& draft, World const& world, Act const& load, Manner const& manner) {
  bool const values = !observes_error(draft.plan);
  bool const others = values && load.into_new_world && draft.plan.all(Act::Kind::step).empty();
  bool const by_helpers = manner.helpers && (manner.by_step || (!values && load.into_new_world));
  bool const makes = load.lacks_states && !by_helpers;
  bool const allocates = makes && !manner.by_step;
  if (others || allocates) {
    Block const parameters(draft.code, "for p in model.parameters():");
    if (others) draft.code.line("nn.init.constant_(p, 9.0)");
    if (allocates) write_allocation(draft, world);
  }
  if (makes && manner.by_step) write_step_without_effect(draft);
}

void write_spread(Draft& draft, Manner const& manner) {
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

/// Where nothing can be read, any parameter shows it.
int parameter_read(Draft const& draft) {
  return std::max(draft.names.find(parameter_of(draft.plan.violation)), 0);
}

/// The key of a checkpoint that the violation is about, or of any parameter.
std::string parameter_key(Draft const& draft) {
  Violation const& violation = draft.plan.violation;
  std::string const name = draft.names.in_state(parameter_read(draft));
  if (about<StepCount>(violation) != nullptr) return fmt::format("optim.state.{}.step", name);
  auto const* const tensor = about<Tensor>(violation);
  bool const moment = tensor != nullptr && (tensor->kind == TensorKind::exp_avg ||
                                            tensor->kind == TensorKind::exp_avg_sq);
  return moment ? fmt::format("optim.state.{}.{}", name, name_of(tensor->kind)) : "model." + name;
}

/// What the key is read into: values that nothing was saved with.
std::string place_for(Draft const& draft, World const& world) {
  if (about<StepCount>(draft.plan.violation) != nullptr) return "torch.tensor(-1.0)";
  auto const parameter = static_cast<std::size_t>(parameter_read(draft));
  NumberFormat const format = weight_format(world);
  return fmt::format("torch.full([{}], torch.nan{})",
                     fmt::join(draft.plan.scenario.params[parameter].shape, ", "),
                     format == NumberFormat::fp32 ? "" : ", dtype=" + type_name(format));
}

}  // namespace

void write_checkpoint_functions(Draft& draft) {
  Plan const& plan = draft.plan;
  if (!keeps_files(plan)) return;
  draft.imports.add_as("torch.distributed.checkpoint", "dcp");
  if (std::ranges::any_of(plan.worlds,
                          [](World const& world) { return manner_of(world.setting).flat; })) {
    draft.code.line("FLAT = sd.StateDictOptions(flatten_optimizer_state_dict=True)");
    draft.code.blank(2);
  }
  write_damage_functions(draft);
}

void write_save(Draft& draft, World const& world, Act const& save) {
  Manner const manner = manner_of(world.setting);
  if (save.keeps_older) write_keeping_older(draft, world, save);
  write_gathering(draft, manner, scales(draft.plan.scenario) && !manner.tensors_only());
  write_taking_out(draft, manner, false);
  for (Fault const& fault : save.faults) write_crash(draft, world, save, fault);
  draft.code.call(manner.asynchronous ? "dcp.async_save" : "dcp.save",
                  {"state", writer_of(draft, manner, path_text(save))},
                  manner.asynchronous ? ".result()" : "");
}

void write_load(Draft& draft, World const& world, Act const& load) {
  Manner const manner = manner_of(world.setting);
  bool const scaler = scales(draft.plan.scenario) && !manner.tensors_only();
  for (Fault const& fault : load.faults) write_damage(draft, world, load, fault);
  write_template(draft, world, load, manner);
  write_gathering(draft, manner, scaler);
  write_taking_out(draft, manner, true);
  draft.code.call("dcp.load", {"state", reader_of(draft, manner, path_text(load))});
  write_putting_back(draft, manner);
  write_spread(draft, manner);
  if (scaler) draft.code.line("scaler.load_state_dict(state[\"scaler\"])");
  if (load.drops_gradients) draft.code.line("optimizer.zero_grad()");
}

bool keeps_files(Plan const& plan) {
  return !plan.all(Act::Kind::save).empty() || !plan.all(Act::Kind::load).empty();
}

void write_reading(Draft& draft) {
  World const& world = *draft.plan.reading;
  Act const& load = world.passages.front().acts.front();
  Manner const manner = manner_of(world.setting);
  for (Fault const& fault : load.faults) write_damage(draft, world, load, fault);
  draft.code.line("tensor = " + place_for(draft, world));
  draft.code.call("dcp.load", {fmt::format("{{\"{}\": tensor}}", parameter_key(draft)),
                               reader_of(draft, manner, path_text(load))});
}

}  // namespace adamant::scenarios::script
