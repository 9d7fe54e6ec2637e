// What one safetensors file of a checkpoint holds, in the plainest way. Whoever wrote it may have
// lied in its header, or have tensors that mean nothing here: of those the places are told, and no
// numbers. It has never seen the engine's reader.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/judge/saved/files.h"

namespace adamant::scenarios {

/// What files call a format's numbers: "U8" where they are bytes of fp8.
std::string_view dtype_of(NumberFormat format);
/// The inverse, of what has numbers by itself: nothing for a remainder.
std::optional<NumberFormat> format_of_dtype(std::string_view dtype);

/// The parts of tensors in a file, by key. Each has as many offsets as extents, none negative, and
/// a number for every element where its type is F32, BF16, F16, F64, I64 or U8; else none.
///
/// Errors: std::exception where the file is cut short, or its header says what cannot be.
std::vector<std::pair<std::string, SavedBox>> boxes_in(std::span<std::byte const> file);

}  // namespace adamant::scenarios
