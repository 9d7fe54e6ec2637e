#include "scenarios/peers/script/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "scenarios/peers/script/chain_part.h"
#include "scenarios/peers/script/checkpoint_part.h"
#include "scenarios/peers/script/compressed_data.h"
#include "scenarios/peers/script/damage_part.h"
#include "scenarios/peers/script/data.h"
#include "scenarios/peers/script/further_run.h"
#include "scenarios/peers/script/model_part.h"
#include "scenarios/peers/script/observation.h"
#include "scenarios/peers/script/one_program_part.h"
#include "scenarios/peers/script/part.h"
#include "scenarios/peers/script/program_part.h"
#include "scenarios/peers/script/starting_part.h"
#include "scenarios/peers/script/verdict.h"

namespace adamant::scenarios {

namespace script {

namespace {

using python::Block;
using python::Code;
using python::Literal;

/// What the processes that come after so many others of their run do.
std::string function_of(World const& world, std::size_t processes, bool two_runs) {
  std::string const number = processes == 0 ? "" : fmt::format("_{}", processes + 1);
  if (two_runs) return (world.of_second ? "second_run" : "first_run") + number;
  constexpr std::array names = {"first", "second", "third", "fourth", "fifth", "sixth"};
  return processes < names.size() ? names[processes] : fmt::format("world_{}", processes);
}

std::vector<Stay> stays_of(Plan const& plan) {
  std::vector<Stay> stays;
  std::size_t processes = 0;
  for (World const& world : plan.worlds) {
    if (!stays.empty() && stays.back().worlds.back()->shows_first) processes = 0;
    if (world.new_processes || stays.empty())
      stays.push_back({.worlds = {}, .function = function_of(world, processes++, plan.two_runs)});
    stays.back().worlds.push_back(&world);
  }
  if (stays.size() == 1) stays.front().function = "run";
  return stays;
}

/// How much room a script takes for what it says: each way has fewer lines than the one before it.
struct Layout {
  bool packed = false;  // numbers, in as few lines as there can be
  std::size_t columns = python::columns_max;
  python::Imports::Lines imports = python::Imports::Lines::each;
  bool chain = false;       // one function for all worlds, where they do the same
  bool compressed = false;  // numbers, as text that nobody reads
};

constexpr auto layouts = [] {
  std::array<Layout, 6> all;
  all[1].packed = true;
  all[2] = all[1];
  all[2].columns = python::wide_columns_max;
  all[3] = all[2];
  all[3].imports = python::Imports::Lines::one;
  all[4] = all[3];
  all[4].chain = true;
  all[5] = all[4];
  all[5].compressed = true;
  return all;
}();

void write_data(Draft& draft, Layout const& layout) {
  auto named = gradients(draft.plan, draft.names, !layout.compressed);
  named.emplace(named.begin(), "INITIAL", initial_values(draft.plan, draft.names));
  std::size_t count = 0;
  for (auto const& [name, literal] : named) count += python::atom_count(literal);
  if (count > numbers_max)
    throw NoScript(fmt::format(
        "{} initial values and gradients are too many for a script; minimise the scenario first "
        "(adamant minimize --script)",
        count));
  if (layout.compressed && write_compressed(draft, named)) return;
  for (auto const& [name, literal] : named) {
    if (literal.items.empty()) continue;
    layout.packed ? draft.code.assign_packed(name, literal) : draft.code.assign(name, literal);
  }
}

void write_world(Draft& draft, World const& world, std::string const& function) {
  write_beginning(draft, world, function);
  write_program(draft, world);
}

/// Lines that end with `actual`: an error's text, or that there was none.
template <typename Lines>
void write_watched(Draft& draft, Lines lines) {
  {
    Block const watched(draft.code, "try:");
    lines();
    draft.code.line("actual = \"no error\"");
  }
  // DCP's own is a BaseException, for whoever catches none.
  Block const except(draft.code, keeps_files(draft.plan)
                                     ? "except (Exception, dcp.api.CheckpointException) as error:"
                                     : "except Exception as error:");
  draft.code.line("actual = f\"{type(error).__name__}: {error}\".strip()");
}

/// The worlds of the script's own process, or the reading of a tensor, and the look at it.
template <typename Lines>
void write_in_main(Draft& draft, Lines lines) {
  if (observes_error(draft.plan)) return write_watched(draft, lines);
  lines();
  write_look(draft, draft.plan.worlds.back());
}

void write_stay(Draft& draft, Stay const& stay, bool looks) {
  Block const function(draft.code, fmt::format("def {}(rank, directory):", stay.function));
  for (World const* const world : stay.worlds) write_world(draft, *world, stay.function);
  if (stay.worlds.back()->crashes) return;
  bool const of_value = !observes_error(draft.plan) && !hangs(draft.plan.violation);
  if (of_value && (looks || stay.worlds.back()->shows_first))
    write_look(draft, *stay.worlds.back());
  draft.code.line("dist.destroy_process_group()");
}

/// What the ranks that looked have left behind.
void write_collecting(Draft& draft) {
  if (compares_ranks(draft.plan)) {
    draft.code.line("expected = open(f\"{directory}/rank-0\").read()");
    draft.code.line(
        fmt::format("actual = open(f\"{{directory}}/rank-{}\").read()", draft.plan.violation.rank));
  } else if (!observes_error(draft.plan) && !hangs(draft.plan.violation)) {
    std::string const rank =
        draft.plan.in_chain ? fmt::format("-{}", draft.plan.violation.rank) : "";
    auto const read = [&](char const* side) {
      draft.code.line(fmt::format("{} = open(f\"{{directory}}/{}{}\").read()", side, side, rank));
    };
    if (draft.plan.two_runs) read("expected");
    if (!draft.plan.worlds.back().in_main) read("actual");
  }
}

void write_last_in_main(Draft& draft, Stay const& stay) {
  write_in_main(draft, [&] { write_world(draft, *stay.worlds.front(), stay.function); });
  draft.code.line("dist.destroy_process_group()");
}

/// The functions of worlds, and how they are started.
std::vector<Stay> write_functions(Draft& draft) {
  Plan const& plan = draft.plan;
  std::vector<Stay> stays;
  if (plan.in_chain) {
    auto const chain = chain_of(draft).value();
    write_chain(draft, chain);
    draft.code.blank(2);
    for (std::size_t i = 0; i < chain.size(); ++i)
      stays.push_back({.worlds = {chain[i].world},
                       .function = "train",
                       .arguments = arguments_of_link(draft, chain, i)});
    return stays;
  }
  stays = stays_of(plan);
  for (Stay const& stay : stays) {
    if (stay.worlds.back()->in_main) continue;
    write_stay(draft, stay, !plan.reading && &stay == &stays.back());
    draft.code.blank(2);
  }
  return stays;
}

/// No `if __name__ == "__main__"`: processes are forked, and import nothing anew.
void write_spawning(Draft& draft) {
  Plan const& plan = draft.plan;
  std::vector<Stay> const stays = write_functions(draft);
  bool const own = plan.worlds.back().in_main;
  draft.imports.add("tempfile");
  {
    Block const with(draft.code, "with tempfile.TemporaryDirectory() as directory:");
    for (Stay const& stay : stays)
      if (!stay.worlds.back()->in_main)
        write_start(draft, stay, !plan.reading && !own && &stay == &stays.back());
    if (own)
      write_last_in_main(draft, stays.back());
    else if (plan.reading)
      write_in_main(draft, [&] { write_reading(draft); });
    if (!plan.reading && (!own || plan.two_runs)) write_collecting(draft);
  }
  write_verdict(draft);
}

void write_alone(Draft& draft) {
  Plan const& plan = draft.plan;
  draft.code.call("dist.init_process_group",
                  {"\"gloo\"", "store=dist.HashStore()", "rank=0", "world_size=1"});
  {
    std::optional<Block> with;
    if (keeps_files(plan)) {
      draft.imports.add("tempfile");
      with.emplace(draft.code, "with tempfile.TemporaryDirectory() as directory:");
    }
    for (World const& world : plan.worlds) {
      if (plan.reading || &world != &plan.worlds.back()) write_world(draft, world, "");
      if (world.shows_first) write_look(draft, world);
    }
    if (plan.reading)
      write_in_main(draft, [&] { write_reading(draft); });
    else
      write_in_main(draft, [&] { write_world(draft, plan.worlds.back(), ""); });
  }
  draft.code.line("dist.destroy_process_group()");
  write_verdict(draft);
}

/// What it is, and what it needs.
void write_head(Code& head, Plan const& plan) {
  bool const tensors = option(plan.scenario, "format", "dcp") != "dcp" && keeps_files(plan);
  head.line(fmt::format("\"\"\"{}", title(plan)));
  head.blank();
  head.line(fmt::format("It needs PyTorch {}. {}", tensors ? "and safetensors" : "alone",
                        python::exit_statuses));
  if (plan.repeated)
    head.line("The same is run twice.");
  else if (plan.two_runs)
    head.line(fmt::format("The second run is the first one with `{}`.", plan.violation.run));
  head.line("\"\"\"");
  head.blank();
}

std::string put_together(Plan const& plan, Layout const& layout) {
  Names const names(plan.scenario);
  python::Imports imports;
  imports.add("torch");
  imports.add_as("torch.distributed", "dist");
  Code body(layout.columns);
  Draft draft{.plan = plan, .names = names, .imports = imports, .code = body};
  write_data(draft, layout);
  for (char const* const name : {"inf", "nan"})
    if (python::has_word(body.text(), name)) imports.add_from("math", name);
  write_expectation(draft);
  if (hangs(plan.violation)) body.line("SECONDS = 20");
  body.blank(2);
  write_model(draft);
  body.blank(2);
  write_checkpoint_functions(draft);
  if (plan.alone()) {
    write_alone(draft);
  } else if (plan.one_program) {
    write_one_program(draft);
    write_verdict(draft);
  } else {
    write_spawning(draft);
  }
  Code head(layout.columns);
  write_head(head, plan);
  imports.write(head, layout.imports);
  head.blank();
  return head.text() + body.text();
}

/// The plan with one function for all of its worlds, where there can be one.
std::optional<Plan> in_chain(Plan const& plan) {
  Plan chained = plan;
  chained.in_chain = true;
  chained.worlds.back().in_main = false;
  Names const names(chained.scenario);
  python::Imports imports;
  Code code;
  Draft const draft{.plan = chained, .names = names, .imports = imports, .code = code};
  if (chained.alone() || !chain_of(draft)) return std::nullopt;
  return chained;
}

/// The first of all ways to write it that people read, else the shortest.
std::string text_of(Plan const& plan) {
  std::string shortest;
  for (Layout const& layout : layouts) {
    auto const chained = layout.chain ? in_chain(plan) : std::nullopt;
    std::string text = put_together(chained.value_or(plan), layout);
    if (shortest.empty() || python::line_count(text) < python::line_count(shortest))
      shortest = std::move(text);
    if (python::line_count(shortest) <= script_lines_max) break;
  }
  return of_readable_length(std::move(shortest));
}

}  // namespace

}  // namespace script

namespace {

void refuse_other_engines(Scenario const& scenario) {
  std::string const& name = scenario.engine.name;
  if (name != "torch")
    throw NoScript(fmt::format(
        "the engine is {}; scripts show engines outside the process (--engine torch, or exec:)",
        name));
}

/// Others choose ways around defects, by code of the adapter's own, or uses of PyTorch that no
/// script is written for yet.
void refuse_other_options(Scenario const& scenario) {
  constexpr std::array<std::string_view, 9> written = {
      "implementation", "format",   "template", "state_dict", "async_save",
      "offload_policy", "division", "averages", "settings"};
  for (auto const& [name, value] : scenario.engine.options)
    if (std::ranges::find(written, name) == written.end())
      throw NoScript(fmt::format(
          "it shows with `{}: {}`, an option of the adapter that no script is written for", name,
          value));
  if (script::option(scenario, "async_save", "false") == "overlapping")
    throw NoScript("its saves go on while the training does, and a script waits for each");
}

/// Nothing reads them again, so there is nothing to compare.
void refuse_settings_in_hugging_face_files(Scenario const& scenario) {
  bool const hugging_face = script::option(scenario, "format", "dcp") != "dcp";
  if (hugging_face && script::option(scenario, "settings", "written") == "written")
    throw NoScript(
        "a Hugging Face save writes the settings, too, and cannot be read then; with `settings: "
        "left_out` there is a script");
}

void refuse_options(Scenario const& scenario) {
  refuse_other_options(scenario);
  refuse_settings_in_hugging_face_files(scenario);
}

/// A refusal that came while the scenario ran is a load that failed.
Violation violation_of_refusal(RunResult const& result) {
  if (!result.failed_at)
    throw NoScript(fmt::format("the scenario was refused before anything ran ({}): {}",
                               result.reason, result.message));
  return {.law = Law::error_clean,
          .breach = Breach::failed,
          .operation = result.failed_at->operation,
          .rank = result.failed_at->rank,
          .subject = Call{},
          .text = result.message};
}

}  // namespace

std::string write_script(Scenario const& scenario, RunResult const& result,
                         Violation const* violation) {
  refuse_other_engines(scenario);
  if (violation != nullptr) return write_script(scenario, *violation);
  if (result.outcome == Outcome::error)
    throw NoScript(fmt::format(
        "the engine broke off, or did not keep to its protocol, of which PyTorch alone knows "
        "nothing (`adamant doctor --engine torch` examines it): {}",
        result.reason));
  if (result.outcome != Outcome::refused) throw NoScript("no law was broken");
  auto const further = script::further_run_refused(scenario, result);
  return write_script(further ? further->scenario : scenario, violation_of_refusal(result));
}

std::string write_script(Scenario const& scenario, Violation const& violation) {
  refuse_other_engines(scenario);
  auto const further = script::further_run_called(scenario, violation.run);
  if (!further || is_about_two_runs(violation.law)) refuse_options(scenario);
  if (further) refuse_options(further->scenario);
  return script::text_of(script::plan_of(scenario, violation));
}

}  // namespace adamant::scenarios
