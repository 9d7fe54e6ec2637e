#include "scenarios/peers/script/model_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "scenarios/peers/script/data.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/peers/script/optimizer_part.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;
using python::Code;

NumberFormat param_format(World const& world) {
  return format_of(world.setting.precision.param).value_or(NumberFormat::fp32);
}

std::string policy_of(World const& world) {
  NumberFormat const param = param_format(world);
  NumberFormat const grad = format_of(world.setting.precision.grad);
  std::string inside;
  if (param != weight_format(world)) inside = "param_dtype=" + type_name(param) + ", ";
  // Left out it is param_dtype up to PyTorch 2.14, and the type of the weights since 2.15.
  if (!inside.empty() || grad != param) inside += "reduce_dtype=" + type_name(grad);
  return fmt::format("MixedPrecisionPolicy({})", inside);
}

std::string mesh_shape(World const& world) {
  auto const& shape = world.setting.world;
  return shape.replicate > 1 ? fmt::format("({}, {})", shape.replicate, shape.shard)
                             : fmt::format("({},)", shape.shard);
}

/// How the mean over microbatches becomes one division: FSDP2's own way where there are no
/// replicas, by which it divides once more, a factor, or a hook where the factor would be used
/// twice, unless the scenario wants either.
enum class Division { own, factor, hook };

Division division_of(World const& world) {
  auto const& shape = world.setting.world;
  auto const way = option(world.setting, "division", "hook");
  bool const averages = shape.replicate == 1 || option(world.setting, "averages", "once") == "own";
  if (averages && world.setting.microbatch_count() == shape.rank_count()) return Division::own;
  return shape.shard > 1 || way == "factor" ? Division::factor : Division::hook;
}

/// Do worlds differ in what `of` says of them?
template <typename Of>
bool varies(Plan const& plan, Of of) {
  return std::any_of(plan.worlds.begin(), plan.worlds.end(),
                     [&](World const& world) { return of(world) != of(plan.worlds.front()); });
}

std::string offload_of(World const& world) {
  return option(world.setting, "offload_policy", "none") == "cpu"
             ? "CPUOffloadPolicy(pin_memory=False)"
             : "OffloadPolicy()";
}

bool is_replicated(World const& world) {
  return world.setting.world.replicate > 1;
}

bool replicates(Plan const& plan) {
  return std::any_of(plan.worlds.begin(), plan.worlds.end(), is_replicated);
}

bool is_reversed(World const& world) {
  return world.setting.order == ParamOrder::reversed;
}

/// A mesh of all ranks has to be told only what is not their number.
bool mesh_is_argument(Plan const& plan) {
  return replicates(plan) && varies(plan, mesh_shape);
}

bool has_backward(World const& world) {
  return std::ranges::any_of(world.passages, [](Passage const& passage) {
    return std::ranges::any_of(passage.acts,
                               [](Act const& act) { return act.kind == Act::Kind::backward; });
  });
}

/// Divisions that matter: of worlds in which there is a backward. What cannot be loaded is not a
/// matter of what gradients are divided by.
std::set<Division> divisions_of(Plan const& plan) {
  if (plan.violation.breach == Breach::not_loaded) return {Division::own};
  std::set<Division> divisions;
  for (World const& world : plan.worlds)
    if (has_backward(world)) divisions.insert(division_of(world));
  return divisions;
}

std::string_view word_of(Division division) {
  return division == Division::factor ? "factor" : division == Division::hook ? "hook" : "own";
}

/// What `build` is given: whatever worlds differ in.
std::vector<Argument> arguments_of(Plan const& plan, World const& world) {
  std::vector<Argument> arguments;
  if (mesh_is_argument(plan)) arguments.push_back({"mesh_shape", mesh_shape(world)});
  if (varies(plan, is_reversed))
    arguments.push_back(
        {"initial", is_reversed(world) ? "dict(reversed(INITIAL.items()))" : "INITIAL"});
  if (varies(plan, weight_format)) arguments.push_back({"dtype", type_name(weight_format(world))});
  if (varies(plan, policy_of)) arguments.push_back({"policy", policy_of(world)});
  if (varies(plan, offload_of)) arguments.push_back({"offload", offload_of(world)});
  if (varies(plan, implementation_of))
    arguments.push_back({"kind", fmt::format("dict({})", implementation_of(world))});
  if (divisions_of(plan).size() > 1)
    arguments.push_back({"division", fmt::format("\"{}\"", word_of(division_of(world)))});
  return arguments;
}

