// The keys of the language, each declared once: its name, where its value lies, what it takes, one
// line for people, the feature of scenarios that have it and the capability that it needs. Reader,
// writer, schemas, minimiser, messages to engines, refusals and `adamant help` come from here. To
// add a key: a member of the struct, and a row here (scenarios/README.md shows one).
#pragma once

#include <tuple>

#include "scenarios/language/capabilities.h"
#include "scenarios/language/key.h"
#include "scenarios/language/kinds.h"
#include "scenarios/language/words.h"

namespace adamant::scenarios {

/// How a map of T is called in scenarios/schema.json, what is said of it there, and what stands
/// around it in a file.
struct MapName {
  std::string_view name;
  std::string_view before;
  std::string_view behind = {};
  std::string_view meaning = {};
};
template <typename T>
inline constexpr MapName map_name{};

// ---- number formats -----------------------------------------------------------------------------

template <>
inline constexpr MapName map_name<Precision>{"precision", "precision: "};
template <>
inline constexpr MapName map_name<PrecisionOverride>{"precision", "precision: "};

/// The same keys say a recipe, and what is changed of one.
template <template <typename> typename Held>
inline constexpr auto keys_of<Types<Held>> = std::tuple{
    Key{"param", &Types<Held>::param, kinds::Words<ParamType>{},
        About{.meaning = "the type that a parameter is computed with",
              .told = true,
              .features = {Feature::weights_bf16, Feature::weights_fp16, Feature::quantised,
                           Feature::quantised, Feature::quantised, Feature::quantised,
                           Feature::quantised}}},
    Key{"grad", &Types<Held>::grad, kinds::Words<GradType>{},
        About{.meaning = "the type that gradients are reduced in and handed to the optimizer",
              .told = true,
              .features = {Feature::gradients_16_bits, Feature::gradients_16_bits}}},
    Key{"main", &Types<Held>::main, kinds::Words<MainType>{},
        About{.meaning = "the sharded high-precision copy of the weights that the optimizer keeps",
              .told = true,
              .features = {Feature::main_weights, Feature::main_bf16, Feature::scaled_main,
                           Feature::remainder}}},
    Key{"exp_avg", &Types<Held>::exp_avg, kinds::Words<StateType>{},
        About{.meaning = "the type of the first moment",
              .told = true,
              .features = {Feature::moments_bf16, Feature::moments_fp16, Feature::moments_fp8}}},
    Key{"exp_avg_sq", &Types<Held>::exp_avg_sq, kinds::Words<StateType>{},
        About{.meaning = "the type of the second moment",
              .told = true,
              .features = {Feature::moments_bf16, Feature::moments_fp16, Feature::moments_fp8}}},
    Key{"state_scale", &Types<Held>::state_scale, kinds::Words<StateScale>{},
        About{.meaning =
                  "what a scale of fp16 and fp8 states covers: the whole tensor, a shard, or "
                  "nothing: plain numbers"}},
};

// ---- Adam ---------------------------------------------------------------------------------------

/// Both betas of a configuration, as the one value that the language has for them.
struct BetasOfConfig {
  std::array<float, 2> get(AdamConfig const& config) const { return {config.beta1, config.beta2}; }
  void set(AdamConfig& config, std::array<float, 2> const& betas) const {
    config.beta1 = betas[0];
    config.beta2 = betas[1];
  }
};

/// A setting of Adam: where it is in a configuration, and where in what a group or a `set` changes.
template <typename InConfig, typename InOverride, typename Kind, typename Offer = NoOffer>
struct AdamSetting {
  std::string_view key;
  InConfig in_config;
  InOverride in_override;
  Kind kind;
  About about;
  Offer offer = {};

