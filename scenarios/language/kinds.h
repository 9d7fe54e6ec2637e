// What the value of a key can be: its type and range, and nothing of what it means. A kind is all
// that reader, writer, schemas, minimiser and help know of a value, so that they need not know its
// key. Most are plain; those at the end are odd, and each is read and written in its own way.
//
// Where it is always the same, a kind has what people are told that it takes, `in_words`; a value
// of it as an `example`; and, where schemas say what it takes once for all, their `definition`.
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
  static constexpr std::string_view in_words = "true or false";
};

struct Real {
  using Value = float;
  RealRange range = RealRange::finite_not_negative;
  static Value example() { return 0.5F; }
};

/// A binary64 number in [0, 1].
struct Fraction {
  using Value = double;
  static constexpr std::string_view in_words = "a number in [0, 1]";
  static Value example() { return 0.25; }
};

struct Integer {
  using Value = std::int64_t;
  IntegerRange range;
};

/// Any number of 64 bits.
struct Seed {
  using Value = std::uint64_t;
  static constexpr std::string_view in_words = "an integer in 0 ... 18446744073709551615";
  static Value example() { return 7; }
};

struct Text {
  using Value = std::string;
  static constexpr std::string_view in_words = "text";
  static Value example() { return "States survive resharding"; }
};

/// Text in the alphabet of names.
struct Name {
  using Value = std::string;
  static constexpr std::string_view in_words =
      "a name like [A-Za-z0-9_][A-Za-z0-9_.-]* without `..`";
  static constexpr std::string_view definition = "name";
  static Value example() { return "a"; }
};

/// Names of parameters.
struct Names {
  using Value = std::vector<std::string>;
  static constexpr std::string_view in_words = "a list of parameter names";
  static Value example() { return {"a"}; }
};

/// Names of parts of one parameter, each once.
struct Parts {
  using Value = std::vector<std::string>;
  static constexpr std::string_view in_words =
      "a list of names, as many as cut dimension 0 into equal parts";
  static Value example() { return {"gate", "up"}; }
};

/// The name of a parameter that stands earlier in the list.
struct Earlier {
  using Value = std::string;
  static constexpr std::string_view in_words =
      "the name of an earlier parameter that is not tied itself";
  static constexpr std::string_view definition = "name";
  static Value example() { return "b"; }
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
  static constexpr std::string_view in_words = "1, the only version of the format";
};

/// A list of worlds, each a number of shards or a map.
struct Worlds {
  using Value = std::vector<World>;
  static Value example() { return {{.shard = 2}, {.shard = 1}, {.shard = 3}}; }
};

/// Two numbers in [0, 1), which Adam's configuration keeps apart.
struct Betas {
  using Value = std::array<float, 2>;
  static constexpr std::string_view in_words = "a list of two numbers in [0, 1)";
  static constexpr std::string_view definition = "betas";
  static Value example() { return {0.8F, 0.95F}; }
};

/// none, or the maximal global norm.
struct Norm {
  using Value = Clip;
  static constexpr std::string_view definition = "clip";
  static Value example() { return 1.0F; }
};

/// none, dynamic or a number.
struct Scale {
  using Value = LossScale;
  static constexpr std::string_view definition = "loss_scale";
  static Value example() { return {.kind = LossScale::Kind::dynamic, .value = 0}; }
};

/// Sizes; the first counts rows.
struct Shape {
  using Value = std::vector<std::int64_t>;
  static constexpr std::string_view in_words = "a list of sizes, such as [10, 3]";
  static constexpr std::string_view definition = "shape";
  static Value example() { return {10, 3}; }
};

/// A list of parameters, or the name of a model's.
struct Params {
  struct Value {
    std::optional<std::string> model;
    std::vector<Param> list;
    friend bool operator==(Value const&, Value const&) = default;
  };
  static constexpr std::string_view in_words =
      "a list of parameters {name, shape}, or {model: NAME}";
  static constexpr std::string_view definition = "params";
};

/// Maps of Adam's settings by the names of groups.
struct Groups {
  using Value = std::vector<Group>;
  static constexpr std::string_view in_words = "a map of groups and what they override";
};

/// none, {states: …} or {hybrid: …}.
struct Offloaded {
  using Value = Offload;
  static constexpr std::string_view in_words = "none, {states: {...}} or {hybrid: {...}}";
  static Value example() { return OffloadedStates{.moments = true, .main = false}; }
};

/// Operations, each a word or {word: argument}.
struct Operations {
  using Value = std::vector<Operation>;
  static constexpr std::string_view in_words = "a list of operations";
  static constexpr std::string_view definition = "program";
  static Value example() {
    return {{.action = Backward{}}, {.action = Step{}}, {.action = ZeroGrad{}}};
  }
};

/// An engine by its name, or exec:COMMAND.
struct EngineName {
  using Value = std::string;
};

/// Options by name, each any scalar.
struct EngineOptions {
  using Value = std::vector<std::pair<std::string, std::string>>;
  static constexpr std::string_view in_words = "a map of options";
  static Value example() { return {{"implementation", "fused"}}; }
};

/// Recorded choices.
struct Choices {
  using Value = std::vector<std::uint32_t>;
  static constexpr std::string_view in_words = "a list of recorded choices";
  static Value example() { return {0, 2, 1}; }
};

/// The id of a catalogued bug.
struct Bug {
  using Value = std::string;
  static constexpr std::string_view in_words =
      "the id of a catalogued bug; `adamant bugs` lists them";
  static constexpr std::string_view definition = "bug";
};

/// pass, {violates: LAW} or {refused: REASON}.
struct Expected {
  using Value = Expectation;
  static constexpr std::string_view in_words = "pass, {violates: LAW} or {refused: REASON}";
};

}  // namespace kinds

}  // namespace adamant::scenarios
