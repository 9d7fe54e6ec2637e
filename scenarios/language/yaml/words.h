// The word that was probably meant. It knows no words of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scenarios/language/words.h"

namespace adamant::scenarios {

/// " (did you mean `x`?)" for the nearest of `words`, or nothing where none is near.
std::string suggest(std::string_view found, std::span<std::string_view const> words);

}  // namespace adamant::scenarios
