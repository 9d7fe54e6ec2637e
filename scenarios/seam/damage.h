// What a fault makes of a checkpoint's files before a load: which of them, and what it holds then.
// It changes nothing itself, so it does not know whether files are simulated or real.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "scenarios/language/world.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// Of a byte that a fault flips.
inline constexpr std::byte flipped_bit{0x10};

KeptFiles copy_of(std::span<StoredFile const> files);

struct Damage {
  FileDamage done;                              // the file without its checkpoint's name
  std::optional<std::vector<std::byte>> bytes;  // of the file now; nothing: it was removed
};

/// The damage that `fault` does to these files, in the order of their names, or nothing where there
/// is nothing to damage. `older` is what the save before the last one left: files that are the same
/// in both cannot be stale, and where one makes all of them the older save, nothing is wrong.
std::optional<Damage> damage_of(Fault const& fault, std::span<StoredFile const> files,
                                KeptFiles const& older);

/// The crash at save number `save`, from 1; null where it has none.
Fault const* crash_at(std::span<Fault const> faults, std::int64_t save);

/// Has `damage_file` do each damage at load number `load`, from 1; it returns nothing where there
/// was nothing to damage.
DamagedFiles damage_files(
    std::span<Fault const> faults, std::int64_t load,
    std::function<std::optional<FileDamage>(Fault const&)> const& damage_file);

/// Does any fault of the scenario put back a file of an older save?
bool wants_stale_files(std::span<Fault const> faults);

}  // namespace adamant::scenarios
