// The program of a scenario: its operations as values, each with the line it stands on. Meanings
// are those of the scenario language (scenarios/LANGUAGE.md); executing them is scenarios/runner's
// part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/language/recipe.h"
#include "scenarios/language/world.h"

namespace adamant::scenarios {

/// `count` times backward, clip where the optimizer has a norm, step, zero_grad.
struct Train {
  std::int64_t count = 1;
  friend bool operator==(Train const&, Train const&) = default;
};

struct Backward {
  std::vector<std::string> without = {};  // parameters that get no gradient from it
  friend bool operator==(Backward const&, Backward const&) = default;
};

struct ClipNorm {
  friend bool operator==(ClipNorm const&, ClipNorm const&) = default;
};

struct Step {
  friend bool operator==(Step const&, Step const&) = default;
};

struct ZeroGrad {
  bool set_to_none = true;
  friend bool operator==(ZeroGrad const&, ZeroGrad const&) = default;
};

struct Set {
  SettingsChange change = {};
  friend bool operator==(Set const&, Set const&) = default;
};

/// The next backward yields a non-finite gradient on one rank.
struct Overflow {
  friend bool operator==(Overflow const&, Overflow const&) = default;
};

/// States to the host now.
struct OffloadStates {
  friend bool operator==(OffloadStates const&, OffloadStates const&) = default;
};

/// States back to the device.
struct ReloadStates {
  friend bool operator==(ReloadStates const&, ReloadStates const&) = default;
};

struct Operation;

/// Records its body without executing it; a second capture replaces the first.
struct Capture {
  std::vector<Operation> body;  // never empty; clang 14 takes no initialiser of an incomplete type
  friend bool operator==(Capture const& a, Capture const& b);
};

/// Executes what was captured `count` times.
struct Replay {
  std::int64_t count = 1;
  friend bool operator==(Replay const&, Replay const&) = default;
};

struct Save {
  std::string checkpoint = {};
  friend bool operator==(Save const&, Save const&) = default;
};

/// What the manifest of a directory says that scales gradients.
struct FoundManifest {
  Clip clip = {};
  bool has_loss_scale = false;
  friend bool operator==(FoundManifest const&, FoundManifest const&) = default;
};

/// Goes on from a checkpoint, on another world, layout, recipe or offload or with parameters
/// registered in another order where these are given.
struct Load {
  std::string from = {};
  std::optional<World> world = {};
  std::optional<Layout> layout = {};
  std::optional<PrecisionOverride> precision = {};
  std::optional<Offload> offload = {};
  std::optional<ParamOrder> order = {};
  bool anew = false;  // in a new world also where that is as the one before
  /// Of a directory that is there before the program runs; no file says it.
  std::optional<FoundManifest> found = {};

  /// What `precision` changes.
  PrecisionOverride types() const { return precision.value_or(PrecisionOverride{}); }
  /// Addresses and the graph outlive it: it says nothing but from where.
  bool keeps_addresses() const {
    return !world && !layout && !precision && !offload && !order && !anew;
  }
  friend bool operator==(Load const&, Load const&) = default;
};

/// Compare now.
struct Check {
  friend bool operator==(Check const&, Check const&) = default;
};

using Action = std::variant<Train, Backward, ClipNorm, Step, ZeroGrad, Set, Overflow, OffloadStates,
                            ReloadStates, Capture, Replay, Save, Load, Check>;

/// One entry of a program. Where it stands is not part of what it is: equality ignores the line.
struct Operation {
  Action action;
  SourceLine line = {};
  friend bool operator==(Operation const&, Operation const&) = default;
};

inline bool operator==(Capture const& a, Capture const& b) {
  return a.body == b.body;
}

/// The word of the language for an action, such as "zero_grad".
std::string_view word_of(Action const& action);

/// Entries of a program, those inside captures included.
std::int64_t operation_count(std::vector<Operation> const& program);

}  // namespace adamant::scenarios
