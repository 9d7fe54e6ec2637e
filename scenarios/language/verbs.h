// The verbs of a program, each declared once: its word, what it takes, one line for people, and
// what follows from the word alone. Reader, writer, schema, minimiser and `adamant help` come from
// here; what a verb does is the oracle's, the engines' and the judges'. To add one: its struct in
// program.h, and a row here.
#pragma once

#include <string_view>
#include <tuple>
#include <variant>

#include "scenarios/language/table.h"

namespace adamant::scenarios {

// ---- what stands behind a word ------------------------------------------------------------------

/// Nothing: it is a bare word.
struct NoArgument {};

/// A map with the keys of the verb's struct, or nothing where all of them have their defaults.
struct OptionalKeys {};

/// Such a map, or only the name of a checkpoint, its first key.
struct NameOrKeys {};

/// One value.
template <typename Place, typename Kind>
struct OneValue {
  Place place;
  Kind kind;
};
template <typename Place, typename Kind>
OneValue(Place, Kind) -> OneValue<Place, Kind>;

/// Does the verb mean something as a bare word?
template <typename Taken>
inline constexpr bool may_be_bare =
    std::is_same_v<Taken, NoArgument> || std::is_same_v<Taken, OptionalKeys>;

/// What follows from a verb alone.
struct VerbTraits {
  bool recorded = false;                // may stand in a capture
  std::uint64_t weight = 0;             // of two verbs that show one defect the lighter is kept
  bool Capabilities::*offer = nullptr;  // null: every engine does it
  std::optional<Feature> feature = {};
};

template <typename Struct, typename Taken>
struct Verb {
  using Action = Struct;
  std::string_view word;
  Taken argument;
  std::string_view meaning;
  VerbTraits traits;
};

template <typename Struct, typename Taken>
constexpr Verb<Struct, Taken> verb(std::string_view word, Taken argument, std::string_view meaning,
                                   VerbTraits traits) {
  return {word, argument, meaning, traits};
}

/// The verbs of a variant of actions, in the order of its alternatives.
template <typename AnyAction>
inline constexpr auto verbs_of = std::tuple<>{};

template <>
inline constexpr auto verbs_of<Action> = std::tuple{
    verb<Train>("train", OneValue{&Train::count, kinds::Integer{any_count}},
                "so many times backward, clip where there is a norm, step and zero_grad",
                {.recorded = true, .weight = 5, .feature = Feature::train}),
    verb<Backward>("backward", OptionalKeys{}, "adds a gradient to parameters",
                   {.recorded = true, .weight = 2}),
    verb<ClipNorm>("clip", NoArgument{}, "takes the global norm, by which later steps scale",
                   {.recorded = true, .weight = 6}),
    verb<Step>("step", NoArgument{}, "one step of the optimizer", {.recorded = true, .weight = 3}),
    verb<ZeroGrad>("zero_grad", OptionalKeys{}, "forgets gradients, or makes them 0",
                   {.recorded = true, .weight = 1}),
    verb<Set>("set", OneValue{&Set::change, kinds::Map<SettingsChange>{}},
              "changes settings from here on", {.weight = 4, .feature = Feature::set}),
    verb<Overflow>("overflow", NoArgument{},
                   "the next backward yields a gradient that is not finite, on one rank",
                   {.weight = 7, .feature = Feature::overflow}),
    verb<OffloadStates>(
        "offload", NoArgument{}, "moves states to the host now",
        {.weight = 8, .offer = &Capabilities::offload, .feature = Feature::explicit_offload}),
    verb<ReloadStates>("reload", NoArgument{}, "moves states back to the device",
                       {.weight = 9, .offer = &Capabilities::offload}),
    verb<Capture>("capture", OneValue{&Capture::body, kinds::Operations{}},
                  "records a graph and executes nothing; a second one replaces the first",
                  {.weight = 10, .offer = &Capabilities::capturable, .feature = Feature::capture}),
    verb<Replay>("replay", OneValue{&Replay::count, kinds::Integer{any_count}},
                 "executes so many times what was captured",
                 {.weight = 11, .offer = &Capabilities::capturable, .feature = Feature::replay}),
    verb<Save>(
        "save", OneValue{&Save::checkpoint, kinds::Name{}},
        "writes a checkpoint; a second one of that name replaces the first, or leaves it whole",
        {.weight = 12, .offer = &Capabilities::save, .feature = Feature::save}),
    verb<Load>("load", NameOrKeys{},
               "goes on from a checkpoint, on another world, layout, recipe or offload where given",
               {.weight = 13, .offer = &Capabilities::load, .feature = Feature::load}),
    verb<Check>("check", NoArgument{}, "compares now; the default is after every operation",
                {.recorded = true, .feature = Feature::check}),
};

/// Every verb stands at the place of its struct.
template <typename... Structs, typename... Verbs>
constexpr bool in_order(std::variant<Structs...> const*, std::tuple<Verbs...> const&) {
  return (std::is_same_v<Structs, typename Verbs::Action> && ...);
}
static_assert(in_order(static_cast<Action const*>(nullptr), verbs_of<Action>));

template <typename AnyAction>
inline constexpr auto verb_words = std::apply(
    [](auto const&... verb) { return std::array<std::string_view, sizeof...(verb)>{verb.word...}; },
    verbs_of<AnyAction>);

/// Calls `visit(verb)` for every verb, in order.
template <typename AnyAction, typename Visit>
constexpr void for_each_verb(Visit const& visit) {
  std::apply([&](auto const&... verb) { (visit(verb), ...); }, verbs_of<AnyAction>);
}

/// What follows from the verb of `action` alone.
template <typename AnyAction>
VerbTraits const& traits_of(AnyAction const& action) {
  static constexpr auto all = std::apply(
      [](auto const&... verb) { return std::array<VerbTraits, sizeof...(verb)>{verb.traits...}; },
      verbs_of<AnyAction>);
  return all[action.index()];
}

}  // namespace adamant::scenarios
