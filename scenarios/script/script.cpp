#include "scenarios/script/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "scenarios/script/checkpoint_part.h"
#include "scenarios/script/data.h"
#include "scenarios/script/model_part.h"
#include "scenarios/script/observation.h"
#include "scenarios/script/part.h"
#include "scenarios/script/program_part.h"

namespace adamant::scenarios {

namespace script {

namespace {

using python::Block;
using python::Code;
using python::Literal;

std::string function_of(Plan const& plan, std::size_t processes) {
  constexpr std::array names = {"first", "second", "third", "fourth", "fifth", "sixth"};
  bool const one = plan.worlds.size() == 1;
  return one                        ? "run"
         : processes < names.size() ? names[processes]
                                    : fmt::format("world_{}", processes);
}

/// Worlds that share processes: a function of the script.
struct Stay {
  std::vector<World const*> worlds;
  std::string function;
};

std::vector<Stay> stays_of(Plan const& plan) {
  std::vector<Stay> stays;
  for (World const& world : plan.worlds) {
    if (world.new_processes || stays.empty())
      stays.push_back({.worlds = {}, .function = function_of(plan, stays.size())});
    stays.back().worlds.push_back(&world);
  }
  if (stays.size() == 1) stays.front().function = "run";
  return stays;
}

/// Numbers that Python has no literals for.
bool has_word(std::string const& data, std::string const& word) {
  for (char const* const before : {"[", " ", "-"})
    for (char const* const after : {",", "]"})
      if (data.find(before + word + after) != std::string::npos) return true;
  return false;
}

/// `packed`: in as few lines as there can be.
void write_data(Draft& draft, bool packed) {
  Literal const initial = initial_values(draft.plan, draft.names);
  Literal const gradient_values = gradients(draft.plan, draft.names);
  std::size_t const count = python::atom_count(initial) + python::atom_count(gradient_values);
  if (count > numbers_max)
    throw NoScript(fmt::format(
        "{} initial values and gradients are too many for a script; minimise the scenario first "
        "(adamant minimize --script)",
        count));
  for (auto const& [name, literal] :
       {std::pair("INITIAL", &initial), std::pair("GRADIENTS", &gradient_values)}) {
    if (literal->items.empty()) continue;
    if (packed)
      draft.code.assign_packed(name, *literal);
    else
      draft.code.assign(name, *literal);
  }
}

bool keeps_files(Plan const& plan) {
  return !plan.all(Act::Kind::save).empty() || !plan.all(Act::Kind::load).empty();
}

void write_world(Draft& draft, World const& world, std::string const& function) {
  write_beginning(draft, world, function);
  write_program(draft, world);
}

void write_stay(Draft& draft, Stay const& stay, bool last) {
  Block const function(draft.code, fmt::format("def {}(rank, directory):", stay.function));
  for (World const* const world : stay.worlds) write_world(draft, *world, stay.function);
  if (stay.worlds.back()->crashes) return;
  if (last && !observes_error(draft.plan)) write_look(draft);
  draft.code.line("dist.destroy_process_group()");
}

void write_start(Draft& draft, Stay const& stay, bool last) {
  draft.imports.add_as("torch.multiprocessing", "mp");
  int const ranks = stay.worlds.front()->ranks();
  std::vector<std::string> const arguments = {
      stay.function, "(directory,)", fmt::format("nprocs={}", ranks), "start_method=\"fork\""};
  std::optional<Block> block;
  bool const watched = last && observes_error(draft.plan);
  if (stay.worlds.back()->crashes) {
    draft.imports.add("contextlib");
    block.emplace(
        draft.code,
        "with contextlib.suppress(mp.ProcessRaisedException, mp.ProcessExitedException):");
  } else if (watched) {
    block.emplace(draft.code, "try:");
  }
  draft.code.call("mp.start_processes", arguments);
  if (!watched) return;
  draft.code.line("actual = \"no error\"");
  block.reset();
  Block const except(draft.code,
                     "except (mp.ProcessRaisedException, mp.ProcessExitedException) as error:");
  draft.code.line("actual = str(error).strip().splitlines()[-1]");
}

void write_spawning(Draft& draft) {
  std::vector<Stay> const stays = stays_of(draft.plan);
  for (Stay const& stay : stays) {
    write_stay(draft, stay, &stay == &stays.back());
    draft.code.blank(2);
  }
  Block const main(draft.code, "if __name__ == \"__main__\":");
  draft.imports.add("tempfile");
  {
    Block const with(draft.code, "with tempfile.TemporaryDirectory() as directory:");
    for (Stay const& stay : stays) write_start(draft, stay, &stay == &stays.back());
    if (compares_ranks(draft.plan)) {
      draft.code.line("expected = open(f\"{directory}/rank-0\").read()");
      draft.code.line(fmt::format("actual = open(f\"{{directory}}/rank-{}\").read()",
                                  draft.plan.violation.rank));
    } else if (!observes_error(draft.plan)) {
      draft.code.line("actual = open(f\"{directory}/actual\").read()");
    }
  }
  write_verdict(draft);
}

/// The last world fails, or does not.
void write_watched(Draft& draft) {
  {
    Block const watched(draft.code, "try:");
    write_world(draft, draft.plan.worlds.back(), "");
    draft.code.line("actual = \"no error\"");
  }
  // A BaseException, for whoever catches none.
  bool const files = keeps_files(draft.plan);
  Block const except(draft.code, files ? "except (Exception, dcp.api.CheckpointException) as error:"
                                       : "except Exception as error:");
  draft.code.line("actual = f\"{type(error).__name__}: {error}\".strip().splitlines()[-1]");
}

void write_alone(Draft& draft) {
  draft.code.call("dist.init_process_group",
                  {"\"gloo\"", "store=dist.HashStore()", "rank=0", "world_size=1"});
  {
    std::optional<Block> with;
    if (keeps_files(draft.plan)) {
      draft.imports.add("tempfile");
      with.emplace(draft.code, "with tempfile.TemporaryDirectory() as directory:");
    }
    for (World const& world : draft.plan.worlds) {
      bool const watched = observes_error(draft.plan) && &world == &draft.plan.worlds.back();
      if (watched) {
        write_watched(draft);
      } else {
        write_world(draft, world, "");
      }
    }
    if (!observes_error(draft.plan)) write_look(draft);
  }
  draft.code.line("dist.destroy_process_group()");
  write_verdict(draft);
}

std::string put_together(Plan const& plan, bool packed) {
  Names const names(plan.scenario);
  python::Imports imports;
  imports.add("torch");
  imports.add_as("torch.distributed", "dist");
  Code body;
  Draft draft{.plan = plan, .names = names, .imports = imports, .code = body};
  write_data(draft, packed);
  for (char const* const name : {"inf", "nan"})
    if (has_word(body.text(), name)) imports.add_from("math", name);
  write_expectation(draft);
  body.blank(2);
  write_model(draft);
  body.blank(2);
  write_checkpoint_functions(draft);
  if (plan.alone())
    write_alone(draft);
  else
    write_spawning(draft);
  Code head;
  head.line(fmt::format("\"\"\"{}", title(plan)));
  head.blank();
  head.line("It needs PyTorch alone. Exit status: 1 where the defect shows, 0 where it does not.");
  head.line("\"\"\"");
  head.blank();
  imports.write(head);
  head.blank();
  return head.text() + body.text();
}

}  // namespace

}  // namespace script

namespace {

std::size_t line_count(std::string const& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string write_script(Scenario const& scenario, ViolationReport const& violation) {
  if (scenario.engine.name != "torch")
    throw NoScript(fmt::format("the engine is {}; scripts show what PyTorch does (--engine torch)",
                               scenario.engine.name));
  auto const plan = script::plan_of(scenario, violation);
  std::string text = script::put_together(plan, false);
  if (line_count(text) > script_lines_max) text = script::put_together(plan, true);
  std::size_t const lines = line_count(text);
  bool const dies = text.find("def die_before") != std::string::npos;
  if (lines > script_lines_max + (dies ? script_lines_of_death : 0))
    throw NoScript(fmt::format(
        "a script of {} lines would be needed, and {} are what people read; minimise the scenario "
        "first (adamant minimize --script)",
        lines, script_lines_max));
  return text;
}

}  // namespace adamant::scenarios