std::string joined(std::vector<Argument> const& arguments, std::string Argument::*part) {
  std::string text;
  for (Argument const& argument : arguments)
    text.append(text.empty() ? "" : ", ").append(argument.*part);
  return text;
}

/// Gradients go through parameters of 16 bits, whose products round.
bool is_narrow(Plan const& plan) {
  return std::any_of(plan.worlds.begin(), plan.worlds.end(),
                     [](World const& world) { return param_format(world) != NumberFormat::fp32; });
}

/// The product is fp32, where a loss scale meets it that fp16 could not hold.
void write_forward(Draft& draft) {
  char const* const make = has_ambiguous_shape(draft.plan.scenario) ? "as_tensor" : "tensor";
  Block const forward(
      draft.code,
      "def forward(self, gradients):  # what is given for a parameter becomes its gradient");
  std::string const product = fmt::format("(getattr(self, n){} * torch.{}(x)).sum()",
                                          is_narrow(draft.plan) ? ".float()" : "", make);
  std::string const line = fmt::format("return sum({} for n, x in gradients.items())", product);
  if (draft.code.fits(line)) return draft.code.line(line);
  draft.code.line(fmt::format("losses = [{} for n, x in gradients.items()]", product));
  draft.code.line("return sum(losses)");
}

void write_unit(Draft& draft) {
  bool const several = draft.names.unit_count() > 1;
  Block const unit(draft.code, fmt::format("class {}(nn.Module):", several ? "Unit" : "Model"));
  write_forward(draft);
}

/// Gives `module` the parameters of a dictionary called `initial`.
void write_parameters(Draft& draft, std::string_view module, std::string_view initial) {
  char const* const make = has_ambiguous_shape(draft.plan.scenario) ? "as_tensor" : "tensor";
  NumberFormat const format = weight_format(draft.plan.worlds.front());
  std::string dtype = format == NumberFormat::fp32 ? "" : ", dtype=" + type_name(format);
  if (varies(draft.plan, weight_format)) dtype = ", dtype=dtype";
  Block const loop(draft.code, fmt::format("for name, values in {}.items():", initial));
  std::string const value = fmt::format("nn.Parameter(torch.{}(values{}))", make, dtype);
  draft.code.line(fmt::format("{}.register_parameter(name, {})", module, value));
}

void write_units(Draft& draft) {
  bool const typed = varies(draft.plan, weight_format);
  draft.code.blank(2);
  Block const model(draft.code, "class Model(nn.Module):");
  {
    Block const init(draft.code, typed ? "def __init__(self, dtype):" : "def __init__(self):");
    draft.code.line("super().__init__()");
    draft.code.line("self.units = nn.ModuleList(Unit() for _ in INITIAL)");
    Block const loop(draft.code, "for unit, initial in zip(self.units, INITIAL):");
    write_parameters(draft, "unit", "initial");
  }
  draft.code.blank();
  Block const forward(draft.code, "def forward(self, gradients):");
  draft.code.line("return sum(unit(x) for unit, x in zip(self.units, gradients) if x)");
}

/// Each world has processes of its own, which a function can let join and make their model.
bool joins(Plan const& plan) {
  return !plan.alone() && std::all_of(plan.worlds.begin(), plan.worlds.end(),
                                      [](World const& world) { return world.new_processes; });
}

/// A function makes them, each time with its arguments.
bool builds(Plan const& plan) {
  return plan.worlds.size() > 1 && !plan.one_program && !plan.in_chain;
}

