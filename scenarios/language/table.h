// The keys of the language, each declared once: its name, where its value lies, what it takes, one
// line for people, the feature of scenarios that have it and the capability that it needs. Reader,
// writer, schemas, minimiser, messages to engines, refusals and `adamant help` come from here. To
// add a key: a member of the struct, and a row here (scenarios/README.md shows one).
#pragma once

#include <tuple>

#include "scenarios/language/recipe_table.h"

namespace adamant::scenarios {

// ---- where a scenario runs ----------------------------------------------------------------------

inline constexpr IntegerRange mesh_range{1, std::int64_t{1} << 20};

template <>
inline constexpr MapName map_name<World>{
    "world", "world: ", "", "ranks = shard * replicate; rank = replica * shard + shard index"};
template <>
inline constexpr auto keys_of<World> = std::tuple{
    Key{"shard", &World::shard, kinds::Integer{mesh_range},
        About{.meaning = "over how many ranks each parameter is cut",
              .required = true,
              .told = true}},
    Key{"replicate", &World::replicate, kinds::Integer{mesh_range},
        About{.meaning = "how many such worlds hold the same",
              .told = true,
              .features = {Feature::replicated}},
        &Capabilities::replicate_max},
    Key{"outer", &World::outer, kinds::Words<Outer>{},
        About{.meaning = "optim: main weights, states and reduced gradients are cut over replicas, "
                         "too",
              .features = {Feature::outer_optim}},
        &Capabilities::outers},
};

template <>
inline constexpr MapName map_name<Again>{
    "again", "again: [", "]", "the program once more, with a change that must not matter"};
template <>
inline constexpr auto keys_of<Again> = std::tuple{
    Key{"options", &Again::options, kinds::EngineOptions{},
        About{.meaning = "options of the engine that this run has otherwise"}},
    Key{"resumed_after", &Again::resumed_after, kinds::Integer{any_index},
        About{.meaning = "after so many entries it is saved, and loaded in a new world"}},
    Key{"through", &Again::through, kinds::Worlds{},
        About{.meaning = "worlds that load it before, and save it again"}},
    Key{"order", &Again::order, kinds::Words<ParamOrder>{},
        About{.meaning = "in which order those worlds register the parameters"}},
};

template <>
inline constexpr MapName map_name<OffloadedStates>{"states", "offload: {states: ", "}"};
template <>
inline constexpr auto keys_of<OffloadedStates> = std::tuple{
    Key{"moments", &OffloadedStates::moments, kinds::Flag{},
        About{.meaning = "whether moments leave the device between steps"}},
    Key{"main", &OffloadedStates::main, kinds::Flag{},
        About{.meaning = "whether main weights leave the device between steps"}},
};

template <>
inline constexpr MapName map_name<HybridOffload>{"hybrid", "offload: {hybrid: ", "}"};
template <>
inline constexpr auto keys_of<HybridOffload> = std::tuple{
    Key{"fraction", &HybridOffload::fraction, kinds::Fraction{},
        About{.meaning = "how much of the step runs on the CPU"}},
    Key{"overlap", &HybridOffload::overlap, kinds::Flag{},
        About{.meaning = "whether copies run beside the step"}},
    Key{"pin_grads", &HybridOffload::pin_grads, kinds::Flag{},
        About{.meaning = "whether gradients on the host are in pinned memory"}},
    Key{"pin_params", &HybridOffload::pin_params, kinds::Flag{},
        About{.meaning = "whether weights on the host are in pinned memory"}},
};

template <>
inline constexpr MapName map_name<EngineChoice>{"engine", "engine: "};
template <>
inline constexpr auto keys_of<EngineChoice> = std::tuple{
    Key{"name", &EngineChoice::name, kinds::EngineName{},
        About{.meaning =
                  "who executes the scenario; exec:COMMAND runs only where --engine names the "
                  "same command, or with --trust, and never with --dry-run"}},
    Key{"options", &EngineChoice::options, kinds::EngineOptions{},
        About{.meaning = "choices that the engine offers by name",
              .features = {Feature::engine_option}}},
};

template <>
inline constexpr MapName map_name<Schedule>{"schedule", "schedule: "};
template <>
inline constexpr auto keys_of<Schedule> = std::tuple{
    Key{"strategy", &Schedule::strategy, kinds::Words<Schedule::Strategy>{},
        About{.meaning = "which of the orders that are allowed happens",
              .features = {Feature::schedule_random, Feature::schedule_pct}}},
    Key{"seed", &Schedule::seed, kinds::Seed{}, About{.meaning = "what random and pct draw from"}},
    Key{"depth", &Schedule::depth, kinds::Integer{any_count},
        About{.meaning = "of pct: how many times priorities change"}},
    Key{"choices", &Schedule::choices, kinds::Choices{},
        About{.meaning = "the choices of a run, as it recorded them"}},
};

template <>
inline constexpr MapName map_name<Fault>{"fault", "faults: [", "]"};
template <>
inline constexpr auto keys_of<Fault> = std::tuple{
    Key{"at", &Fault::at, kinds::Words<Fault::Where>{},
        About{.meaning = "at which kind of operation", .required = true}},
    Key{"nth", &Fault::nth, kinds::Integer{any_count},
        About{.meaning = "at which of them, from 1"}},
    Key{"rank", &Fault::rank, kinds::Integer{any_index}, About{.meaning = "on which rank"}},
    Key{"file", &Fault::file, kinds::Integer{any_index},
        About{.meaning = "in which file of a checkpoint, in the order of names"}},
    Key{"after_bytes", &Fault::after_bytes, kinds::Integer{any_index},
        About{.meaning = "after how many bytes the rank has written"}},
    Key{"then", &Fault::then, kinds::Words<Fault::Then>{},
        About{.meaning = "what happens there", .required = true}},
    Key{"byte", &Fault::byte, kinds::Integer{any_index},
        About{.meaning = "which byte of the file, from 0"}},
};

// ---- the program --------------------------------------------------------------------------------

template <>
inline constexpr MapName map_name<Backward>{"backward", "program: [{backward: ", "}]"};
template <>
inline constexpr auto keys_of<Backward> = std::tuple{
    Key{"without", &Backward::without, kinds::Names{},
        About{.meaning = "parameters that get no gradient from it",
              .features = {Feature::backward_without}}},
};

template <>
inline constexpr MapName map_name<ZeroGrad>{"zero_grad", "program: [{zero_grad: ", "}]"};
template <>
inline constexpr auto keys_of<ZeroGrad> = std::tuple{
    Key{"set_to_none", &ZeroGrad::set_to_none, kinds::Flag{},
        About{.meaning = "whether gradients go, or stay and become 0",
              .features = {Feature::zero_grad_keeps}}},
};

template <>
inline constexpr MapName map_name<Load>{"load", "program: [{load: ", "}]"};
template <>
inline constexpr auto keys_of<Load> = std::tuple{
    Key{"from", &Load::from, kinds::Name{}, About{.meaning = "the checkpoint", .required = true}},
    Key{"world", &Load::world, kinds::Map<World>{},
        About{.meaning = "another world, from here on"}},
    Key{"layout", &Load::layout, kinds::Words<Layout>{},
        About{.meaning = "another layout, from here on"}},
    Key{"precision", &Load::precision, kinds::Map<PrecisionOverride>{},
        About{.meaning = "other types, from here on"}},
    Key{"offload", &Load::offload, kinds::Offloaded{},
        About{.meaning = "another offload, from here on"}},
    Key{"order", &Load::order, kinds::Words<ParamOrder>{},
        About{.meaning = "in which order the new world registers the parameters",
              .features = {Feature::load_reversed}}},
    Key{"anew", &Load::anew, kinds::Flag{},
        About{.meaning = "in a new job, also on the same ranks: of the run nothing is left but its "
                         "files, and settings are the scenario's until the load restores them",
              .features = {Feature::load_anew}}},
};

// ---- the whole ----------------------------------------------------------------------------------

template <>
inline constexpr MapName map_name<Param>{"param", "params: [", "]"};
template <>
inline constexpr auto keys_of<Param> = std::tuple{
    Key{"name", &Param::name, kinds::Name{},
        About{.meaning = "what it is called", .required = true}},
    Key{"shape", &Param::shape, kinds::Shape{},
        About{.meaning = "its sizes, the first counts rows", .required = true, .unless = "tied"}},
    Key{"group", &Param::group, kinds::Name{}, About{.meaning = "the group whose settings it has"}},
    Key{"precision", &Param::precision, kinds::Map<PrecisionOverride>{},
        About{.meaning = "types of its own beside the recipe of the others",
              .features = {Feature::own_precision}},
        &Capabilities::own_precision},
    Key{"parts", &Param::parts, kinds::Parts{},
        About{.meaning = "names of equal parts of its rows, each saved under a key of its own",
              .features = {Feature::parts}},
        &Capabilities::parts},
    Key{"tied", &Param::tied, kinds::Earlier{},
        About{.meaning = "the earlier parameter that this is another name of",
              .features = {Feature::tied}},
        &Capabilities::tied},
};

/// The format's number has no place: there is only one.
struct FormatVersion {
  std::int64_t get(Scenario const&) const { return 1; }
  void set(Scenario&, std::int64_t) const {}
};

/// Parameters, and the model whose list they are.
struct ListedParams {
  kinds::Params::Value get(Scenario const& scenario) const {
    return {scenario.model, scenario.params};
  }
  void set(Scenario& scenario, kinds::Params::Value params) const {
    scenario.model = std::move(params.model);
    scenario.params = std::move(params.list);
  }
};

/// All worlds of a scenario that has several; the first is the one that it is about.
struct SeveralWorlds {
  std::vector<World> get(Scenario const& scenario) const {
    if (scenario.other_worlds.empty()) return {};
    std::vector<World> all{scenario.world};
    all.insert(all.end(), scenario.other_worlds.begin(), scenario.other_worlds.end());
    return all;
  }
  void set(Scenario& scenario, std::vector<World> worlds) const {
    scenario.other_worlds.clear();
    if (worlds.empty()) return;
    scenario.world = worlds.front();
    scenario.other_worlds.assign(worlds.begin() + 1, worlds.end());
  }
};

template <>
inline constexpr MapName map_name<Scenario>{"scenario", ""};
template <>
inline constexpr auto keys_of<Scenario> = std::tuple{
    Key{"adamant", FormatVersion{}, kinds::Version{},
        About{.meaning = "the version of the format", .required = true}},
    Key{"name", &Scenario::name, kinds::Text{},
        About{.meaning = "what the scenario shows, in a few words", .required = true}},
    Key{"about", &Scenario::about, kinds::Text{}, About{.meaning = "one paragraph for the reader"}},
    Key{"source", &Scenario::source, kinds::Text{},
        About{.meaning = "where the defect or the idea comes from"}},
    Key{"seed", &Scenario::seed, kinds::Seed{},
        About{.meaning = "what numbers are drawn from; drawn itself where it is absent"}},
    Key{"world", &Scenario::world, kinds::Map<World>{},
        About{.meaning = "the mesh of ranks", .required = true, .unless = "worlds"}},
    Key{"worlds", SeveralWorlds{}, kinds::Worlds{},
        About{.meaning = "several meshes, in each of which the program has to come to the same",
              .features = {Feature::several_worlds}}},
    Key{"layout", &Scenario::layout, kinds::Words<Layout>{},
        About{.meaning = "how parameters are cut among ranks",
              .features = {Feature::layout_flat, Feature::layout_bucketed}},
        &Capabilities::layouts},
    Key{"params", ListedParams{}, kinds::Params{},
        About{.meaning = "the parameters in the order of registration, or a public model's",
              .required = true}},
    Key{"groups", &Scenario::groups, kinds::Groups{},
        About{.meaning = "overrides of optimizer settings by the names of groups"}},
    Key{"precision", &Scenario::precision, kinds::Map<Precision>{},
        About{.meaning = "number formats of all parameters"}},
    Key{"optimizer", &Scenario::optimizer, kinds::Map<Optimizer>{},
        About{.meaning = "settings of the optimizer"}},
    Key{"offload", &Scenario::offload, kinds::Offloaded{},
        About{.meaning = "what of the optimizer is on the host"}},
    Key{"gradients", &Scenario::gradients, kinds::Words<GradientClass>{},
        About{.meaning = "which numbers gradients are: every partial sum representable, normal "
                         "ones, or zeros, subnormals, huge ones, inf and nan among them",
              .features = {Feature::gradients_normal, Feature::gradients_wild}},
        &Capabilities::gradients},
    Key{"microbatches", &Scenario::microbatches, kinds::Integer{any_count},
        About{.meaning = "the global batch, split over the ranks as evenly as possible"}},
    Key{"program", &Scenario::program, kinds::Operations{},
        About{.meaning = "what is done, in order", .required = true}},
    Key{"again", &Scenario::again, kinds::Maps<Again>{"further runs"},
        About{.meaning = "runs of the same program that have to come to the same",
              .features = {Feature::again}}},
    Key{"engine", &Scenario::engine, kinds::Map<EngineChoice>{},
        About{.meaning = "who executes it, and with which options; exec:COMMAND as its name runs "
                         "only where --engine names the same command, or with --trust, and never "
                         "with --dry-run"}},
    Key{"schedule", &Scenario::schedule, kinds::Map<Schedule>{},
        About{.meaning = "in which order happens what may happen in any"}},
    Key{"faults", &Scenario::faults, kinds::Maps<Fault>{"faults"},
        About{.meaning = "what goes wrong on purpose"}},
    Key{"bug", &Scenario::bug, kinds::Bug{}, About{.meaning = "a catalogued bug to switch on"},
        &Capabilities::bugs},
    Key{"expect", &Scenario::expect, kinds::Expected{}, About{.meaning = "how the run has to end"}},
};

}  // namespace adamant::scenarios
