// What the value of a key can be: its type and range, and nothing of what it means. A kind is all
// that reader, writer, schemas, minimiser and help know of a value, so that they need not know its
// key. Most are plain; those at the end are odd, and each has its own words everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/program.h"
#include "scenarios/language/recipe.h"
#include "scenarios/language/scenario.h"
#include "scenarios/language/world.h"

namespace adamant::scenarios {

/// What may be at least and at most, both included.
struct IntegerRange {
  std::int64_t least;
  std::int64_t most;
};

inline constexpr std::int64_t count_max = std::int64_t{1} << 40;
inline constexpr IntegerRange any_count{1, count_max};
inline constexpr IntegerRange any_index{0, count_max};

/// What a binary32 number may be.
enum class RealRange {
  finite_not_negative,  // lr, eps, weight_decay
  below_one,            // betas: [0, 1)
  positive              // clip, loss_scale
};

namespace kinds {

/// One of the words for an enumeration (words.h).
template <typename Enum>
struct Words {
  using Value = Enum;
};

struct Flag {
  using Value = bool;
};

struct Real {
  using Value = float;
  RealRange range = RealRange::finite_not_negative;
};

/// A binary64 number in [0, 1].
struct Fraction {
  using Value = double;
};

struct Integer {
  using Value = std::int64_t;
  IntegerRange range;
};

/// Any number of 64 bits.
struct Seed {
  using Value = std::uint64_t;
};

struct Text {
  using Value = std::string;
};

/// Text in the alphabet of names.
struct Name {
  using Value = std::string;
};

/// Names of parameters.
struct Names {
  using Value = std::vector<std::string>;
};

/// Names of parts of one parameter, each once.
struct Parts {
  using Value = std::vector<std::string>;
};

/// The name of a parameter that stands earlier in the list.
struct Earlier {
  using Value = std::string;
};

/// A map with the keys of T.
template <typename T>
struct Map {
  using Value = T;
};

/// A list of maps with the keys of T, called `of_what` in messages.
template <typename T>
struct Maps {
  using Value = std::vector<T>;
  std::string_view of_what;
};

// ---- the odd ones ----

/// The number of the format.
struct Version {
  using Value = std::int64_t;
};

/// A list of worlds, each a number of shards or a map.
struct Worlds {
  using Value = std::vector<World>;
};

/// Two numbers in [0, 1), which Adam's configuration keeps apart.
struct Betas {
  using Value = std::array<float, 2>;
};

/// none, or the maximal global norm.
struct Norm {
  using Value = Clip;
};

/// none, dynamic or a number.
struct Scale {
  using Value = LossScale;
};

/// Sizes; the first counts rows.
struct Shape {
  using Value = std::vector<std::int64_t>;
};

/// A list of parameters, or the name of a model's.
struct Params {
  struct Value {
    std::optional<std::string> model;
    std::vector<Param> list;
    friend bool operator==(Value const&, Value const&) = default;
  };
};

/// Maps of Adam's settings by the names of groups.
struct Groups {
  using Value = std::vector<Group>;
};

/// none, {states: …} or {hybrid: …}.
struct Offloaded {
  using Value = Offload;
};

/// Operations, each a word or {word: argument}.
struct Operations {
  using Value = std::vector<Operation>;
};

/// An engine by its name, or exec:COMMAND.
struct EngineName {
  using Value = std::string;
};

/// Options by name, each any scalar.
struct EngineOptions {
  using Value = std::vector<std::pair<std::string, std::string>>;
};

/// Recorded choices.
struct Choices {
  using Value = std::vector<std::uint32_t>;
};

/// The id of a catalogued bug.
struct Bug {
  using Value = std::string;
};

/// pass, {violates: LAW} or {refused: REASON}.
struct Expected {
  using Value = Expectation;
};

}  // namespace kinds

}  // namespace adamant::scenarios
