// The keys of what a scenario says about numbers and the optimizer (recipe.h): the first part of
// table.h, which says what a row is for.
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

}  // namespace adamant::scenarios
