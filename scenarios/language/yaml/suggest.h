// The word that was probably meant: a near one, or what other tools call by another name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scenarios/language/words.h"

namespace adamant::scenarios {

/// " (did you mean `x`?)" for the nearest of `words`, or nothing where none is near.
std::string suggest(std::string_view found, std::span<std::string_view const> words);

}  // namespace adamant::scenarios