int ranks_of(World const& world) {
  return world.ranks();
}

std::string mesh_of(Plan const& plan) {
  if (mesh_is_argument(plan))
    return "dist.init_device_mesh(\"cpu\", mesh_shape, "
           "mesh_dim_names=(\"replicate\", \"shard\")[-len(mesh_shape) :])";
  if (replicates(plan))
    return fmt::format(
        "dist.init_device_mesh(\"cpu\", {}, mesh_dim_names=(\"replicate\", \"shard\"))",
        mesh_shape(plan.worlds.front()));
  if (plan.alone()) return "dist.init_device_mesh(\"cpu\", (1,))";
  bool const told = plan.one_program ? varies(plan, ranks_of) : plan.worlds.size() > 1;
  if (joins(plan) && told) return "dist.init_device_mesh(\"cpu\", (ranks,))";
  bool const grows = varies(plan, [](World const& world) { return world.ranks(); });
  if (grows) return "dist.init_device_mesh(\"cpu\", (dist.get_world_size(),))";
  return fmt::format("dist.init_device_mesh(\"cpu\", ({},))", plan.worlds.front().ranks());
}

void write_division(Draft& draft, Division division, std::string const& module) {
  Code& code = draft.code;
  double const count = static_cast<double>(draft.plan.scenario.microbatch_count());
  if (division == Division::own) return;
  code.line(module + ".set_force_sum_reduction_for_comms(True)");
  if (division == Division::factor) {
    code.line(fmt::format("{}.set_gradient_divide_factor({:.1f})", module, count));
  } else {
    code.line(module + ".set_gradient_divide_factor(1.0)");
    code.line(
        fmt::format("{}.set_all_reduce_hook(lambda reduced: reduced.div_({:.1f}))", module, count));
  }
}

void write_divisions(Draft& draft, std::string const& module) {
  auto const divisions = divisions_of(draft.plan);
  if (divisions.size() == 1) return write_division(draft, *divisions.begin(), module);
  for (Division const division : divisions) {
    if (division == Division::own) continue;
    Block const then(draft.code, fmt::format("if division == \"{}\":", word_of(division)));
    write_division(draft, division, module);
  }
}

std::vector<std::string> sharding(Draft& draft) {
  Plan const& plan = draft.plan;
  std::vector<std::string> options;
  if (varies(plan, policy_of)) {
    options.emplace_back("mp_policy=policy");
  } else if (policy_of(plan.worlds.front()) != "MixedPrecisionPolicy()") {
    options.push_back("mp_policy=" + policy_of(plan.worlds.front()));
  }
  if (!options.empty()) draft.imports.add_from("torch.distributed.fsdp", "MixedPrecisionPolicy");
  for (World const& world : plan.worlds) {
    std::string const offload = offload_of(world);
    if (varies(plan, offload_of) || offload != "OffloadPolicy()")
      draft.imports.add_from("torch.distributed.fsdp", offload.substr(0, offload.find('(')));
  }
  if (varies(plan, offload_of))
    options.emplace_back("offload_policy=offload");
  else if (offload_of(plan.worlds.front()) != "OffloadPolicy()")
    options.push_back("offload_policy=" + offload_of(plan.worlds.front()));
  return options;
}

// Beside the model in one call of fully_shard.
constexpr std::size_t mesh_columns_max = 60;

void write_shards(Draft& draft) {
  bool const several = draft.names.unit_count() > 1;
  draft.imports.add_from("torch.distributed.fsdp", "fully_shard");
  std::vector<std::string> options = sharding(draft);
  std::string const mesh = mesh_of(draft.plan);
  bool const inlined = !several && options.empty() && mesh.size() <= mesh_columns_max;
  if (!inlined) draft.code.line("mesh = " + mesh);
  options.insert(options.begin(), inlined ? "mesh=" + mesh : "mesh=mesh");
  auto const shard = [&](std::string const& module) {
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.begin(), module);
    draft.code.call("fully_shard", arguments);
  };
  if (several) {
    Block const loop(draft.code, "for unit in model.units:");
    shard("unit");
    write_divisions(draft, "unit");
  }
  shard("model");
  if (!several) write_divisions(draft, "model");
}

