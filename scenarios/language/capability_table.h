// What an engine in another process says that it can do, key by key: how `hello` reads it and what
// scenarios/engine.schema.json says of it.
#pragma once

#include "scenarios/language/table.h"

namespace adamant::scenarios {

namespace kinds {

/// A list of values of one kind.
template <typename Of>
struct List {
  using Value = std::vector<typename Of::Value>;
  bool may_be_empty = false;
  Of of = {};
};

/// The kind of a loss scale.
struct ScaleKind {
  using Value = LossScale::Kind;
};

/// What can be done to the files of a checkpoint.
struct Damage {
  using Value = Fault::Then;
};

/// A key that a `set` may change.
struct SettableKey {
  using Value = std::string_view;
};

}  // namespace kinds

/// The words for LossScale::Kind where no number stands in its place.
inline constexpr auto scale_kind_words =
    std::to_array<std::string_view>({"none", "fixed", "dynamic"});

inline constexpr IntegerRange at_least_one{1, std::numeric_limits<std::int64_t>::max()};

template <>
inline constexpr auto keys_of<PrecisionOffer> = std::tuple{
    Key{"param", &PrecisionOffer::param, kinds::List<kinds::Words<ParamType>>{},
        About{.required = true}},
    Key{"grad", &PrecisionOffer::grad, kinds::List<kinds::Words<GradType>>{},
        About{.required = true}},
    Key{"main", &PrecisionOffer::main, kinds::List<kinds::Words<MainType>>{},
        About{.required = true}},
    Key{"exp_avg", &PrecisionOffer::exp_avg, kinds::List<kinds::Words<StateType>>{},
        About{.required = true}},
    Key{"exp_avg_sq", &PrecisionOffer::exp_avg_sq, kinds::List<kinds::Words<StateType>>{},
        About{.required = true}},
    Key{"state_scale", &PrecisionOffer::state_scale, kinds::List<kinds::Words<StateScale>>{},
        About{.meaning = "What a scale of fp16 and fp8 states may cover; left out: the whole "
                         "tensor alone."}},
    Key{"loss_scale", &PrecisionOffer::loss_scale, kinds::List<kinds::ScaleKind>{},
        About{.meaning = "Under which alone this recipe is offered; left out: under all that the "
                         "engine offers."}},
};

template <>
inline constexpr auto keys_of<Capabilities> = std::tuple{
    Key{"layouts", &Capabilities::layouts, kinds::List<kinds::Words<Layout>>{},
        About{.required = true}},
    Key{"ranks_max", &Capabilities::ranks_max, kinds::Integer{at_least_one},
        About{.meaning = "Of shard * replicate.", .required = true}},
    Key{"replicate_max", &Capabilities::replicate_max, kinds::Integer{at_least_one},
        About{.required = true}},
    Key{"outers", &Capabilities::outers, kinds::List<kinds::Words<Outer>>{},
        About{.meaning = "What may be cut over replicas; left out: none alone."}},
    Key{"empty_tensors", &Capabilities::empty_tensors, kinds::Flag{},
        About{.meaning = "May a parameter have no element? Yes if left out."}},
    Key{"parts", &Capabilities::parts, kinds::Flag{},
        About{.meaning = "May a parameter be saved in parts? No if left out."}},
    Key{"precisions", &Capabilities::precisions, kinds::List<kinds::Map<PrecisionOffer>>{},
        About{.meaning = "A recipe is offered if one entry accepts all five of its types, and its "
                         "loss scale where it names any.",
              .required = true}},
    Key{"load_precisions", &Capabilities::load_precisions,
        kinds::List<kinds::Map<PrecisionOffer>>{.may_be_empty = true},
        About{.meaning = "What a load may change the recipe to, beside `precisions`. Without it a "
                         "load changes none."}},
    Key{"own_precision", &Capabilities::own_precision, kinds::Flag{},
        About{.meaning = "May a parameter have other types than the recipe?", .required = true}},
    Key{"gradient_type", &Capabilities::gradient_type, kinds::Words<GradientType>{},
        About{.meaning = "The numbers that a rank's gradient may have before it is reduced: those "
                         "of precision.grad, of precision.param, or of both at once.",
              .required = true}},
    Key{"optimizers", &Capabilities::optimizers, kinds::List<kinds::Words<AdamMode>>{},
        About{.required = true}},
    Key{"step_counters", &Capabilities::step_counters, kinds::List<kinds::Words<StepCounter>>{},
        About{.required = true}},
    Key{"bias_correction", &Capabilities::bias_correction, kinds::List<kinds::Flag>{},
        About{.meaning = "Which of both a group may have.", .required = true}},
    Key{"clip", &Capabilities::clip, kinds::Flag{}, About{.required = true}},
    Key{"loss_scale", &Capabilities::loss_scale, kinds::List<kinds::ScaleKind>{},
        About{.required = true}},
    Key{"unscales_in_place", &Capabilities::unscales_in_place, kinds::Flag{},
        About{.meaning = "The scaler divides gradients where they are, so that a step cannot use "
                         "them twice.",
              .required = true}},
    Key{"gradients_in_place", &Capabilities::gradients_in_place, kinds::Flag{},
        About{.meaning = "Clip and scaler change the gradient where it lies, and a state shows it "
                         "so. No if left out."}},
    Key{"set", &Capabilities::set, kinds::List<kinds::SettableKey>{.may_be_empty = true},
        About{.meaning = "What `set` may change.", .required = true}},
    Key{"gradients", &Capabilities::gradients, kinds::List<kinds::Words<GradientClass>>{},
        About{.required = true}},
    Key{"zero_grad", &Capabilities::zero_grad, kinds::List<kinds::Words<ZeroGradKind>>{},
        About{.meaning = "none: set_to_none true; zeros: false.", .required = true}},
    Key{"save", &Capabilities::save, kinds::Flag{}, About{.required = true}},
    Key{"load", &Capabilities::load, kinds::Flag{}, About{.required = true}},
    Key{"loads_in_any_order", &Capabilities::loads_in_any_order, kinds::Flag{},
        About{.meaning = "May a load's world register its parameters in another order?",
              .required = true}},
    Key{"can_crash", &Capabilities::can_crash, kinds::Flag{},
        About{.meaning = "Is `crash` of a save understood?", .required = true}},
    Key{"detects_damage", &Capabilities::detects_damage,
        kinds::List<kinds::Damage>{.may_be_empty = true},
        About{.meaning = "The kinds of damage to a checkpoint that a load promises to report. "
                         "Others are executed where a file asks for them, and may go unnoticed.",
              .required = true}},
    Key{"other_damage", &Capabilities::other_damage,
        kinds::List<kinds::Damage>{.may_be_empty = true},
        About{.meaning = "The kinds that a search does, too, although nothing is promised: the "
                         "load is refused, or what it brings is right. Left out: none."}},
    Key{"local_gradients", &Capabilities::local_gradients, kinds::Flag{},
        About{.meaning = "Are reduced gradients shown by `state`?", .required = true}},
    Key{"carries_groups", &Capabilities::carries_groups, kinds::Flag{},
        About{.meaning = "Do checkpoints keep the settings of groups?", .required = true}},
    Key{"promises", &Capabilities::promises,
        kinds::List<kinds::Words<Promise>>{.may_be_empty = true},
        About{.meaning = "What a search holds two runs to: the same bits in any world (where "
                         "gradients are exact and none are clipped), again, with other options, or "
                         "after a save and a load. Left out: nothing."}},
    Key{"same_options", &Capabilities::same_options, kinds::List<kinds::Text>{.may_be_empty = true},
        About{.meaning = "The options that do not change bits; left out: none."}},
    Key{"same_files", &Capabilities::same_files, kinds::List<kinds::Text>{.may_be_empty = true},
        About{.meaning = "How the names of files end that the same save always writes alike; an "
                         "empty text: all. Left out: none."}},
};

}  // namespace adamant::scenarios
