#include "scenarios/peers/script/one_program_part.h"

#include <fmt/format.h>

#include <string>

#include "scenarios/peers/script/model_part.h"
#include "scenarios/peers/script/observation.h"
#include "scenarios/peers/script/program_part.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;

void write_shown(Draft& draft) {
  for (char const* const line : {
           "def shown(rank, model, optimizer):  # all numbers that a rank holds, each behind its "
           "name",
           "    for name, p in model.named_parameters():",
           "        held = {\"weight\": p, \"gradient\": p.grad, **optimizer.state.get(p, {})}",
           "        for key, tensor in held.items():",
           "            local = tensor.to_local() if hasattr(tensor, \"to_local\") else tensor",
           "            numbers = [] if local is None else local.detach().flatten().tolist()",
           "            for index, number in enumerate(numbers):",
           "                yield f\"rank {rank}, {key} of {name}[{index}]: "
           "{float(number).hex()}\"",
       })
    draft.code.line(line);
  draft.code.blank(2);
}

/// Both of two runs, whose ranks have written down what they held.
void write_reading_of_all(Draft& draft) {
  draft.code.line("runs = [], []");
  Block const sides(draft.code, "for side, seen in zip((\"expected\", \"actual\"), runs):");
  Block const ranks(draft.code,
                    fmt::format("for rank in range({}):", draft.plan.worlds.front().ranks()));
  draft.code.line("lines = open(f\"{directory}/{side}-{rank}\").read().splitlines()");
  draft.code.line("seen += (line.split(\": \") for line in lines)");
}

}  // namespace

void write_one_program(Draft& draft) {
  Plan const& plan = draft.plan;
  if (plan.repeated) write_shown(draft);
  std::string names = "rank, directory, side";
  for (Argument const& argument : program_arguments(plan, plan.worlds.back()))
    names.append(", ").append(argument.name);
  {
    Block const function(draft.code, fmt::format("def run({}):", names));
    if (plan.repeated) draft.code.line("seen = []");
    write_beginning(draft, plan.worlds.back(), "{side}-ranks");
    write_program(draft, plan.worlds.back());
    write_look(draft, plan.worlds.back());
    draft.code.line("dist.destroy_process_group()");
  }
  draft.code.blank(2);
  draft.imports.add("tempfile");
  draft.imports.add_as("torch.multiprocessing", "mp");
  Block const with(draft.code, "with tempfile.TemporaryDirectory() as directory:");
  for (World const& world : plan.worlds) {
    std::string given = fmt::format("directory, \"{}\"", world.of_second ? "actual" : "expected");
    for (Argument const& argument : program_arguments(plan, world))
      given.append(", ").append(argument.value);
    draft.code.call("mp.start_processes",
                    {"run", fmt::format("({})", given), fmt::format("nprocs={}", world.ranks()),
                     "start_method=\"fork\""});
  }
  if (plan.repeated) return write_reading_of_all(draft);
  draft.code.line("expected = open(f\"{directory}/expected\").read()");
  draft.code.line("actual = open(f\"{directory}/actual\").read()");
}

}  // namespace adamant::scenarios::script