void write_making(Draft& draft) {
  bool const several = draft.names.unit_count() > 1;
  bool const typed = several && varies(draft.plan, weight_format);
  draft.code.line(typed ? "model = Model(dtype)" : "model = Model()");
  if (!several)
    write_parameters(draft, "model", varies(draft.plan, is_reversed) ? "initial" : "INITIAL");
  write_shards(draft);
  write_optimizer(draft, varies(draft.plan, implementation_of)
                             ? "**kind"
                             : implementation_of(draft.plan.worlds.front()));
}

void write_joining(Draft& draft, std::string const& store, std::string const& rank,
                   std::string const& ranks) {
  draft.code.call("dist.init_process_group",
                  {"\"gloo\"", store, "rank=" + rank, "world_size=" + ranks});
}

void write_build(Draft& draft) {
  Plan const& plan = draft.plan;
  std::string arguments = joined(arguments_of(plan, plan.worlds.front()), &Argument::name);
  if (joins(plan)) arguments = "rank, ranks, store" + (arguments.empty() ? "" : ", " + arguments);
  Block const build(draft.code, fmt::format("def start({}):", arguments));
  if (joins(plan)) write_joining(draft, "f\"file://{store}\"", "rank", "ranks");
  write_making(draft);
  draft.code.line("return model, optimizer");
}

}  // namespace

NumberFormat weight_format(World const& world) {
  return format_of(world.setting.precision.main).value_or(param_format(world));
}

std::string type_name(NumberFormat format) {
  constexpr std::string_view names[] = {"torch.float32", "torch.bfloat16", "torch.float16"};
  return std::string(names[static_cast<std::size_t>(format)]);
}

void write_model(Draft& draft) {
  bool const simple =
      draft.names.unit_count() == 1 && used_groups(draft.plan.scenario) == std::vector<int>{0};
  if (varies(draft.plan, is_reversed) && !simple)
    throw NoScript("a load in another order of parameters is shown without groups and units alone");
  draft.imports.add_from("torch", "nn");
  write_unit(draft);
  if (draft.names.unit_count() > 1) write_units(draft);
  if (!builds(draft.plan)) return;
  draft.code.blank(2);
  write_build(draft);
}

void write_beginning(Draft& draft, World const& world, std::string const& function) {
  Plan const& plan = draft.plan;
  std::string arguments = joined(arguments_of(plan, world), &Argument::value);
  std::string const store = fmt::format("{{directory}}/{}", function);
  if (joins(plan) && builds(plan)) {
    arguments = fmt::format("{}, {}, f\"{}\"{}", world.in_main ? "0" : "rank", world.ranks(), store,
                            arguments.empty() ? "" : ", " + arguments);
  } else if (world.new_processes && !plan.alone()) {
    write_joining(draft, fmt::format("f\"file://{}\"", store), world.in_main ? "0" : "rank",
                  plan.in_chain || (plan.one_program && varies(plan, ranks_of))
                      ? "ranks"
                      : std::to_string(world.ranks()));
  }
  if (!builds(plan)) return write_making(draft);
  draft.code.line(fmt::format("model, optimizer = start({})", arguments));
}

std::vector<Argument> making_arguments(Plan const& plan, World const& world) {
  return arguments_of(plan, world);
}

std::vector<Argument> program_arguments(Plan const& plan, World const& world) {
  std::vector<Argument> arguments = arguments_of(plan, world);
  if (varies(plan, ranks_of))
    arguments.insert(arguments.begin(), {"ranks", std::to_string(world.ranks())});
  if (std::int64_t const at = plan.second_backwards; at > 0)
    arguments.push_back({"backwards", world.of_second ? fmt::format("GRADIENTS[{}:]", at)
                                                      : fmt::format("GRADIENTS[:{}]", at)});
  return arguments;
}

}  // namespace adamant::scenarios::script
