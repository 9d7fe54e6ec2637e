#include "scenarios/peers/script/chain_part.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "scenarios/peers/script/checkpoint_part.h"
#include "scenarios/peers/script/damage_part.h"
#include "scenarios/peers/script/model_part.h"
#include "scenarios/peers/script/observation.h"
#include "scenarios/peers/script/program_part.h"

namespace adamant::scenarios::script {

namespace {

using python::Block;
using python::Code;
using Kind = Act::Kind;

/// What a part writes, by itself.
std::string written_by(Draft const& draft, std::function<void(Draft&)> const& write) {
  Code code(python::wide_columns_max);
  python::Imports imports;
  Draft alone{.plan = draft.plan, .names = draft.names, .imports = imports, .code = code};
  write(alone);
  return code.text();
}

/// The act with its checkpoint in a variable, and without a death in it.
Act by_variable(Act act, char const* variable) {
  act.checkpoint = fmt::format("{{{}}}", variable);
  if (act.kind == Kind::save) act.faults.clear();
  return act;
}

std::string load_of(Draft const& draft, Link const& link) {
  return written_by(draft, [&](Draft& alone) {
    write_load(alone, *link.world, by_variable(*link.load, "loads"));
  });
}

std::string save_of(Draft const& draft, Link const& link) {
  return written_by(draft, [&](Draft& alone) {
    write_save(alone, *link.world, by_variable(*link.save, "saves"));
  });
}

std::string iteration_of(Draft const& draft, World const& world, Passage const& passage) {
  return written_by(draft, [&](Draft& alone) { write_iteration(alone, world, passage); });
}

/// The passages between a load and a save, as one loop.
bool take_training(Draft const& draft, Link& link, std::vector<Passage> const& passages,
                   std::string& iteration) {
  for (Passage const& passage : passages) {
    Act const& first = passage.acts.front();
    if (&first == link.load || &first == link.save) continue;
    if (first.kind != Kind::backward || passage.acts.size() < 2) return false;
    std::string const text = iteration_of(draft, *link.world, passage);
    if (!iteration.empty() && iteration != text) return false;
    iteration = text;
    if (link.count == 0) link.first = first.backward;
    if (first.backward != link.first + link.count) return false;
    link.count += passage.count;
  }
  return true;
}

bool is_simple(World const& world) {
  return world.new_processes && !world.in_main && !world.passages.empty() &&
         world.setting.optimizer.loss_scale.kind == LossScale::Kind::none;
}

std::optional<Link> link_of(Draft const& draft, World const& world, std::string& iteration) {
  if (!is_simple(world)) return std::nullopt;
  Link link{.world = &world};
  Act const& first = world.passages.front().acts.front();
  Act const& last = world.passages.back().acts.back();
  if (first.kind == Kind::load) link.load = &first;
  if (last.kind == Kind::save) link.save = &last;
  if (link.load != nullptr && !link.load->faults.empty()) return std::nullopt;
  if (link.save != nullptr && link.save->keeps_older) return std::nullopt;
  if (!take_training(draft, link, world.passages, iteration)) return std::nullopt;
  return link;
}

template <typename Part>
Link const* first_with(std::vector<Link> const& chain, Part part) {
  auto const found = std::ranges::find_if(chain, part);
  return found == chain.end() ? nullptr : &*found;
}

Link const* first_loading(std::vector<Link> const& chain) {
  return first_with(chain, [](Link const& link) { return link.load != nullptr; });
}

Link const* first_saving(std::vector<Link> const& chain) {
  return first_with(chain, [](Link const& link) { return link.save != nullptr; });
}

Link const* first_training(std::vector<Link> const& chain) {
  return first_with(chain, [](Link const& link) { return link.count > 0; });
}

Link const* dying(std::vector<Link> const& chain) {
  return first_with(chain, [](Link const& link) { return link.world->crashes; });
}

bool are_alike(Draft const& draft, std::vector<Link> const& chain) {
  Link const* const loading = first_loading(chain);
  Link const* const saving = first_saving(chain);
  return std::ranges::all_of(chain, [&](Link const& link) {
    return (link.load == nullptr || load_of(draft, link) == load_of(draft, *loading)) &&
           (link.save == nullptr || save_of(draft, link) == save_of(draft, *saving));
  });
}

/// Does some world show what is compared, by a value that it writes down?
bool shows(Draft const& draft) {
  return !draft.plan.reading && !observes_error(draft.plan) && !hangs(draft.plan.violation);
}

/// What the worlds are told beside what their model is made of.
std::vector<std::string> parameters_of(Draft const& draft, std::vector<Link> const& chain) {
  std::vector<std::string> names;
  if (first_loading(chain) != nullptr) names.emplace_back("loads");
  if (first_training(chain) != nullptr) names.emplace_back("backwards");
  if (first_saving(chain) != nullptr) names.emplace_back("saves");
  if (dying(chain) != nullptr) names.emplace_back("dies");
  if (shows(draft)) names.emplace_back("shows");
  return names;
}

std::string joined_names(std::vector<Argument> const& arguments) {
  std::string text;
  for (Argument const& argument : arguments) text.append(", ").append(argument.name);
  return text;
}

void write_what_is_told(Draft& draft, std::vector<Link> const& chain) {
  if (Link const* const loading = first_loading(chain)) {
    Block const loads(draft.code, "if loads:");
    write_load(draft, *loading->world, by_variable(*loading->load, "loads"));
  }
  if (Link const* const training = first_training(chain)) {
    Block const each(draft.code, "for gradients in backwards:");
    for (Passage const& passage : training->world->passages)
      if (passage.acts.front().kind == Kind::backward) {
        write_iteration(draft, *training->world, passage);
        break;
      }
  }
  if (Link const* const dead = dying(chain))
    write_crash(draft, *dead->world, *dead->save, dead->save->faults.front());
  if (Link const* const saving = first_saving(chain)) {
    Block const saves(draft.code, "if saves:");
    write_save(draft, *saving->world, by_variable(*saving->save, "saves"));
  }
}

std::string text_or_none(Act const* act) {
  return act == nullptr ? "None" : python::quoted(act->checkpoint);
}

}  // namespace

std::optional<std::vector<Link>> chain_of(Draft const& draft) {
  std::vector<Link> chain;
  std::string iteration;
  Plan const& plan = draft.plan;
  bool const of_files = plan.violation.breach == Breach::other_file_in_run;
  if (compares_ranks(plan) || plan.one_program || of_files) return std::nullopt;
  for (World const& world : plan.worlds) {
    auto const link = link_of(draft, world, iteration);
    if (!link) return std::nullopt;
    chain.push_back(*link);
  }
  bool const many_die =
      std::ranges::count_if(chain, [](Link const& link) { return link.world->crashes; }) > 1;
  if (chain.size() < 2 || many_die || !are_alike(draft, chain)) return std::nullopt;
  return chain;
}

void write_chain(Draft& draft, std::vector<Link> const& chain) {
  World const& last = draft.plan.worlds.back();
  std::vector<Argument> const made = making_arguments(draft.plan, last);
  Block const function(
      draft.code, fmt::format("def train(rank, directory, number, ranks{}, {}):",
                              joined_names(made), fmt::join(parameters_of(draft, chain), ", ")));
  write_beginning(draft, last, "{number}");
  write_what_is_told(draft, chain);
  if (shows(draft)) {
    Block const look(draft.code, "if shows:");
    write_look(draft, last);
  }
  draft.code.line("dist.destroy_process_group()");
}

std::string arguments_of_link(Draft const& draft, std::vector<Link> const& chain,
                              std::size_t number) {
  Link const& link = chain[number];
  World const& world = *link.world;
  std::string text = fmt::format("directory, {}, {}", number, world.ranks());
  for (Argument const& argument : making_arguments(draft.plan, world))
    text.append(", ").append(argument.value);
  for (std::string const& name : parameters_of(draft, chain)) {
    std::string value;
    if (name == "loads") value = text_or_none(link.load);
    if (name == "saves") value = text_or_none(link.save);
    if (name == "dies")
      value = world.crashes ? std::to_string(dying_rank(world, link.save->faults.front())) : "None";
    if (name == "backwards")
      value = link.count == 0
                  ? "[]"
                  : fmt::format("GRADIENTS[{}:{}]", link.first, link.first + link.count);
    if (name == "shows")
      value = world.shows_first            ? "\"expected\""
              : number + 1 == chain.size() ? "\"actual\""
                                           : "None";
    text.append(", ").append(value);
  }
  return fmt::format("({})", text);
}

}  // namespace adamant::scenarios::script
