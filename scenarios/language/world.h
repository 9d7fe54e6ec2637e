// Where a scenario runs: ranks, layout, offload, schedule, faults and the engine asked for. Values
// only; what of it is supported is seam/refusals.h.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "oracle/types.h"

namespace adamant::scenarios {

/// A line of a scenario file, from 1; 0 where the scenario was not read from text. Two lines always
/// compare equal, so that values which carry one compare by meaning and not by place.
struct SourceLine {
  int value = 0;
  friend bool operator==(SourceLine, SourceLine) { return true; }
};

/// A mesh of shard x replicate ranks; rank = replica * shard + shard index.
struct World {
  std::int64_t shard = 1;
  std::int64_t replicate = 1;
  Outer outer = Outer::none;
  std::int64_t rank_count() const { return shard * replicate; }

  friend auto operator<=>(World const&, World const&) = default;
};

/// The same in the words of engine and oracle. REQUIRES: so few ranks that an int counts them.
Mesh mesh_of(World const& world);

using Layout = LayoutKind;

/// Moments and main weights leave the device between steps.
struct OffloadedStates {
  bool moments = true;
  bool main = true;
  friend auto operator<=>(OffloadedStates const&, OffloadedStates const&) = default;
};

/// A fraction of the step, in [0, 1], runs on the CPU.
struct HybridOffload {
  double fraction = 0.5;
  bool overlap = true;
  bool pin_grads = true;
  bool pin_params = true;
  friend auto operator<=>(HybridOffload const&, HybridOffload const&) = default;
};

using Offload = std::variant<std::monostate, OffloadedStates, HybridOffload>;  // monostate: none

/// The same in the words of engine and oracle; nothing where it is the other kind, or none.
std::optional<StateOffloadConfig> state_offload_config(Offload const& offload);
std::optional<HybridConfig> hybrid_config(Offload const& offload);

/// Asks for an offload of neither moments nor main weights.
bool offloads_nothing(Offload const& offload);

/// In which order a world registers its parameters: as the file lists them, or from the last to the
/// first. Numbers of parameters are those of the file either way.
enum class ParamOrder { listed, reversed };

enum class GradientClass { exact, normal, wild };

/// Names and values of choices that an engine offers, in file order, values as text.
using EngineOptions = std::vector<std::pair<std::string, std::string>>;

struct EngineChoice {
  std::string name = "sim";  // sim | sim-unchecked | cuda | torch | exec:COMMAND
  EngineOptions options = {};

  /// The engine of that name instead. Options are words of one engine: others forget them.
  void replace(std::string const& other) {
    if (name != other) options.clear();
    name = other;
  }

  friend bool operator==(EngineChoice const&, EngineChoice const&) = default;
};

struct Schedule {
  enum class Strategy { fifo, random, pct, exhaustive };
  Strategy strategy = Strategy::fifo;
  std::optional<std::uint64_t> seed = {};
  std::optional<std::int64_t> depth = {};  // >= 1
  std::optional<std::vector<std::uint32_t>> choices =
      {};  // recorded; `strategy` goes on after them

  friend bool operator==(Schedule const&, Schedule const&) = default;
};

/// Something that goes wrong on purpose, where and when.
struct Fault {
  enum class Where { save, malloc, load };
  enum class Then { crash, out_of_memory, flip_byte, truncate, remove_file, stale_file };
  Where at = Where::save;
  Then then = Then::crash;
  std::optional<std::int64_t> rank = {};         // from 0
  std::optional<std::int64_t> nth = {};          // from 1
  std::optional<std::int64_t> after_bytes = {};  // >= 0
  std::optional<std::int64_t> file = {};         // from 0
  std::optional<std::int64_t> byte = {};         // from 0

  friend bool operator==(Fault const&, Fault const&) = default;
};

}  // namespace adamant::scenarios