  constexpr auto of_config() const { return Key{key, in_config, kind, about, offer}; }
  constexpr auto of_override() const { return Key{key, in_override, kind, about, offer}; }
};
template <typename InConfig, typename InOverride, typename Kind>
AdamSetting(std::string_view, InConfig, InOverride, Kind, About)
    -> AdamSetting<InConfig, InOverride, Kind, NoOffer>;
template <typename InConfig, typename InOverride, typename Kind, typename Offer>
AdamSetting(std::string_view, InConfig, InOverride, Kind, About, Offer)
    -> AdamSetting<InConfig, InOverride, Kind, Offer>;

/// What `set` may change, too.
inline constexpr std::tuple settable_of_adam{
    AdamSetting{"lr", &AdamConfig::learning_rate, &AdamOverride::lr, kinds::Real{},
                About{.meaning = "the learning rate", .told = true}},
    AdamSetting{"betas", BetasOfConfig{}, &AdamOverride::betas, kinds::Betas{},
                About{.meaning = "how much of both moments each step keeps", .told = true}},
    AdamSetting{"eps", &AdamConfig::epsilon, &AdamOverride::eps, kinds::Real{},
                About{.meaning = "what is added to the root, so that nothing is divided by 0",
                      .told = true}},
    AdamSetting{"weight_decay", &AdamConfig::weight_decay, &AdamOverride::weight_decay,
                kinds::Real{},
                About{.meaning = "the weight decay, computed also when it is 0", .told = true}},
};
inline constexpr auto settings_of_adam = std::tuple_cat(
    settable_of_adam,
    std::tuple{AdamSetting{"bias_correction", &AdamConfig::bias_correction,
                           &AdamOverride::bias_correction, kinds::Flag{},
                           About{.meaning = "whether moments are corrected for having begun at 0",
                                 .told = true,
                                 .features = {Feature::no_bias_correction}},
                           &Capabilities::bias_correction}});

template <typename... Settings>
constexpr auto of_config(std::tuple<Settings...> const& settings) {
  return std::apply([](auto const&... one) { return std::tuple{one.of_config()...}; }, settings);
}
template <typename... Settings>
constexpr auto of_override(std::tuple<Settings...> const& settings) {
  return std::apply([](auto const&... one) { return std::tuple{one.of_override()...}; }, settings);
}

template <>
inline constexpr auto keys_of<AdamConfig> = std::tuple_cat(
    std::tuple{Key{"mode", &AdamConfig::mode, kinds::Words<AdamMode>{},
                   About{.meaning = "weight decay decoupled, or added to the gradient (L2)",
                         .told = true,
                         .reason = "optimizer",
                         .features = {Feature::adam_l2}},
                   &Capabilities::optimizers}},
    of_config(settings_of_adam));

template <>
inline constexpr MapName map_name<AdamOverride>{"group", "groups: {a: ", "}"};
template <>
inline constexpr auto keys_of<AdamOverride> = of_override(settings_of_adam);

// ---- the optimizer ------------------------------------------------------------------------------

template <>
inline constexpr MapName map_name<Optimizer>{"optimizer", "optimizer: "};
template <>
inline constexpr auto keys_of<Optimizer> = std::tuple_cat(
    within(&Optimizer::adam, keys_of<AdamConfig>),
    std::tuple{
        Key{"decoupled_grad", &Optimizer::decoupled_grad, kinds::Flag{},
            About{
                .meaning = "false: the gradient is handed over in the type of the optimizer's own "
                           "weights, as a cast copy where types differ",
                .features = {Feature::cast_gradient}}},
        Key{"keep_cast_grad", &Optimizer::keep_cast_grad, kinds::Flag{},
            About{.meaning = "true: that copy keeps its address, so that a graph may use it"}},
        Key{"step_counter", &Optimizer::step_counter, kinds::Words<StepCounter>{},
            About{.meaning = "who counts steps: groups, with every step that is executed, or "
                             "parameters, only where there was a gradient",
                  .told = true,
                  .features = {Feature::counter_per_parameter}}},
        Key{"capturable", &Optimizer::capturable, kinds::Flag{},
            About{.meaning = "true: graphs may be captured and replayed",
                  .features = {Feature::capturable}},
            &Capabilities::capturable},
        Key{"clip", &Optimizer::clip, kinds::Norm{},
            About{.meaning = "the maximal global norm of gradients",
                  .told = true,
                  .features = {Feature::clip}},
            &Capabilities::clip},
        Key{"loss_scale", &Optimizer::loss_scale, kinds::Scale{},
            About{.meaning = "what a loss, and with it every gradient, is multiplied by",
                  .told = true,
                  .features = {Feature::loss_scale_fixed, Feature::loss_scale_dynamic}},
            &Capabilities::loss_scale}});

template <>
inline constexpr MapName map_name<SettingsChange>{"set", "program: [{set: ", "}]"};
template <>
inline constexpr auto keys_of<SettingsChange> = std::tuple_cat(
    within(&SettingsChange::adam, of_override(settable_of_adam)),
    std::tuple{
        Key{"clip", &SettingsChange::clip, kinds::Norm{},
            About{.meaning = "the norm of later clips", .told = true, .features = {Feature::clip}},
            &Capabilities::clip},
        Key{"loss_scale", &SettingsChange::loss_scale, kinds::Scale{},
            About{.meaning = "the loss scale, from the next backward on",
                  .told = true,
                  .features = {Feature::loss_scale_fixed, Feature::loss_scale_dynamic}},
            &Capabilities::loss_scale}});

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
        About{.meaning = "who executes the scenario"}},
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
        About{.meaning = "who executes it, and with which options"}},
    Key{"schedule", &Scenario::schedule, kinds::Map<Schedule>{},
        About{.meaning = "in which order happens what may happen in any"}},
    Key{"faults", &Scenario::faults, kinds::Maps<Fault>{"faults"},
        About{.meaning = "what goes wrong on purpose"}},
    Key{"bug", &Scenario::bug, kinds::Bug{}, About{.meaning = "a catalogued bug to switch on"},
        &Capabilities::bugs},
    Key{"expect", &Scenario::expect, kinds::Expected{}, About{.meaning = "how the run has to end"}},
};

}  // namespace adamant::scenarios
