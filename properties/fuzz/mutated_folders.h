// Mutations of a folder that leave its files whole: another type, shape, place or name of a tensor,
// one more or one less, one in two parts, one in another file. Bytes alone would be refused by
// nearly every header.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "sim/world/prng.h"

namespace adamant::properties {

/// One to three of them, of what read_folder() reads. Nothing where it has no tensor.
std::optional<std::string> mutated_folder(std::span<std::byte const> folder, sim::Prng& draw);

}  // namespace adamant::properties
